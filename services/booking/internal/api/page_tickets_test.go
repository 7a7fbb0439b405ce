package api_test

import (
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/actor"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/idempotency"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

func public(e *catalog.Event) { e.Public = true }

// buyTickets orders as the booking page does.
func (w *town) buyTickets(key string, change func(*booking.NewTicket)) (*booking.Ticket, error) {
	order := tickets(seatID, 1)
	if change != nil {
		change(&order)
	}
	ctx := actor.With(w.t.Context(), thePage)
	return w.client().SellTicket(idempotency.With(ctx, idempotency.Request{Key: key}), w.offer.ID, order)
}

func TestOnThePageCustomersBuyTicketsOfPublicEventsUntilTheyBegin(t *testing.T) {
	t.Parallel()
	w := open(t, none)
	refused := func(name string, kind fault.Kind, change func(*booking.NewTicket)) {
		t.Helper()
		if _, err := w.buyTickets("", change); !fault.Is(err, kind) {
			t.Errorf("%s: %v, want %s", name, err, kind.Code)
		}
	}
	w.change(withGala(asItIs))
	refused("not public", fault.NotFound, nil)
	if _, err := w.client().SellTicket(actor.With(t.Context(), owner), w.offer.ID, tickets(seatID, 1)); err != nil {
		t.Errorf("the owner: %v", err)
	}
	w.change(withGala(public))
	sold, err := w.buyTickets("k", nil)
	if err != nil || sold.ManageURL == "" {
		t.Fatalf("got %+v, %v", sold, err)
	}
	if again, err := w.buyTickets("k", nil); err != nil || again.ID != sold.ID {
		t.Errorf("a second click: %+v, %v", again, err)
	}
	ownersKey := idempotency.With(actor.With(t.Context(), owner), idempotency.Request{Key: "k"})
	if other, err := w.client().SellTicket(ownersKey, w.offer.ID, tickets(vipID, 1)); err != nil || other.ID == sold.ID {
		t.Errorf("the same key of the owner's: %+v, %v", other, err)
	}
	if n := w.count(`SELECT count(*) FROM events WHERE type = 'ticket.sold' AND actor_kind = 'page'`); n != 1 {
		t.Errorf("%d events say that the page sold", n)
	}
	refused("without an address", fault.InvalidParameter, func(n *booking.NewTicket) { n.CustomerEmail = nil })
	refused("more than are left", fault.Conflict, func(n *booking.NewTicket) { n.Quantity = 3 })
	paused := timespan.NewDate(2027, time.March, 2)
	w.change(func(o *catalog.Offer) { o.Bookings.PausedUntil = &paused })
	refused("paused", fault.NotAcceptingBookings, func(n *booking.NewTicket) { n.CustomerEmail = nil })
	w.change(func(o *catalog.Offer) { o.Bookings.PausedUntil = nil })
	w.clock.Advance(14*time.Hour - time.Microsecond)
	if _, err := w.buyTickets("", nil); err != nil {
		t.Errorf("just before it begins: %v", err)
	}
	w.clock.Advance(time.Microsecond)
	refused("it has begun", fault.Conflict, nil)
}

// What must be paid online and cannot be is not sold for nothing.
func TestOnThePageNothingIsSoldThatMustBePaidAndCannotBe(t *testing.T) {
	t.Parallel()
	w := open(t, none)
	for _, c := range []struct {
		mode, requirement string
		price             int64
		providers         []string
		refused           bool
	}{
		{"online", "full", 100, []string{"stripe"}, true},
		{"online", "deposit_percent", 100, []string{"stripe"}, true},
		{"online", "none", 100, []string{"stripe"}, false},
		{"online", "full", 0, []string{"stripe"}, false},
		{"online", "full", 100, nil, false},
		{"at_door", "full", 100, []string{"stripe"}, false},
		{"customer_choice", "full", 100, []string{"stripe"}, false},
	} {
		w.change(withGala(func(e *catalog.Event) {
			e.Public, e.PaymentRequirement, e.TotalCapacity = true, c.requirement, 100
			e.Tiers[0].Price, e.Tiers[0].Capacity = c.price, 100
		}))
		w.change(func(o *catalog.Offer) { o.Payments.Modes.Events, o.Payments.Providers = c.mode, c.providers })
		_, err := w.buyTickets("", nil)
		if fault.Is(err, fault.PaymentUnavailable) != c.refused || !c.refused && err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		if _, err := w.client().SellTicket(actor.With(t.Context(), owner), w.offer.ID, tickets(seatID, 1)); err != nil {
			t.Errorf("the owner, %+v: %v", c, err)
		}
	}
}
