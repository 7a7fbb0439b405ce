package usecase

import (
	"context"
	"log/slog"
	"slices"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/request"
	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/services/console/internal/access"
	"github.com/slotmesh/slotmesh/services/console/internal/document"
)

// TimeOff is when a member of the staff does not work, by whole days from today on.
type TimeOff struct {
	Member *catalog.Staff
	Days   []timespan.Date // sorted
}

// MostTimeOff is how many days are taken off at once.
const MostTimeOff = 92

// TimeOff reads the days that a member has taken off: a member of the staff their own, who may edit the offer that of any. Faults: not_found for
// another's, and for who is no member.
func (o *Owner) TimeOff(by Principal, business *catalog.Offer, staffID uuid.UUID) (*TimeOff, error) {
	self, _ := by.In(business.ID)
	member := business.StaffMember(staffID)
	if member == nil || by.Reach(business.ID, access.EditOffer) == access.Own && self.StaffID != staffID {
		return nil, fault.New(fault.NotFound, "There is no such member of the staff.")
	}
	off := &TimeOff{Member: member}
	today := business.Today(o.Clock.Now())
	for _, d := range member.Overrides {
		if len(d.Hours) == 0 && d.Date >= today {
			off.Days = append(off.Days, d.Date)
		}
	}
	slices.Sort(off.Days)
	return off, nil
}

// InTheWay are the bookings of a member that lie on the days from one to another and are still expected. Faults: service_unavailable, as time off
// is not taken without knowing them.
func (o *Owner) InTheWay(ctx context.Context, by Principal, slug string, staffID uuid.UUID, from, to timespan.Date) ([]booking.Booking, error) {
	list, err := o.ListBookings(ctx, by, slug, booking.Filter{From: &from, To: &to, StaffID: &staffID}, request.Page{Limit: bookingPage})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list.Bookings, func(b booking.Booking) bool {
		return b.Status != booking.StatusPending && b.Status != booking.StatusConfirmed
	}), nil
}

// SetTimeOff publishes that a member takes the days from one to another off, or works on them as usual; what others publish meanwhile is kept.
// Bookings stay. Faults: invalid_parameter for days that are over, the wrong way round or more than [MostTimeOff]; those of [Owner.TimeOff] and
// [Owner.PublishOffer]; conflict where the offer is managed elsewhere, or others changed the same meanwhile.
func (o *Owner) SetTimeOff(ctx context.Context, by Principal, business *catalog.Offer, staffID uuid.UUID, from, to timespan.Date, off bool) error {
	member, err := o.TimeOff(by, business, staffID)
	if err != nil {
		return err
	}
	if from < business.Today(o.Clock.Now()) || to < from || to-from >= MostTimeOff {
		return fault.Newf(fault.InvalidParameter, "to: choose days from today on, at most %d at once.", MostTimeOff)
	}
	newest, err := o.Offer(ctx, business.Slug, 0)
	if err != nil {
		return err
	}
	fields, err := newest.Fields()
	if err != nil {
		return err
	}
	if !setDays(fields, member.Member.Key, from, to, off) {
		return fault.New(fault.NotFound, "There is no such member of the staff.")
	}
	if err := o.publishFields(ctx, by, business.Slug, OfferChange{Base: newest.Version, Fields: fields}); err != nil {
		return err
	}
	o.changed(ctx, by, "set time off", business.Slug, slog.String("staff_id", staffID.String()), slog.String("from", from.String()), slog.String("to", to.String()), slog.Bool("off", off))
	return nil
}

// publishFields publishes a change over the newest version; where somebody else publishes meanwhile, over theirs.
func (o *Owner) publishFields(ctx context.Context, by Principal, slug string, change OfferChange) error {
	for attempt := 1; ; attempt++ {
		draft, err := o.DraftOffer(ctx, slug, change)
		if err != nil {
			return err
		}
		if len(draft.Conflicts) > 0 || len(draft.Problems) > 0 {
			return fault.New(fault.Conflict, "Somebody else has changed the same; look at it again.")
		}
		if _, err = o.PublishOffer(ctx, by, slug, draft); attempt == attempts || !fault.Is(err, fault.PreconditionFailed) {
			return err
		}
	}
}

// setDays writes days into the fields of a manifest; false where it has no such member.
func setDays(fields document.Fields, key string, from, to timespan.Date, off bool) bool {
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
			return date >= from.String() && date <= to.String() && (off || len(hours) == 0)
		})
		for date := from; off && date <= to; date++ {
			days = append(days, document.Fields{"date": date.String(), "hours": []any{}})
		}
		if member["overrides"] = days; len(days) == 0 {
			delete(member, "overrides")
		}
		return true
	}
	return false
}
