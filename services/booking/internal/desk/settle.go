package desk

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer/availability"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/peer/pricing"
	"github.com/slotmesh/slotmesh/libs/postgres"
	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/services/booking/internal/request"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// maxRounds bounds how often everything is asked again. Each round that fails means that somebody else booked or that
// the offer changed, so it is far out of reach of honest races.
const maxRounds = 50

// errAgain says that what a decision was made on has changed meanwhile.
var errAgain = errors.New("the situation has changed")

// settle asks and writes until the order is booked or refused.
func (d *Desk) settle(ctx context.Context, offer *catalog.Offer, body *request.Request, a attempt) (Answer, error) {
	for range maxRounds {
		answer, err := d.round(ctx, offer, body, a)
		if !errors.Is(err, errAgain) {
			return answer, err
		}
		if offer, err = d.offers.Fresh(ctx, offer.Slug); err != nil {
			return Answer{}, Unverified(err)
		}
		if err := standing(offer, d.clock.Now()); err != nil {
			return Answer{}, err
		}
	}
	return Answer{}, Unverified(errAgain)
}

// Unverified is the refusal where the offer, the occupied time or the slots could not be read. Faults that say
// something of the request itself pass as they are.
func Unverified(err error) error {
	for _, kind := range []fault.Kind{fault.BusinessNotFound, fault.InvalidParameter, fault.ServiceNotFound} {
		if fault.Is(err, kind) {
			return err
		}
	}
	f := fault.Wrap(fault.AvailabilityUnverified, err, "Availability could not be verified just now, so nothing was booked; try again shortly.")
	f.RetryAfter = time.Second
	return f
}

// round is one decision on one offer and one reading of the tables. It returns [errAgain] when either has changed.
func (d *Desk) round(ctx context.Context, offer *catalog.Offer, body *request.Request, a attempt) (Answer, error) {
	services, err := offer.Appointment(body.ServiceIDs, body.Variants)
	if err != nil {
		return Answer{}, err
	}
	if err := checkClassSession(body, services); err != nil {
		return Answer{}, err
	}
	q := question{offer: offer, body: body, services: services, now: d.clock.Now()}
	situation, err := d.situation(ctx, q)
	if err != nil {
		return Answer{}, Unverified(err)
	}
	assignments, quotes, err := d.ask(ctx, q, situation)
	if err != nil {
		return Answer{}, err
	}
	prices, total := sum(quotes)
	charge, err := d.charge(q, prices, total)
	if err != nil {
		return Answer{}, err
	}
	return d.take(ctx, q, assignments, terms{prices: prices, total: total, first: situation.First, charge: charge}, a)
}

// question is one start asked for on one offer.
type question struct {
	offer    *catalog.Offer
	body     *request.Request
	services []*catalog.Service // as their variants
	now      time.Time
}

// ofClass says whether seats of a class session are asked for.
func (q question) ofClass() bool { return q.services[0].Class() }

// terms are what a booking costs.
type terms struct {
	prices []int64 // of each service, in minor units
	total  int64
	first  bool              // priced as the customer's first booking
	charge *store.NewPayment // nil: nothing is paid online
}

// window is the time that the appointment can touch, wherever its services and buffers fall. The hours around it cover
// whatever a clock change could make of the local time.
func (q question) window() (time.Time, time.Time) {
	const slack = 3 * time.Hour
	var before, during, after int
	for _, s := range q.services {
		before, after = max(before, s.BufferBeforeMinutes), max(after, s.BufferAfterMinutes)
		during += s.DurationMinutes
	}
	start := time.Unix(timespan.Instant(q.body.Date, q.body.Time, q.offer.Location()), 0)
	return start.Add(-slack - time.Duration(before)*time.Minute), start.Add(slack + time.Duration(during+after)*time.Minute)
}

// situation reads the occupied time, the seats taken in classes where it is about one, and, where a rule prices first
// bookings, whether this is one.
func (d *Desk) situation(ctx context.Context, q question) (store.Situation, error) {
	asked := store.Asked{Seats: q.ofClass()}
	if slices.ContainsFunc(q.offer.Rules, func(r catalog.Rule) bool { return r.Kind == catalog.RuleFirstBooking }) {
		asked.FirstBookingOf = q.body.CustomerEmail
	}
	from, to := q.window()
	return d.store.Situation(ctx, q.offer.ID, from, to, asked)
}

// ask puts the question to availability and pricing at the same time. What availability says comes first.
func (d *Desk) ask(ctx context.Context, q question, now store.Situation) ([]availability.Assignment, []pricing.Quote, error) {
	var (
		wg          sync.WaitGroup
		slots       *availability.BookableResponse
		prices      *pricing.QuotesResponse
		errS, errPr error
	)
	wg.Go(func() { slots, errS = d.availability.Bookable(ctx, q.bookable(now.Occupied)) })
	wg.Go(func() { prices, errPr = d.pricing.Quotes(ctx, q.quotes(now.First)) })
	wg.Wait()
	switch {
	case errS != nil:
		return nil, nil, Unverified(errS)
	case slots.OfferVersion != q.offer.Version:
		return nil, nil, errAgain
	case len(slots.Assignments) == 0:
		return nil, nil, noneLeft(q.body, q.services)
	case !slices.ContainsFunc(slots.Assignments, q.seats):
		return nil, nil, tooFewSeats(q.body, slots.Assignments)
	case errPr != nil || len(prices.Quotes) != len(q.services):
		f := fault.Wrap(fault.AvailabilityUnverified, errPr, "The price could not be settled just now, so nothing was booked; try again shortly.")
		f.RetryAfter = time.Second
		return nil, nil, f
	case prices.OfferVersion != q.offer.Version:
		return nil, nil, errAgain
	}
	return slices.DeleteFunc(slots.Assignments, func(c availability.Assignment) bool { return !q.seats(c) }), prices.Quotes, nil
}

// seats reports whether an assignment has room for the party; only a class session can be too small.
func (q question) seats(c availability.Assignment) bool {
	return c.Session == nil || c.Session.Remaining >= q.body.PartySize
}

func (q question) bookable(occupied booking.Occupied) availability.BookableRequest {
	return availability.BookableRequest{
		Slug:         q.offer.Slug,
		OfferVersion: q.offer.Version,
		Question: availability.Question{
			ServiceIDs: q.body.ServiceIDs, StaffID: q.body.StaffID, Date: q.body.Date, Time: q.body.Time,
			IsPackage: q.body.IsPackage, StaffingMode: q.body.StaffingMode,
			Variants: q.body.Variants, ClassScheduleID: q.body.ClassScheduleID,
		},
		Occupied: occupied,
	}
}

func (q question) quotes(first bool) pricing.QuotesRequest {
	items := make([]pricing.Item, len(q.services))
	for i, s := range q.services {
		items[i] = pricing.Item{
			Kind: pricing.KindService, ID: s.ID, Date: q.body.Date, Start: &q.body.Time,
			PartySize: &q.body.PartySize, FirstBooking: &first,
		}
		if variant, ok := q.body.Variants[s.ID]; ok {
			items[i].VariantID = &variant
		}
	}
	return pricing.QuotesRequest{Slug: q.offer.Slug, OfferVersion: q.offer.Version, PurchaseAt: q.now, Items: items, OmitSteps: true}
}

func sum(quotes []pricing.Quote) ([]int64, int64) {
	prices, total := make([]int64, len(quotes)), int64(0)
	for i, quote := range quotes {
		prices[i] = quote.Price
		total += quote.Price
	}
	return prices, total
}

// take writes the first assignment that is still free, in Auto-Assign order. After a lost race it reads the occupied time
// again and goes on with what is left; when nothing is, or when something else than the time has changed, it returns
// [errAgain].
func (d *Desk) take(ctx context.Context, q question, assignments []availability.Assignment, t terms, a attempt) (Answer, error) {
	for len(assignments) > 0 {
		answer, err := d.write(ctx, q, assignments[0], t, a)
		if !errors.Is(err, store.ErrTaken) {
			return answer, err
		}
		d.lost.Add(ctx, 1)
		from, to := q.window()
		occupied, err := d.store.Occupied(ctx, q.offer.ID, from, to, q.ofClass())
		if err != nil {
			return Answer{}, Unverified(err)
		}
		hinders := index(occupied).hinderer(q.body.PartySize)
		if !hinders(assignments[0]) {
			return Answer{}, errAgain // refused for another reason: the customer's first booking is another one by now
		}
		assignments = slices.DeleteFunc(assignments, hinders)
		spread(assignments)
	}
	return Answer{}, errAgain
}

// spread puts ways that differ in nothing but their lanes in random order. All who lost a race would else go for the
// same next lane, and all but one lose again.
func spread(assignments []availability.Assignment) {
	for from := 0; from < len(assignments); {
		to := from + 1
		for to < len(assignments) && sameStaff(assignments[from], assignments[to]) {
			to++
		}
		group := assignments[from:to]
		rand.Shuffle(len(group), func(i, j int) { group[i], group[j] = group[j], group[i] })
		from = to
	}
}

func sameStaff(a, b availability.Assignment) bool {
	if a.StaffID == nil || b.StaffID == nil {
		return a.StaffID == b.StaffID
	}
	return *a.StaffID == *b.StaffID
}

// taken is what is occupied, by resource: by appointments, and by the guests of classes, who share it; and the seats that
// are taken in sessions.
type taken struct {
	alone, shared map[booking.Resource][]timespan.Span
	seats         map[booking.Happening]int
}

func index(o booking.Occupied) taken {
	t := taken{
		alone: make(map[booking.Resource][]timespan.Span, len(o.Busy)), shared: map[booking.Resource][]timespan.Span{},
		seats: o.SeatsByHappening(),
	}
	for _, b := range o.Busy {
		if b.Class {
			t.shared[b.Resource] = b.Spans()
		} else {
			t.alone[b.Resource] = b.Spans()
		}
	}
	return t
}

// hinderer returns whether an assignment can no longer be had by a party: where a part is taken, or the session too full.
func (t taken) hinderer(party int) func(availability.Assignment) bool {
	return func(c availability.Assignment) bool {
		if c.Session != nil && t.seats[booking.Happening{SessionID: c.Session.ID, StartsAt: c.During.Start}]+party > c.Session.Capacity {
			return true
		}
		return slices.ContainsFunc(c.Parts, func(p availability.Part) bool {
			return slices.ContainsFunc(t.alone[p.Resource], p.Occupies.Overlaps) ||
				c.Session == nil && slices.ContainsFunc(t.shared[p.Resource], p.Occupies.Overlaps)
		})
	}
}

// write stores one assignment. Errors: [store.ErrTaken]; the faults idempotency_in_progress when the claim is gone or the key was
// refused meanwhile, and outcome_unknown.
func (d *Desk) write(ctx context.Context, q question, c availability.Assignment, t terms, a attempt) (Answer, error) {
	id, err := uuid.NewV7() // in order of time, so that neighbours in the index are neighbours in time
	if err != nil {
		return Answer{}, err
	}
	b := q.booking(id, c, t)
	b.Claim, b.Write = a.claim, a.write
	if b.Payment = t.charge; b.Payment != nil {
		return d.writePaid(ctx, q, b)
	}
	if b.Response, err = render(b, q.offer.Money(), nil); err != nil {
		return Answer{}, err
	}
	return Answer{Body: b.Response}, d.book(ctx, b)
}

func (d *Desk) book(ctx context.Context, b store.NewBooking) error {
	err := d.store.Book(ctx, b)
	switch {
	case errors.Is(err, store.ErrClaimLost):
		return inProgress()
	case errors.Is(err, postgres.ErrRefused):
		return fault.New(fault.IdempotencyInProgress,
			"Idempotency-Key: a later request with this key was refused while this one was on its way, so this one books nothing; send it again.")
	}
	return err
}

func (q question) booking(id uuid.UUID, c availability.Assignment, t terms) store.NewBooking {
	b := store.NewBooking{
		BusinessID: q.offer.ID, ID: id,
		StartsAt: time.Unix(c.During.Start, 0), EndsAt: time.Unix(c.During.End, 0), Location: q.offer.Location(),
		StaffID: c.StaffID, PartySize: q.body.PartySize,
		Total: t.total, Currency: q.offer.Currency, FirstBooking: t.first,
		Source:   q.body.Source,
		Customer: store.Customer{Name: q.body.CustomerName, Email: q.body.CustomerEmail, Phone: q.body.CustomerPhone},
		FormData: q.body.FormData, OfferVersion: q.offer.Version, Now: q.now, Parts: c.Parts,
	}
	if c.Session != nil {
		b.Session = &store.ClassSession{ID: c.Session.ID, Capacity: c.Session.Capacity}
	}
	if c.StaffID != nil {
		name := ""
		if member := q.offer.StaffMember(*c.StaffID); member != nil {
			name = member.Name
		}
		b.StaffName = &name
	}
	for i, s := range q.services {
		b.Services = append(b.Services, store.SoldService{
			ID: s.ID, Name: s.Name, VariantName: q.variantName(s), DurationMinutes: s.DurationMinutes, Price: t.prices[i],
		})
	}
	return b
}

// variantName is the name of the variant that a service is booked as, "" where it is booked as itself.
func (q question) variantName(s *catalog.Service) string {
	chosen, ok := q.body.Variants[s.ID]
	if !ok {
		return ""
	}
	i := slices.IndexFunc(s.Variants, func(v catalog.Variant) bool { return v.ID == chosen })
	return s.Variants[i].Name
}
