package offer

import (
	"cmp"
	"context"
	"log/slog"
	"slices"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
	"github.com/slotmesh/slotmesh/services/console/internal/sales"
)

// TimeOff is the time off of a member of the staff, from today on.
type TimeOff struct {
	Member *catalog.Staff
	Days   []timespan.Date // days without work, sorted
	Hours  []catalog.Block // blocked times that name only this member and have not ended, sorted by From
}

// Absence is time off to add or to remove. If WholeDays is true, the absence has all days from From.Date to To.Date,
// including these two days. If WholeDays is false, the absence is the time between the local times From and To.
type Absence struct {
	From, To  timespan.LocalDateTime
	WholeDays bool
}

// MaxTimeOff is the maximum length of one absence in days.
const MaxTimeOff = 92

// Check returns an error for an absence that begins before today, that ends before it begins, or that is longer than
// [MaxTimeOff] days.
func (a Absence) Check(today timespan.Date) error {
	ordered := a.From.Before(a.To) || a.WholeDays && a.From.Date == a.To.Date
	if a.From.Date < today || !ordered || a.To.Date-a.From.Date >= MaxTimeOff {
		return fault.Newf(
			fault.InvalidParameter,
			"to: choose a time from today on, at most %d days at once.",
			MaxTimeOff,
		)
	}
	return nil
}

// ReadTimeOff returns the time off of a member. A member of the staff may read only their own time off. A person who
// may edit the offer may read the time off of every member. Fault: not_found if the member does not exist, or if the
// principal may not read the member's time off.
func (o *UseCases) ReadTimeOff(by peers.Principal, business *catalog.Snapshot, staffID uuid.UUID) (*TimeOff, error) {
	self, _ := by.MembershipIn(business.ID)
	member := business.StaffMember(staffID)
	if member == nil || by.PermissionIn(business.ID, access.EditOffer) == access.Own && self.StaffID != staffID {
		return nil, fault.New(fault.NotFound, "There is no such member of the staff.")
	}
	off := &TimeOff{Member: member}
	today := business.Today(o.Clock.Now())
	for _, d := range member.Overrides {
		if len(d.Hours) == 0 && d.Date >= today {
			off.Days = append(off.Days, d.Date)
		}
	}
	now := o.Clock.Now().Unix()
	for _, b := range business.Blocks {
		isOnlyMember := len(b.StaffIDs) == 1 && b.StaffIDs[0] == staffID
		if isOnlyMember && timespan.Instant(b.To.Date, b.To.Time, business.Location()) > now {
			off.Hours = append(off.Hours, b)
		}
	}
	slices.Sort(off.Days)
	slices.SortFunc(off.Hours, func(a, b catalog.Block) int {
		return cmp.Or(cmp.Compare(a.From.Date, b.From.Date), cmp.Compare(a.From.Time, b.From.Time))
	})
	return off, nil
}

// ListOverlappingBookings lists the pending and confirmed bookings of a member that overlap an absence. Fault:
// service_unavailable if the bookings cannot be read; the caller must then not add the absence.
func (o *UseCases) ListOverlappingBookings(
	ctx context.Context, by peers.Principal, business *catalog.Snapshot, staffID uuid.UUID, absence Absence,
) ([]booking.Booking, error) {
	from, to := absence.From.Date-1, absence.To.Date // a booking of the previous day may end after midnight
	list, err := o.Sales.ListBookings(
		ctx,
		by,
		business.Slug,
		booking.Filter{From: &from, To: &to, StaffID: &staffID},
		request.Page{Limit: sales.BookingPage},
	)
	if err != nil {
		return nil, err
	}
	if absence.WholeDays {
		absence.From.Time, absence.To = 0, timespan.LocalDateTime{Date: absence.To.Date + 1}
	}
	during := timespan.Span{
		Start: timespan.Instant(absence.From.Date, absence.From.Time, business.Location()),
		End:   timespan.Instant(absence.To.Date, absence.To.Time, business.Location()),
	}
	return slices.DeleteFunc(list.Bookings, func(b booking.Booking) bool {
		expected := b.Status == booking.StatusPending || b.Status == booking.StatusConfirmed
		return !expected || !during.Overlaps(timespan.Span{Start: b.StartsAt.Unix(), End: b.EndsAt.Unix()})
	}), nil
}

// SetTimeOff adds an absence of a member to the offer if the argument `isAdded` is true, and removes the absence if
// `isAdded` is false. SetTimeOff publishes the result as the next version. It keeps the changes that other people
// publish at the same time, and does not change bookings.
//
// Faults: invalid_parameter if `isAdded` is true and [Absence.Check] refuses the absence; conflict if another system
// manages the offer, or if another person changed the same fields; the faults of [UseCases.ReadTimeOff] and
// [UseCases.PublishOffer].
func (o *UseCases) SetTimeOff(
	ctx context.Context, by peers.Principal, business *catalog.Snapshot, staffID uuid.UUID, absence Absence,
	isAdded bool,
) error {
	member, err := o.ReadTimeOff(by, business, staffID)
	if err != nil {
		return err
	}
	if isAdded {
		if err := absence.Check(business.Today(o.Clock.Now())); err != nil {
			return err
		}
	}
	newest, err := o.ReadOffer(ctx, business.Slug, 0)
	if err != nil {
		return err
	}
	fields, err := newest.Fields()
	if err != nil {
		return err
	}
	if absence.WholeDays {
		err = setDays(fields, member.Member.Key, absence.From.Date, absence.To.Date, isAdded)
	} else {
		setBlock(fields, member.Member.Key, absence.From, absence.To, isAdded)
	}
	if err != nil {
		return err
	}
	if err := o.publishFields(ctx, by, business, OfferChange{Base: newest.Version, Fields: fields,
		Newest: newest}); err != nil {
		return err
	}
	o.LogChange(ctx, by, "set time off", business.Slug, slog.String("staff_id", staffID.String()),
		slog.String("from", absence.From.String()), slog.String("to", absence.To.String()),
		slog.Bool("whole_days", absence.WholeDays), slog.Bool("off", isAdded))
	return nil
}

// publishFields publishes a change of the newest version. If another version was published in the meantime,
// publishFields merges the change with that version and tries again.
func (o *UseCases) publishFields(ctx context.Context, by peers.Principal, business *catalog.Snapshot,
	change OfferChange) error {
	for attempt := 1; ; attempt++ {
		draft, err := o.DraftOffer(ctx, business.Slug, change)
		if err != nil {
			return err
		}
		if len(draft.Conflicts) > 0 || len(draft.Problems) > 0 {
			return fault.New(fault.Conflict, "Somebody else has changed the same; look at it again.")
		}
		if _, err = o.PublishOffer(ctx, by, business, draft, false); attempt == maxAttempts ||
			!fault.Is(err, fault.PreconditionFailed) {
			return err
		}
		change.Newest = nil
	}
}

// setBlock changes the blocked time of one member in the fields of a manifest. setBlock adds a blocked time that names
// only this member if the argument `isAdded` is true, and removes this blocked time if `isAdded` is false.
func setBlock(fields document.Fields, key string, from, to timespan.LocalDateTime, isAdded bool) {
	blocks, _ := fields["blocks"].([]any)
	blocks = slices.DeleteFunc(slices.Clone(blocks), func(one any) bool {
		block, _ := one.(document.Fields)
		staff, _ := block["staff"].([]any)
		return block["from"] == from.String() && block["to"] == to.String() && len(staff) == 1 && staff[0] == key
	})
	if isAdded {
		blocks = append(blocks, document.Fields{"from": from.String(), "to": to.String(), "staff": []any{key}})
	}
	if fields["blocks"] = blocks; len(blocks) == 0 {
		delete(fields, "blocks")
	}
}

// setDays changes the overrides of a member's hours in the fields of a manifest. If the argument `isAdded` is true,
// setDays replaces all overrides from `from` to `to` with whole days without work. If `isAdded` is false, it removes
// the days without work from `from` to `to`. Fault: not_found for an unknown member.
func setDays(fields document.Fields, key string, from, to timespan.Date, isAdded bool) error {
	staff, _ := fields["staff"].([]any)
	for _, one := range staff {
		member, ok := one.(document.Fields)
		if !ok || member["key"] != key {
			continue
		}
		days, _ := member["overrides"].([]any)
		days = slices.DeleteFunc(slices.Clone(days), func(day any) bool {
			d, _ := day.(document.Fields)
			date, _ := d["date"].(string)
			hours, _ := d["hours"].([]any)
			return date >= from.String() && date <= to.String() && (isAdded || len(hours) == 0)
		})
		for date := from; isAdded && date <= to; date++ {
			days = append(days, document.Fields{"date": date.String(), "hours": []any{}})
		}
		if member["overrides"] = days; len(days) == 0 {
			delete(member, "overrides")
		}
		return nil
	}
	return fault.New(fault.NotFound, "There is no such member of the staff.")
}
