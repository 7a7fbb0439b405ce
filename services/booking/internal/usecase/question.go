package usecase

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	bookings "github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/pricing"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/sale"
	"github.com/slotmesh/slotmesh/libs/values/rule"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/booking/internal/request"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// question is a request for a booking at a certain start: a new booking, or a
// booking to reschedule. It contains the offer with which the request is evaluated.
type question struct {
	offer    *catalog.Snapshot
	request  *request.Request
	services []*catalog.Service // each service has the properties of its chosen variant
	now      time.Time
	by       actor.Kind
	except   uuid.UUID // the booking to reschedule, whose time counts as free; the nil UUID for a new booking
	place
}

// isClass reports whether the request books seats of a class session.
func (q question) isClass() bool { return q.services[0].IsClass() }

// window returns the start and the end of the window in which occupied time must be read. The window
// contains the appointment and its buffers, for every order of the services. The window is three hours
// longer on each side, so that it contains the appointment even if the clocks change in between. If the
// business has several locations, the window also contains the time in which staff members change the location.
func (q question) window() (time.Time, time.Time) {
	const slack = 3 * time.Hour
	var before, during, after int
	for _, s := range q.services {
		before, after = max(before, s.BufferBeforeMinutes), max(after, s.BufferAfterMinutes)
		during += s.DurationMinutes
	}
	start := time.Unix(timespan.Instant(q.request.Date, q.request.Time, q.offer.Location()), 0)
	reach := slack + q.offer.LocationReach()
	return start.Add(-reach - time.Duration(before)*time.Minute),
		start.Add(reach + time.Duration(during+after)*time.Minute)
}

// readSnapshot reads the occupied time. If the request is for a class, readSnapshot also reads the number of seats
// taken. If a pricing rule depends on it, readSnapshot also reads whether the booking is the customer's first
// booking. If the argument `lock` is not nil, readSnapshot acquires the idempotency lock in the same round trip.
// Fault: availability_unverified.
func (b *Booker) readSnapshot(ctx context.Context, q question, lock *postgres.LockRequest) (store.Snapshot, error) {
	req := store.SnapshotRequest{Seats: q.isClass(), Locations: q.offer.HasLocations(), Except: q.except, Lock: lock}
	if q.except == uuid.Nil && slices.Contains(q.offer.PriceNeeds, rule.NewCustomer) {
		req.FirstBookingOf = q.request.CustomerEmail
	}
	from, to := q.window()
	snapshot, err := b.Bookings.Snapshot(ctx, q.offer.ID, from, to, req)
	if err != nil {
		err = NewUnverifiedFault(err)
	}
	return snapshot, err
}

// selectAssignments returns the assignments with enough seats for the party. The argument `slots` is the
// response of the availability service, and `err` is the error of the call to this service. Errors: [sale.ErrChanged]
// if availability used another version of the offer. Any other error states why the request is refused.
func (q question) selectAssignments(slots *availability.BookableResponse,
	err error) ([]availability.Assignment, error) {
	switch {
	case err != nil:
		return nil, NewUnverifiedFault(err)
	case slots.OfferVersion != q.offer.Version:
		return nil, sale.ErrChanged
	case len(slots.Assignments) == 0 && q.refusal != nil && !q.isRefusedEverywhere(slots.Refusal):
		return nil, q.refusal // the start may be possible at the excluded locations
	case len(slots.Assignments) == 0:
		return nil, q.newRefusal(slots.Refusal)
	case !slices.ContainsFunc(slots.Assignments, q.hasSeats):
		return nil, newTooFewSeatsFault(q.request, slots.Assignments)
	}
	return slices.DeleteFunc(slots.Assignments, func(c availability.Assignment) bool { return !q.hasSeats(c) }), nil
}

// hasSeats reports whether the assignment has enough free seats for
// the party. Only class sessions have a limited number of seats.
func (q question) hasSeats(c availability.Assignment) bool {
	return c.Session == nil || c.Session.Remaining >= q.request.PartySize
}

func (q question) newBookableRequest(occupied bookings.Occupied) availability.BookableRequest {
	return availability.BookableRequest{
		Slug:         q.offer.Slug,
		OfferVersion: q.offer.Version,
		Question: availability.Question{
			ServiceIDs: q.request.ServiceIDs, StaffID: q.request.StaffID, Date: q.request.Date, Time: q.request.Time,
			IsPackage: q.request.IsPackage, StaffingMode: q.request.StaffingMode,
			Variants: q.request.Variants, ClassScheduleID: q.request.ClassScheduleID, Override: q.request.Override,
			OutsideHours: q.request.OutsideHours, LocationID: q.location, ExcludedLocationIDs: q.excluded,
		},
		Occupied: occupied,
	}
}

func (q question) newQuotesRequest(first bool) pricing.QuotesRequest {
	items := make([]pricing.Item, len(q.services))
	for i, s := range q.services {
		items[i] = pricing.Item{
			Kind: pricing.KindService, ID: s.ID, Date: q.request.Date, Start: &q.request.Time,
			PartySize: &q.request.PartySize, FirstBooking: &first,
		}
		if variant, ok := q.request.Variants[s.ID]; ok {
			items[i].VariantID = &variant
		}
	}
	return pricing.QuotesRequest{
		Slug: q.offer.Slug, OfferVersion: q.offer.Version, PurchaseAt: q.now, Items: items,
		OmitSteps: len(q.offer.Rules) == 0, Together: q.isSoldByBusiness(),
	}
}

// isSoldByBusiness reports whether the booking page or the owner makes the booking. Only
// they sell packages. A caller with an API key knows only the prices of single services,
// which GET /services lists. Therefore this caller pays the sum of the listed prices.
func (q question) isSoldByBusiness() bool { return q.by == actor.Page || q.by == actor.Owner }
