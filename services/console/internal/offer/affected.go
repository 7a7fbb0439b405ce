package offer

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/plan"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
	"github.com/slotmesh/slotmesh/services/console/internal/sales"
)

// AffectedFilter selects affected bookings. A nil field selects all bookings.
type AffectedFilter struct {
	From, To           *timespan.Date // of the first and the last date of bookings
	StaffID, ServiceID *uuid.UUID
}

// ReadAffectedFilter reads a filter from the query parameters from, to, staff_id and service_id. Fault:
// invalid_parameter.
func ReadAffectedFilter(q request.Query) (AffectedFilter, error) {
	var f AffectedFilter
	var err error
	if f.From, f.To, err = q.OptionalDates("from", "to"); err != nil {
		return f, err
	}
	if f.StaffID, err = q.OptionalID("staff_id"); err != nil {
		return f, err
	}
	f.ServiceID, err = q.OptionalID("service_id")
	return f, err
}

// matches reports whether the filter selects a booking.
func (f AffectedFilter) matches(b *booking.Booking) bool {
	if f.From != nil && b.Date < f.From.String() || f.To != nil && b.Date > f.To.String() {
		return false
	}
	if f.StaffID != nil {
		if _, _, performs := b.PerformedBy(*f.StaffID); !performs {
			return false
		}
	}
	return f.ServiceID == nil || slices.ContainsFunc(b.Services, func(s booking.BookedService) bool {
		return s.ID == *f.ServiceID
	})
}

// AffectedBooking is a future booking that the present offer would no longer accept, with free starts to which the
// booking can move.
type AffectedBooking struct {
	Booking booking.Booking     `json:"booking"`
	Reason  availability.Reason `json:"reason"`
	Starts  []sales.Start       `json:"starts"` // the best start first; empty if none is near or known
	// IsUnknown is true if the starts cannot be read, because the availability service is unavailable.
	IsUnknown bool `json:"starts_unknown"`
}

// AffectedList is one page of affected bookings, sorted by start.
type AffectedList struct {
	Bookings     []AffectedBooking `json:"bookings"`
	Count        int               `json:"count"`      // number of affected bookings on all pages
	IsIncomplete bool              `json:"unexamined"` // true if there are more future bookings than were checked
	NextCursor   string            `json:"next_cursor,omitempty"`
}

const (
	// MaxAffected is the maximum number of bookings on one page of an [AffectedList], and in one change of them.
	MaxAffected = 50
	// maxConcurrentStarts is the maximum number of bookings whose starts are searched at the same time.
	maxConcurrentStarts = 4
)

// ListAffected lists the future bookings that the present offer would no longer accept. It omits bookings that the
// principal may not see. Examples are the bookings of a member on time off, of a closed day, or of a removed service.
// Faults: invalid_parameter for an invalid cursor; service_unavailable.
func (o *UseCases) ListAffected(ctx context.Context, by peers.Principal, slug string, filter AffectedFilter,
	page request.Page) (*AffectedList, error) {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	found, more, err := o.findAffected(ctx, by, business, filter)
	if err != nil {
		return nil, err
	}
	list := &AffectedList{Bookings: []AffectedBooking{}, Count: len(found), IsIncomplete: more}
	at, id, err := page.AfterTime()
	if err != nil {
		return nil, err
	}
	if at != nil {
		found = slices.DeleteFunc(found, func(b plan.Booking) bool {
			return cmp.Or(b.Booking.StartsAt.Compare(*at), slices.Compare(b.Booking.ID[:], id[:])) <= 0
		})
	}
	found, list.NextCursor = request.Cut(found, min(page.Limit, MaxAffected), func(b plan.Booking) string {
		return request.ByTime(b.Booking.StartsAt, b.Booking.ID)
	})
	for _, b := range found {
		list.Bookings = append(list.Bookings, AffectedBooking{Booking: b.Booking, Reason: b.Reason})
	}
	return list, o.findStarts(ctx, business, list.Bookings)
}

// findAffected returns the affected bookings that the filter selects, sorted by start.
func (o *UseCases) findAffected(ctx context.Context, by peers.Principal, business *catalog.Snapshot,
	filter AffectedFilter) ([]plan.Booking, bool, error) {
	found, more, err := o.listConflictingBookings(ctx, by, business, business)
	found = slices.DeleteFunc(found, func(b plan.Booking) bool { return !filter.matches(&b.Booking) })
	slices.SortFunc(found, func(a, b plan.Booking) int {
		return cmp.Or(a.Booking.StartsAt.Compare(b.Booking.StartsAt), slices.Compare(a.Booking.ID[:], b.Booking.ID[:]))
	})
	return slices.CompactFunc(found, func(a, b plan.Booking) bool { return a.Booking.ID == b.Booking.ID }), more, err
}

// findStarts adds the starts to which each booking can move, or marks them as unknown.
func (o *UseCases) findStarts(ctx context.Context, business *catalog.Snapshot, bookings []AffectedBooking) error {
	for some := range slices.Chunk(bookings, maxConcurrentStarts) {
		queries := make([]func() error, len(some))
		for i := range some {
			queries[i] = func() error {
				starts, err := o.Sales.FindStarts(ctx, business, &some[i].Booking)
				some[i].Starts = append([]sales.Start{}, starts...) // [] in JSON, even without a start
				if some[i].IsUnknown = fault.Is(err, fault.PeerUnavailable); some[i].IsUnknown {
					o.Logger.WarnContext(ctx, "the free starts of a booking are unknown", slog.Any("error", err))
					return nil
				}
				return err
			}
		}
		if err := peers.RunTogether(queries...); err != nil {
			return err
		}
	}
	return nil
}

// Resolution is the decision about one affected booking: to cancel it, or to move it. A nil Start moves the booking to
// the best start that is free when the change is made.
type Resolution struct {
	ID       uuid.UUID
	IsCancel bool
	Start    *sales.Start
}

// ResolveAffected moves and cancels affected bookings, each on its own: the failure of one does not prevent the others.
// A booking that is no longer affected stays as it is, so the caller can repeat a call whose outcome is unknown. The
// argument `cancel` has the refund of the cancelled bookings. The argument `key` identifies the change; with the same
// key, no booking is changed twice.
//
// The first result has the faults by booking. It is empty if all bookings are changed. Faults of the whole call:
// invalid_parameter for more than [MaxAffected] bookings; service_unavailable.
func (o *UseCases) ResolveAffected(ctx context.Context, by peers.Principal, slug string, wanted []Resolution,
	cancel booking.Cancel, key string) (map[uuid.UUID]error, error) {
	if len(wanted) > MaxAffected {
		return nil, request.Invalid("bookings: there are %d; send at most %d.", len(wanted), MaxAffected)
	}
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	found, _, err := o.findAffected(ctx, by, business, AffectedFilter{})
	if err != nil {
		return nil, err
	}
	failures := map[uuid.UUID]error{}
	for _, w := range wanted {
		at := slices.IndexFunc(found, func(b plan.Booking) bool { return b.Booking.ID == w.ID })
		if at < 0 {
			continue
		}
		keyed := idempotency.With(ctx, idempotency.Request{Key: key + "." + w.ID.String()})
		switch {
		case w.IsCancel:
			_, err = o.Sales.BookingOrders().Cancel(keyed, by, slug, w.ID, cancel)
		case w.Start != nil:
			_, err = o.Sales.Reschedule(keyed, by, slug, w.ID, w.Start.Reschedule())
		default:
			err = o.moveToBestStart(ctx, by, business, &found[at].Booking, key)
		}
		if err != nil {
			failures[w.ID] = err
		}
	}
	return failures, nil
}

// moveToBestStart moves a booking to its first start that is still free. Fault: no_staff_available without such a start.
func (o *UseCases) moveToBestStart(ctx context.Context, by peers.Principal, business *catalog.Snapshot,
	b *booking.Booking, key string) error {
	starts, err := o.Sales.FindStarts(ctx, business, b)
	if err != nil {
		return err
	}
	err = fault.New(fault.NoStaffAvailable, "There is no free start within three weeks.")
	for i, s := range starts {
		// Each start is another request, so it needs a key of its own.
		keyed := idempotency.With(ctx, idempotency.Request{Key: fmt.Sprintf("%s.%s.%d", key, b.ID, i)})
		_, err = o.Sales.Reschedule(keyed, by, business.Slug, b.ID, s.Reschedule())
		if !fault.Is(err, fault.SlotUnavailable) && !fault.Is(err, fault.NoStaffAvailable) {
			return err
		}
	}
	return err
}
