package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/rule"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// newPageRequest returns a reservation as the booking page sends it, with times if two `hours` are given.
func newPageRequest(id string, quantity int, from, to string, hours ...string) rental.NewReservation {
	n := rental.NewReservation{RentalID: id, StartDate: from, EndDate: to, Quantity: quantity, CustomerName: "Zoë",
		CustomerEmail: new("zoe@example.com")}
	if len(hours) == 2 {
		n.StartTime, n.EndTime = &hours[0], &hours[1]
	}
	return n
}

// startForCustomers starts a service whose business takes online reservations.
func startForCustomers(t *testing.T) service {
	t.Helper()
	s := start(t)
	s.edit(func(o *catalog.Snapshot) { o.Account.SubscriptionActive = true })
	return s
}

// edit publishes a changed offer.
func (s service) edit(change func(*catalog.Snapshot)) {
	s.change(func(p *fakePeers) {
		next := *p.offer
		next.Rentals = append([]catalog.Rental(nil), p.offer.Rentals...)
		change(&next)
		if err := next.Prepare(); err != nil {
			panic(err)
		}
		p.offer = &next
	})
}

// reserveAs makes a reservation as an actor of the given kind. The argument `key` is the idempotency key, or "" for
// none.
func (s service) reserveAs(kind actor.Kind, key string, n rental.NewReservation) (*rental.Reservation, error) {
	ctx := idempotency.With(actor.With(context.Background(), actor.Actor{Kind: kind}), idempotency.Request{Key: key})
	return s.client.Reserve(ctx, "harbor", n)
}

func TestPageReservesOnlineRentals(t *testing.T) {
	t.Parallel()
	s := startForCustomers(t)
	reservation, err := s.reserveAs(actor.Page, "k", newPageRequest(kayak, 3, "2027-06-11", "2027-06-11", "10:00",
		"12:00"))
	if err != nil || reservation.ManageURL == "" {
		t.Fatalf("got %+v, %v", reservation, err)
	}
	if second, err := s.reserveAs(actor.Page, "k", newPageRequest(kayak, 3, "2027-06-11", "2027-06-11", "10:00",
		"12:00")); err != nil || second.ID != reservation.ID {
		t.Errorf("a second click: %+v, %v", second, err)
	}
	if other, err := s.reserveAs(actor.Owner, "k", newPageRequest(bike, 1, "2027-06-11", "2027-06-11")); err != nil ||
		other.ID == reservation.ID {
		t.Errorf("the same key of the owner's: %+v, %v", other, err)
	}
	for name, n := range map[string]rental.NewReservation{
		"one more than is free":          newPageRequest(kayak, 1, "2027-06-11", "2027-06-11", "11:00", "12:00"),
		"more than is offered":           newPageRequest(bike, 11, "2027-06-20", "2027-06-20"),
		"nothing is offered online":      newPageRequest(unicorn, 1, "2027-06-20", "2027-06-20"),
		"more than there are in service": newPageRequest(tent, 4, "2027-06-20", "2027-06-20"),
	} {
		if _, err := s.reserveAs(actor.Page, "", n); !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.reserveAs(actor.Page, "", newPageRequest(kayak, 3, "2027-06-11", "2027-06-11", "12:00",
		"13:00")); err != nil {
		t.Errorf("right after: %v", err)
	}
	if _, err := s.client.Cancel(actor.With(t.Context(), actor.Actor{Kind: actor.Page}), "harbor", reservation.ID,
		booking.Cancel{}); err != nil {
		t.Errorf("cancelled by the page: %v", err)
	}
}

// TestPageReservationFollowsCustomerRules shows that each rule for customers applies to the booking page, in the order
// of the cases. These rules do not apply to the owner (semantics.md §4).
func TestPageReservationFollowsCustomerRules(t *testing.T) {
	t.Parallel()
	s := startForCustomers(t)
	paused := timespan.NewDate(2027, time.July, 1)
	two, four := 2, 4
	change := func(edit func(*catalog.Snapshot)) func() { return func() { s.edit(edit) } }
	anonymous := newPageRequest(bike, 1, "2027-06-09", "2027-06-09")
	anonymous.CustomerEmail = nil
	for _, c := range []struct {
		name  string
		first func()
		n     rental.NewReservation
		kind  fault.Kind
	}{
		{"paused", change(func(o *catalog.Snapshot) {
			o.Bookings.PausedUntil = &paused
		}), anonymous, fault.NotAcceptingBookings},
		{"no address", change(func(o *catalog.Snapshot) {
			o.Bookings.PausedUntil = nil
		}), anonymous, fault.InvalidParameter},
		{"yesterday", nil, newPageRequest(bike, 1, "2027-06-09", "2027-06-11"), fault.Conflict},
		{"an hour ago", nil, newPageRequest(kayak, 1, "2027-06-10", "2027-06-10", "08:30", "12:00"), fault.Conflict},
		{"beyond the limit", nil, newPageRequest(bike, 1, "2028-06-10", "2028-06-10"), fault.Conflict},
		{"too short by days", change(func(o *catalog.Snapshot) {
			o.Rentals[0].MinRentalDays, o.Rentals[0].MaxRentalDays = &two, &four
		}), newPageRequest(bike, 1, "2027-06-20", "2027-06-20"), fault.Conflict},
		{"too long by days", nil, newPageRequest(bike, 1, "2027-06-20", "2027-06-24"), fault.Conflict},
		{"too short by hours", change(func(o *catalog.Snapshot) {
			o.Rentals[1].MinRentalHours, o.Rentals[1].MaxRentalHours = &two, &four
		}), newPageRequest(kayak, 1, "2027-06-20", "2027-06-20", "10:00", "11:59"), fault.Conflict},
		{"too long by hours", nil, newPageRequest(kayak, 1, "2027-06-20", "2027-06-20", "10:00", "14:01"),
			fault.Conflict},
		{"to be paid online, where nobody can charge it", change(func(o *catalog.Snapshot) {
			o.Payments = catalog.Payments{Providers: []string{"stripe"},
				Modes: catalog.PaymentModes{Rentals: catalog.ModeOnline}}
			o.Rentals[2].Price, o.Rentals[2].PaymentRequirement = 100, catalog.RequirementFull
			s.payments.err = fault.New(fault.PaymentUnavailable, "nobody")
		}), newPageRequest(tent, 1, "2027-06-20", "2027-06-20"), fault.PaymentUnavailable},
	} {
		if c.first != nil {
			c.first()
		}
		if _, err := s.reserveAs(actor.Page, "", c.n); !fault.Is(err, c.kind) {
			t.Errorf("%s: %v, want %s", c.name, err, c.kind.Code)
		}
		if _, err := s.reserveAs(actor.Owner, "", c.n); err != nil {
			t.Errorf("%s, the owner: %v", c.name, err)
		}
	}
	for name, n := range map[string]rental.NewReservation{
		"the shortest days":  newPageRequest(bike, 1, "2027-06-20", "2027-06-21"),
		"the longest days":   newPageRequest(bike, 1, "2027-06-20", "2027-06-23"),
		"the shortest hours": newPageRequest(kayak, 1, "2027-06-21", "2027-06-21", "10:00", "12:00"),
		"the longest hours":  newPageRequest(kayak, 1, "2027-06-22", "2027-06-22", "10:00", "14:00"),
		"today":              newPageRequest(kayak, 1, "2027-06-10", "2027-06-10", "12:00", "14:00"),
		"the last day":       newPageRequest(bike, 1, "2028-06-08", "2028-06-09"),
	} {
		if _, err := s.reserveAs(actor.Page, "", n); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestConcurrentPageReservationsNeverOverbook(t *testing.T) {
	t.Parallel()
	s := startForCustomers(t)
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		count int
	)
	for range 64 {
		wg.Go(func() {
			_, err := s.reserveAs(actor.Page, uuid.NewString(), newPageRequest(bike, 1, "2027-06-20", "2027-06-21"))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				count++
			case !fault.Is(err, fault.Conflict):
				t.Errorf("a race that was lost: %v", err)
			}
		})
	}
	wg.Wait()
	if count != 10 {
		t.Errorf("%d of 10 were reserved", count)
	}
}

// addExtra returns a reservation with units of an extra.
func addExtra(n rental.NewReservation, id string, quantity int) rental.NewReservation {
	n.Extras = append(n.Extras, rental.NewExtra{RentalID: id, Quantity: quantity})
	return n
}

func TestPageReservationIncludesRequiredExtras(t *testing.T) {
	t.Parallel()
	s := startForCustomers(t)
	bikes, tents := uuid.MustParse(bike), uuid.MustParse(tent)
	s.edit(func(o *catalog.Snapshot) {
		for i := range o.Rentals {
			switch o.Rentals[i].ID.String() {
			case kayak:
				o.Rentals[i].Price = 1200
				o.Rentals[i].Upsells = []catalog.Upsell{{RentalID: bikes, Required: true}, {RentalID: tents}}
			case bike:
				o.Rentals[i].Price = 200
			}
		}
	})
	two := newPageRequest(kayak, 2, "2027-06-11", "2027-06-11", "10:00", "12:30")
	for name, n := range map[string]rental.NewReservation{
		"without it":              two,
		"with too few":            addExtra(two, bike, 1),
		"with another one":        addExtra(two, tent, 2),
		"with what is no extra":   addExtra(newPageRequest(tent, 1, "2027-06-11", "2027-06-11"), bike, 1),
		"with more than is there": addExtra(two, bike, 11),
	} {
		if _, err := s.reserveAs(actor.Page, "", n); !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, n := range map[string]rental.NewReservation{
		"twice the same": addExtra(addExtra(two, bike, 2), bike, 2), "with itself": addExtra(two, kayak, 1),
		"none of it": addExtra(two, bike, 0), "no id": addExtra(two, "vest", 1),
	} {
		if _, err := s.reserveAs(actor.Page, "", n); !fault.Is(err, fault.InvalidParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	reservation, err := s.reserveAs(actor.Page, "k", addExtra(two, bike, 3))
	if err != nil {
		t.Fatal(err)
	}
	// Two kayaks at 12.00 are charged for three started hours. The price of the bikes is by the day.
	want := []rental.Extra{{RentalID: bikes, RentalName: "Thing", Quantity: 3, Price: new(json.Number("6.00"))}}
	if diff := cmp.Diff(want, reservation.Extras); diff != "" || *reservation.Price != "72.00" ||
		*reservation.Total != "78.00" ||
		reservation.Currency != "EUR" {
		t.Errorf("%s: %s, in all %s %s", diff, *reservation.Price, *reservation.Total, reservation.Currency)
	}
	s.check(t, "rentalId", bike, "startDate", "2027-06-11", "endDate", "2027-06-11", "quantity", "7").expect(t, 200,
		available)
	if eight := s.check(t, "rentalId", bike, "startDate", "2027-06-11", "endDate", "2027-06-11", "quantity",
		"8"); strings.Contains(eight.body, `true`) {
		t.Errorf("extras that a reservation occupies are offered again: %s", eight.body)
	}
	if owners, err := s.reserveAs(actor.Owner, "", newPageRequest(kayak, 1, "2027-06-12", "2027-06-12", "10:00",
		"12:00")); err != nil || owners.Total != nil {
		t.Errorf("the owner: %+v, %v", owners, err)
	}
	s.change(func(p *fakePeers) { p.pricesErr = errors.New("away") })
	if _, err := s.reserveAs(actor.Page, "", addExtra(two, bike, 2)); !fault.Is(err, fault.AvailabilityUnverified) {
		t.Errorf("without a price: %v", err)
	}
	s.edit(func(o *catalog.Snapshot) {
		for i := range o.Rentals {
			o.Rentals[i].Active = o.Rentals[i].ID != bikes
		}
	})
	s.change(func(p *fakePeers) { p.pricesErr = nil })
	if _, err := s.reserveAs(actor.Page, "", newPageRequest(kayak, 1, "2027-06-13", "2027-06-13", "10:00",
		"12:00")); err != nil {
		t.Errorf("a reservation although the required extra is inactive: %v", err)
	}
}

// TestPageReservationCountsAsOpenUntilEnd shows which reservations count toward the limit of open ones.
// Those of the owner do not count, nor do refused and cancelled ones.
func TestPageReservationCountsAsOpenUntilEnd(t *testing.T) {
	t.Parallel()
	s := startForCustomers(t)
	s.edit(func(o *catalog.Snapshot) { o.Bookings.MaxOpenPerCustomer = 2 })
	of := func(address string) rental.NewReservation {
		n := newPageRequest(kayak, 1, "2027-06-11", "2027-06-11", "10:00", "12:00")
		n.CustomerEmail = &address
		return n
	}
	if _, err := s.reserveAs(actor.Owner, "", of("zoe@example.com")); err != nil {
		t.Fatal(err)
	}
	first, err := s.reserveAs(actor.Page, "k", of("ZOE@example.com"))
	if err != nil {
		t.Fatal(err)
	}
	if second, err := s.reserveAs(actor.Page, "k", of("ZOE@example.com")); err != nil || second.ID != first.ID {
		t.Errorf("a second click: %+v, %v", second, err)
	}
	if *first.CustomerEmail != "zoe@example.com" {
		t.Errorf("the stored address is %s", *first.CustomerEmail)
	}
	tooMany := newPageRequest(bike, 11, "2027-06-20", "2027-06-20")
	if _, err := s.reserveAs(actor.Page, "", tooMany); !fault.Is(err, fault.Conflict) {
		t.Errorf("more than is offered: %v", err)
	}
	if _, err := s.reserveAs(actor.Page, "", of("zoe@Example.com")); err != nil {
		t.Errorf("the second: %v", err)
	}
	if _, err := s.reserveAs(actor.Page, "", of("\uff5aoe@example.com")); !fault.Is(err, fault.TooManyOpen) {
		t.Errorf("the third: %v", err)
	}
	if second, err := s.reserveAs(actor.Page, "k", of("ZOE@example.com")); err != nil || second.ID != first.ID {
		t.Errorf("a second click on the first: %+v, %v", second, err)
	}
	if _, err := s.client.Cancel(actor.With(t.Context(), actor.Actor{Kind: actor.Owner}), "harbor", first.ID,
		booking.Cancel{}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.reconciliation.UncountReservations(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.reserveAs(actor.Page, "", newPageRequest(bike, 1, "2027-06-20", "2027-06-20")); err != nil {
		t.Errorf("after one was cancelled: %v", err)
	}
	if _, err := s.reserveAs(actor.Page, "", newPageRequest(bike, 1, "2027-06-21", "2027-06-21")); !fault.Is(err,
		fault.TooManyOpen) {
		t.Errorf("a reservation while two are open again: %v", err)
	}
	s.payments.countErr = fault.New(fault.PeerUnavailable, "booking is away")
	if _, err := s.reserveAs(actor.Page, "", newPageRequest(bike, 1, "2027-06-21", "2027-06-21")); !fault.Is(err,
		fault.AvailabilityUnverified) {
		t.Errorf("a reservation while the payments cannot be counted: %v", err)
	}
	if _, err := s.reserveAs(actor.Owner, "", newPageRequest(bike, 1, "2027-06-21", "2027-06-21")); err != nil {
		t.Errorf("a reservation by the owner at the same time: %v", err)
	}
}

// TestReservationNamesPricingRules shows that a reservation keeps the labels of the pricing rules, even
// after the rules are removed.
func TestReservationNamesPricingRules(t *testing.T) {
	t.Parallel()
	s := startForCustomers(t)
	s.edit(func(o *catalog.Snapshot) {
		o.Rules = []catalog.Rule{{Key: "long", Kind: rule.Duration, Label: catalog.Label{Text: "Five days and more"}}}
	})
	want := []booking.PriceChange{{Rule: "long", Kind: string(rule.Duration), Label: "Five days and more"}}
	long, err := s.reserveAs(actor.Page, "", newPageRequest(bike, 1, "2027-06-20", "2027-06-24"))
	if err != nil || !slices.Equal(long.PriceChanges, want) {
		t.Fatalf("got %+v, %v", long, err)
	}
	s.edit(func(o *catalog.Snapshot) { o.Rules = nil })
	if stored, err := s.client.Reservation(actor.With(t.Context(), actor.Actor{Kind: actor.Owner}), "harbor",
		long.ID); err != nil ||
		!slices.Equal(stored.PriceChanges, want) {
		t.Errorf("later: %+v, %v", stored, err)
	}
	if short, err := s.reserveAs(actor.Page, "", newPageRequest(bike, 1, "2027-06-20", "2027-06-20")); err != nil ||
		short.PriceChanges != nil {
		t.Errorf("without a change of the price: %+v, %v", short, err)
	}
}
