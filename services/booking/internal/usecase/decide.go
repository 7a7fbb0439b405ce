package usecase

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	bookings "github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/pricing"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/rule"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/booking/internal/request"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// maxRounds is the maximum number of times that a request is decided. A round fails only if
// another booking was written or the offer changed, so concurrent requests need far fewer rounds.
const maxRounds = 50

// errAgain means that the offer or the tables changed after they were read. The decision must be made again.
var errAgain = errors.New("the offer or the tables have changed")

// decide repeats rounds until the request is booked or refused.
func (b *Booker) decide(ctx context.Context, offer *catalog.Offer, r *request.Request,
	a *attempt) (store.Confirmation, error) {
	for range maxRounds {
		confirmation, err := b.round(ctx, offer, r, a)
		if !errors.Is(err, errAgain) {
			return confirmation, err
		}
		if offer, err = b.Offers.Fresh(ctx, offer.Slug); err != nil {
			return store.Confirmation{}, Unverified(err)
		}
		if err := offer.CheckAccount(r.Override, b.Clock.Now()); err != nil {
			return store.Confirmation{}, err
		}
	}
	return store.Confirmation{}, Unverified(errAgain)
}

// Unverified returns the fault for a request if the offer, the occupied time or the slots could not be read. It
// returns faults about the request itself unchanged: business_not_found, invalid_parameter and service_not_found.
func Unverified(err error) error {
	for _, kind := range []fault.Kind{fault.BusinessNotFound, fault.InvalidParameter, fault.ServiceNotFound} {
		if fault.Is(err, kind) {
			return err
		}
	}
	f := fault.Wrap(fault.AvailabilityUnverified, err,
		"Availability could not be verified just now, so nothing was booked; try again shortly.")
	f.RetryAfter = time.Second
	return f
}

// round makes one decision, based on one version of the offer and one read of
// the tables. It returns [errAgain] if the offer or the tables have changed.
func (b *Booker) round(ctx context.Context, offer *catalog.Offer, r *request.Request,
	a *attempt) (store.Confirmation, error) {
	services, err := offer.Appointment(r.ServiceIDs, r.Variants)
	if err == nil {
		err = checkClassSession(r, services)
	}
	if err != nil {
		return b.unasked(ctx, a, err)
	}
	q := question{offer: offer, request: r, services: services, now: b.Clock.Now(), by: a.by.Kind}
	claims := a.asking != nil
	snapshot, err := b.snapshot(ctx, q, a.asking)
	if err != nil {
		return store.Confirmation{}, Unverified(err)
	}
	if claims {
		if before, err := a.claimed(snapshot.Claimed); err != nil {
			return store.Confirmation{}, err
		} else if before != nil {
			return *before, nil
		}
	}
	answers, err := b.ask(ctx, q, snapshot)
	if err != nil {
		return store.Confirmation{}, err
	}
	prices, total := sum(answers.quotes)
	due, err := b.paymentDue(q, prices, total)
	if err != nil {
		return store.Confirmation{}, err
	}
	t := terms{quotes: answers.quotes, total: total, first: snapshot.First, payment: due, warnings: answers.warnings}
	return take(ctx, b, q, answers.assignments, func(c availability.Assignment) (store.Confirmation, error) {
		return b.write(ctx, q, c, t, a)
	})
}

// unasked answers a request that is refused before the tables are read. If an earlier request
// with the same idempotency key was answered, that answer has priority over the refusal.
func (b *Booker) unasked(ctx context.Context, a *attempt, refusal error) (store.Confirmation, error) {
	if a.asking == nil {
		return store.Confirmation{}, refusal
	}
	claimed, err := b.Bookings.Claim(ctx, *a.asking)
	if err != nil {
		return store.Confirmation{}, err
	}
	before, err := a.claimed(claimed)
	if before != nil {
		return *before, nil
	}
	return store.Confirmation{}, cmp.Or(err, refusal)
}

// question is a requested start, together with the offer that decides it.
type question struct {
	offer    *catalog.Offer
	request  *request.Request
	services []*catalog.Service // each with the chosen variant applied
	now      time.Time
	by       actor.Kind
	moving   uuid.UUID // the booking to reschedule, whose own time counts as free; the nil UUID for a new booking
}

// ofClass reports whether the request is for seats of a class session.
func (q question) ofClass() bool { return q.services[0].Class() }

// terms are the prices of a booking, its payment and its warnings.
type terms struct {
	quotes  []pricing.Quote // of each service
	total   int64
	first   bool              // priced as the customer's first booking
	payment *store.NewPayment // nil: nothing is paid online

	warnings []bookings.Warning // customer rules that the owner's booking breaks
}

// window returns the start and end of the time for which occupied time must be read. The appointment with its
// buffers lies within, in any order of its services. Three hours on each side are enough for every clock change.
func (q question) window() (time.Time, time.Time) {
	const slack = 3 * time.Hour
	var before, during, after int
	for _, s := range q.services {
		before, after = max(before, s.BufferBeforeMinutes), max(after, s.BufferAfterMinutes)
		during += s.DurationMinutes
	}
	start := time.Unix(timespan.Instant(q.request.Date, q.request.Time, q.offer.Location()), 0)
	return start.Add(-slack - time.Duration(before)*time.Minute),
		start.Add(slack + time.Duration(during+after)*time.Minute)
}

// snapshot reads the occupied time. For a class it also reads the seats taken. If a
// pricing rule needs it, snapshot also reads whether this is the customer's first
// booking. If claim is not nil, it acquires the idempotency lock in the same round trip.
func (b *Booker) snapshot(ctx context.Context, q question, claim *store.Claiming) (store.Snapshot, error) {
	asked := store.Asked{Seats: q.ofClass(), Moving: q.moving, Claim: claim}
	if q.moving == uuid.Nil && slices.Contains(q.offer.PriceNeeds, rule.NewCustomer) {
		asked.FirstBookingOf = q.request.CustomerEmail
	}
	from, to := q.window()
	return b.Bookings.Snapshot(ctx, q.offer.ID, from, to, asked)
}

// answers are the answers of availability and pricing about a start.
type answers struct {
	assignments []availability.Assignment
	quotes      []pricing.Quote
	warnings    []bookings.Warning
}

// ask asks availability and pricing concurrently. A refusal by availability has priority over an error of pricing.
func (b *Booker) ask(ctx context.Context, q question, now store.Snapshot) (answers, error) {
	var (
		wg          sync.WaitGroup
		slots       *availability.BookableResponse
		prices      *pricing.QuotesResponse
		errS, errPr error
	)
	wg.Go(func() { slots, errS = b.Availability.Bookable(ctx, q.bookable(now.Occupied)) })
	wg.Go(func() { prices, errPr = b.Pricing.Quotes(ctx, q.quotes(now.First)) })
	wg.Wait()
	assignments, err := q.fitting(slots, errS)
	switch {
	case err != nil:
		return answers{}, err
	case errPr != nil || len(prices.Quotes) != len(q.services):
		f := fault.Wrap(fault.AvailabilityUnverified, errPr,
			"The price could not be computed just now, so nothing was booked; try again shortly.")
		f.RetryAfter = time.Second
		return answers{}, f
	case prices.OfferVersion != q.offer.Version:
		return answers{}, errAgain
	}
	a := answers{assignments: assignments, quotes: prices.Quotes}
	if q.by == actor.Owner {
		a.warnings = q.warnings(slots.Warnings)
	}
	return a, nil
}

// fitting returns the assignments in availability's answer that have enough seats for the party. The argument
// err is the error of the call. It returns [errAgain] if availability used another version of the offer.
func (q question) fitting(slots *availability.BookableResponse, err error) ([]availability.Assignment, error) {
	switch {
	case err != nil:
		return nil, Unverified(err)
	case slots.OfferVersion != q.offer.Version:
		return nil, errAgain
	case len(slots.Assignments) == 0:
		return nil, q.refusal(slots.Refusal)
	case !slices.ContainsFunc(slots.Assignments, q.seats):
		return nil, tooFewSeats(q.request, slots.Assignments)
	}
	return slices.DeleteFunc(slots.Assignments, func(c availability.Assignment) bool { return !q.seats(c) }), nil
}

// seats reports whether an assignment has enough seats for the
// party. The number of seats is limited only in class sessions.
func (q question) seats(c availability.Assignment) bool {
	return c.Session == nil || c.Session.Remaining >= q.request.PartySize
}

func (q question) bookable(occupied bookings.Occupied) availability.BookableRequest {
	return availability.BookableRequest{
		Slug:         q.offer.Slug,
		OfferVersion: q.offer.Version,
		Question: availability.Question{
			ServiceIDs: q.request.ServiceIDs, StaffID: q.request.StaffID, Date: q.request.Date, Time: q.request.Time,
			IsPackage: q.request.IsPackage, StaffingMode: q.request.StaffingMode,
			Variants: q.request.Variants, ClassScheduleID: q.request.ClassScheduleID, Override: q.request.Override,
			OutsideHours: q.request.OutsideHours,
		},
		Occupied: occupied,
	}
}

func (q question) quotes(first bool) pricing.QuotesRequest {
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
		OmitSteps: len(q.offer.Rules) == 0, Together: q.soldByBusiness(),
	}
}

// soldByBusiness reports whether the booking is made on the booking page or by the owner. Both can sell
// packages. A caller with an API key only reads /services, and therefore pays the sum of the listed prices.
func (q question) soldByBusiness() bool { return q.by == actor.Page || q.by == actor.Owner }

func sum(quotes []pricing.Quote) ([]int64, int64) {
	prices, total := make([]int64, len(quotes)), int64(0)
	for i, quote := range quotes {
		prices[i] = quote.Price
		total += quote.Price
	}
	return prices, total
}
