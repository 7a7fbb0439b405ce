package sales

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

// Explain reports whether customers can book the given start, and the reasons if they cannot (pages.md, "Why not?").
// Explain uses the newest published version of the offer. If some data cannot be read, the answer is marked as not
// computed. Faults: service_not_found; invalid_parameter.
func (o *UseCases) Explain(ctx context.Context, slug string,
	start availability.Question) (*availability.Explanation, error) {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	return availability.ExplainStart.Call(ctx, o.Availability,
		availability.ExplainRequest{Slug: business.Slug, OfferVersion: business.Version, Question: start})
}

// StartExplanation explains whether customers can book a start. It has the reasons against the start, and the bookings
// that conflict with the start.
type StartExplanation struct {
	*availability.Explanation
	business *catalog.Snapshot
	services []uuid.UUID
	nearby   peers.Part[booking.Booking]
}

// ExplainStart explains a start by [UseCases.Explain], and reads the bookings that the reasons refer to. If the
// bookings cannot be read, the result has only the reasons.
func (o *UseCases) ExplainStart(ctx context.Context, by peers.Principal, business *catalog.Snapshot,
	start availability.Question) (*StartExplanation, error) {
	explanation, err := o.Explain(ctx, business.Slug, start)
	if err != nil {
		return nil, err
	}
	why := &StartExplanation{Explanation: explanation, business: business, services: start.ServiceIDs}
	if from, to, ok := why.findBookedDates(); ok {
		err = o.newBookingsQuery(ctx, by, business, &why.nearby, booking.Filter{From: &from, To: &to}, BookingPage)()
	}
	return why, err
}

// findBookedDates returns the earliest and the latest date on which the conflicting bookings can begin. The third
// result is false if no booking conflicts with the start.
func (w *StartExplanation) findBookedDates() (timespan.Date, timespan.Date, bool) {
	var dates []timespan.Date
	note := func(r *availability.Reason) {
		if r != nil && r.Rule == availability.RuleBooking && r.From != nil && r.To != nil {
			dates = append(dates, r.From.Date, r.To.Date)
		}
	}
	note(w.Reason)
	for _, m := range w.Staff {
		note(m.Reason)
	}
	if len(dates) == 0 {
		return 0, 0, false
	}
	return slices.Min(dates), slices.Max(dates), true
}

// ListConflicts returns the bookings that a reason refers to, sorted by start. If the requested services have staff,
// the result has the bookings of the member that the reason names. If the services have no staff, the result has the
// bookings of these services.
func (w *StartExplanation) ListConflicts(r availability.Reason) []booking.Booking {
	if r.Rule != availability.RuleBooking || r.From == nil || r.To == nil {
		return nil
	}
	from, to := w.toInstant(*r.From), w.toInstant(*r.To)
	var found []booking.Booking
	for _, b := range w.nearby.List {
		holds := b.Status != booking.StatusCancelled && b.StartsAt.Before(to) && b.EndsAt.After(from)
		if holds && w.isMeant(r, b) {
			found = append(found, b)
		}
	}
	return found
}

func (w *StartExplanation) isMeant(r availability.Reason, b booking.Booking) bool {
	if r.StaffID != nil {
		_, _, performs := b.PerformedBy(*r.StaffID)
		return performs
	}
	return b.StaffID == nil && slices.ContainsFunc(b.Services, func(s booking.BookedService) bool {
		return slices.Contains(w.services, s.ID)
	})
}

func (w *StartExplanation) toInstant(l timespan.LocalDateTime) time.Time {
	return time.Unix(timespan.Instant(l.Date, l.Time, w.business.Location()), 0)
}
