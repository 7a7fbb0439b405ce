package usecase_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/pricing"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/request"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
	"github.com/slotmesh/slotmesh/services/booking/internal/usecase"
)

// now is the time at which each test begins: 2027-03-01 08:00 in Lisbon.
var now = time.Date(2027, 3, 1, 8, 0, 0, 0, time.UTC)

var (
	cutID   = uuid.MustParse("11111111-1111-4111-8111-111111111111")
	saunaID = uuid.MustParse("22222222-2222-4222-8222-222222222222")
	freeID  = uuid.MustParse("33333333-3333-4333-8333-333333333333")
	annaID  = uuid.MustParse("aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa")
	benID   = uuid.MustParse("bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb")

	byKey   = actor.Actor{Kind: actor.APIKey, ID: uuid.MustParse("99999999-9999-4999-8999-999999999999")}
	byPage  = actor.Actor{Kind: actor.Page}
	byOwner = actor.Actor{Kind: actor.Owner}
)

// fixture is a booker whose store is in memory. It is also the fake of catalog, availability, pricing and the provider.
type fixture struct {
	*memory
	t         *testing.T
	clock     *clock.Manual
	booker    *usecase.Booker
	offer     *catalog.Snapshot // the newest version
	rule      string            // the rule by which availability refuses; "" for none
	question  availability.Question
	quotes    []pricing.QuotesRequest
	charges   []payment.Charge
	chargeErr error
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	links, err := (&link.Config{Secrets: []string{"0f9e8d7c6b5a49382716f5e4d3c2b1a0"},
		PagesURL: "https://book.example.org"}).Open()
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, memory: newMemory(), clock: clock.Fixed(now), offer: &catalog.Snapshot{
		ID: uuid.New(), Slug: "harbor", Version: 3, Name: "Harbor", Currency: "EUR", Timezone: "Europe/Lisbon",
		DefaultLanguage: "en", Languages: []string{"en", "pt"}, Account: catalog.Account{SubscriptionActive: true},
		Modules:  catalog.Modules{Services: true},
		Bookings: catalog.Bookings{MaxOpenPerCustomer: 1, AdvanceDays: 30, MinNoticeMinutes: 90, AutoConfirm: true},
		Payments: catalog.Payments{Modes: catalog.PaymentModes{Services: catalog.ModeAtDoor},
			Providers: []string{"card"}, Accounts: map[string]string{"card": "acct_harbor"}},
		Staff: []catalog.Staff{{ID: annaID, Name: "Anna", Active: true}, {ID: benID, Name: "Ben", Active: true}},
		Services: []catalog.Service{
			{ID: cutID, Name: "Haircut", Active: true, DurationMinutes: 45, BufferAfterMinutes: 10, Price: 4000,
				StaffIDs: []uuid.UUID{annaID, benID}, PaymentRequirement: catalog.RequirementFull},
			{ID: saunaID, Name: "Sauna", Active: true, DurationMinutes: 60, Price: 1500, Capacity: 2,
				PaymentRequirement: catalog.RequirementNone},
			{ID: freeID, Name: "Advice", Active: true, DurationMinutes: 15, StaffIDs: []uuid.UUID{annaID, benID},
				PaymentRequirement: catalog.RequirementFull},
		},
	}}
	f.publish(func(*catalog.Snapshot) {})
	f.booker = usecase.NewBooker(usecase.Dependencies{
		Offers: f, Availability: f, Pricing: f, Bookings: f.memory, Links: links, Clock: f.clock,
		Payments: usecase.PaymentOptions{Providers: payment.Providers{"card": provider{fixture: f},
			payment.Sandbox: provider{fixture: f}}, CallTimeout: time.Minute, ExpiresAfter: time.Hour},
		RequestTimeout: 15 * time.Second, Telemetry: telemetry.Discard(),
	})
	return f
}

// publish replaces the offer by a new version.
func (f *fixture) publish(edit func(*catalog.Snapshot)) {
	f.t.Helper()
	next := *f.offer
	next.Version++
	next.Services = slices.Clone(next.Services)
	edit(&next)
	if err := next.Prepare(); err != nil {
		f.t.Fatal(err)
	}
	f.offer, f.newest = &next, next.Version
}

func (f *fixture) Fresh(context.Context, string) (*catalog.Snapshot, error) {
	return f.offer, f.call("Fresh")
}

// Bookable offers each free member or capacity unit in order, by the occupied time in the request.
func (f *fixture) Bookable(_ context.Context,
	r availability.BookableRequest) (*availability.BookableResponse, error) {
	f.question = r.Question
	answer := &availability.BookableResponse{OfferVersion: f.offer.Version, Refusal: f.rule}
	if err := f.call("Bookable"); err != nil || f.rule != "" {
		return answer, err
	}
	services, err := f.offer.Appointment(r.Question.ServiceIDs, r.Question.Variants)
	if err != nil {
		return nil, err
	}
	start := timespan.Instant(r.Question.Date, r.Question.Time, f.offer.Location())
	during := timespan.Span{Start: start, End: start}
	for _, s := range services {
		during.End += int64(s.DurationMinutes) * 60
	}
	occupies := timespan.Span{Start: start, End: during.End + int64(services[0].BufferAfterMinutes)*60}
	for _, resource := range listResources(services[0]) {
		isBusy := slices.ContainsFunc(r.Occupied.Busy, func(b booking.Busy) bool {
			return b.Resource == resource && slices.ContainsFunc(b.Spans(), occupies.Overlaps)
		})
		if isBusy || r.Question.StaffID != nil && *r.Question.StaffID != resource.ID {
			continue
		}
		a := availability.Assignment{During: during,
			Parts: []availability.Part{{Resource: resource, Occupies: occupies}}}
		if resource.CapacityUnit == 0 {
			a.StaffID = &resource.ID
		}
		answer.Assignments = append(answer.Assignments, a)
	}
	return answer, nil
}

func listResources(s *catalog.Service) []booking.Resource {
	var all []booking.Resource
	for _, id := range s.StaffIDs {
		all = append(all, booking.Resource{ID: id})
	}
	for unit := 1; len(s.StaffIDs) == 0 && unit <= s.Capacity; unit++ {
		all = append(all, booking.Resource{ID: s.ID, CapacityUnit: unit})
	}
	return all
}

// Quotes returns the prices of the offer; a customer's first booking costs a tenth less.
func (f *fixture) Quotes(_ context.Context, r pricing.QuotesRequest) (*pricing.QuotesResponse, error) {
	f.quotes = append(f.quotes, r)
	answer := &pricing.QuotesResponse{OfferVersion: f.offer.Version}
	for _, item := range r.Items {
		price := f.offer.Service(item.ID).Price
		if *item.FirstBooking {
			price -= price / 10
		}
		answer.Quotes = append(answer.Quotes, pricing.Quote{Price: price})
	}
	return answer, f.fail["Quotes"]
}

// provider is a payment provider. It can charge every amount unless isUnable is true.
type provider struct {
	payment.Provider
	fixture  *fixture
	name     string
	isUnable bool
	asked    *[]string // nil, or the names of the providers in the order in which they were asked
}

func (p provider) RoundChargeable(amount int64, _ money.Currency) (int64, error) {
	if p.asked != nil {
		*p.asked = append(*p.asked, p.name)
	}
	if p.isUnable {
		return 0, payment.ErrRefused
	}
	return amount, nil
}

func (p provider) Create(_ context.Context, c payment.Charge) (payment.Intent, error) {
	p.fixture.charges = append(p.fixture.charges, c)
	return payment.Intent{Reference: "pi_1", ClientSecret: "secret"}, p.fixture.chargeErr
}

// newRequest returns a request for a haircut at 09:30, with changes.
func newRequest(changes ...func(*request.Request)) *request.Request {
	r := &request.Request{ServiceIDs: []uuid.UUID{cutID}, Date: timespan.NewDate(2027, 3, 2), Time: 9*60 + 30,
		CustomerName: "Zoë", CustomerEmail: "zoe@example.com", PartySize: 1, Source: "api"}
	for _, change := range changes {
		change(r)
	}
	return r
}

// book books with the newest offer. The idempotency key is in the argument `key`; "" means none.
func (f *fixture) book(by actor.Actor, key string, r *request.Request) (store.Confirmation, error) {
	return f.bookAt(now, f.offer, by, key, r)
}

// bookAt books with the offer in the argument `offer`. The request arrived at the time `at`.
func (f *fixture) bookAt(at time.Time, offer *catalog.Snapshot, by actor.Actor, key string,
	r *request.Request) (store.Confirmation, error) {
	ctx := clock.WithArrival(context.Background(), at)
	return f.booker.Book(ctx, offer, by, idempotency.Request{Key: key, Hash: hashOf(r)}, r)
}

func hashOf(r *request.Request) [sha256.Size]byte {
	return sha256.Sum256(fmt.Append(nil, r.Time, r.ServiceIDs))
}

// describe returns the code of the fault or the status, the total, and the payment of a confirmation in one line.
func describe(c store.Confirmation, err error) string {
	if err != nil {
		return fault.Of(err).Kind.Code
	}
	s := fmt.Sprint(c.Status, " ", c.Total)
	if c.Payment != nil {
		s += fmt.Sprint(", ", c.Payment.Provider, " ", c.Payment.Amount)
	}
	if c.IsRepeated {
		s += ", repeated"
	}
	return s
}

// refuse makes a request for which the offer could not be read. The request arrived at the time `at`.
func (f *fixture) refuse(at time.Time, key string, reason error) (store.Confirmation, error) {
	return f.booker.RefuseWithoutOffer(clock.WithArrival(context.Background(), at), f.offer.ID, byKey,
		idempotency.Request{Key: key, Hash: hashOf(newRequest())}, reason)
}
