package api_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/rule"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

func setPublic(e *catalog.Event) { e.Public = true }

// buyTickets buys tickets as the booking page does.
func (w *fixture) buyTickets(key string, change func(*booking.NewTicket)) (*booking.Ticket, error) {
	order := tickets(seatID, 1)
	if change != nil {
		change(&order)
	}
	ctx := actor.With(w.t.Context(), thePage)
	return w.client().SellTicket(idempotency.With(ctx, idempotency.Request{Key: key}), w.offer.ID, order)
}

func TestPageSellsTicketsOfPublicEvents(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	refused := func(name string, kind fault.Kind, change func(*booking.NewTicket)) {
		t.Helper()
		if _, err := w.buyTickets("", change); !fault.Is(err, kind) {
			t.Errorf("%s: %v, want %s", name, err, kind.Code)
		}
	}
	w.change(withGala(noChange))
	refused("not public", fault.NotFound, nil)
	if _, err := w.client().SellTicket(actor.With(t.Context(), ownerActor), w.offer.ID, tickets(seatID, 1)); err != nil {
		t.Errorf("the owner: %v", err)
	}
	w.change(withGala(setPublic))
	order, err := w.buyTickets("k", nil)
	if err != nil || order.ManageURL == "" {
		t.Fatalf("got %+v, %v", order, err)
	}
	if second, err := w.buyTickets("k", nil); err != nil || second.ID != order.ID {
		t.Errorf("a second click: %+v, %v", second, err)
	}
	ownersKey := idempotency.With(actor.With(t.Context(), ownerActor), idempotency.Request{Key: "k"})
	if other, err := w.client().SellTicket(ownersKey, w.offer.ID, tickets(vipID, 1)); err != nil ||
		other.ID == order.ID {
		t.Errorf("the same key of the owner's: %+v, %v", other, err)
	}
	if n := w.count(`SELECT count(*) FROM events WHERE type = 'ticket.sold' AND actor_kind = 'page'`); n != 1 {
		t.Errorf("%d events say that the page sold", n)
	}
	refused("without an address", fault.InvalidParameter, func(n *booking.NewTicket) { n.CustomerEmail = nil })
	refused("more than are left", fault.Conflict, func(n *booking.NewTicket) { n.Quantity = 3 })
	paused := timespan.NewDate(2027, time.March, 2)
	w.change(func(o *catalog.Snapshot) { o.Bookings.PausedUntil = &paused })
	refused("paused", fault.NotAcceptingBookings, func(n *booking.NewTicket) { n.CustomerEmail = nil })
	w.change(func(o *catalog.Snapshot) { o.Bookings.PausedUntil = nil })
	w.clock.Advance(14*time.Hour - time.Microsecond)
	if _, err := w.buyTickets("", nil); err != nil {
		t.Errorf("just before it begins: %v", err)
	}
	w.clock.Advance(time.Microsecond)
	refused("it has begun", fault.Conflict, nil)
}

func TestPageTicketsAnswerQuestions(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.change(withGala(setPublic))
	w.change(func(o *catalog.Snapshot) {
		o.Form = []catalog.Question{
			{Key: "meal", Type: catalog.QuestionText, MaxLength: 10, Required: true, EventIDs: []uuid.UUID{galaID}},
			{Key: "other", Type: catalog.QuestionText, MaxLength: 10, Required: true, EventIDs: []uuid.UUID{otherID}},
			{Key: "news", Type: catalog.QuestionCheckbox, Consent: true},
		}
	})
	answering := func(form string) func(*booking.NewTicket) {
		return func(n *booking.NewTicket) { n.FormData, n.CustomerPhone = json.RawMessage(form), new(" +351 1 777 ") }
	}
	for name, change := range map[string]func(*booking.NewTicket){
		"no answer": nil, "too long": answering(`{"meal": "hazelnut cake"}`), "no object": answering(`[]`),
		"a phone number on two lines": func(n *booking.NewTicket) {
			answering(`{"meal": "fish"}`)(n)
			n.CustomerPhone = new("1\n2")
		},
	} {
		if _, err := w.buyTickets("", change); !fault.Is(err, fault.InvalidParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	const sent = `{"meal": "fish", "other": "x", "_consent": {"news": true, "gone": true}}`
	order := tickets(vipID, 1)
	answering(sent)(&order)
	bought, err := w.buyTickets("", answering(sent))
	result, ownersErr := w.client().SellTicket(actor.With(t.Context(), ownerActor), w.offer.ID, order)
	if err := errors.Join(err, ownersErr); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[uuid.UUID]string{
		bought.ID: `{"meal": "fish", "_consent": {"news": true}}`,
		result.ID: `{"meal": "fish", "other": "x"}`, // only the customer can give consent
	} {
		stored, err := w.client().Ticket(t.Context(), w.offer.ID, id)
		if err != nil || stored.CustomerPhone == nil || *stored.CustomerPhone != "+351 1 777" || cmp.Diff(decodeObject(t, want),
			decodeObject(t, string(stored.FormData))) != "" {
			t.Errorf("stored %+v with the answers %s, %v", stored, stored.FormData, err)
		}
	}
}

func decodeObject(t *testing.T, object string) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(object), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestPageRejectsUnpayableTickets shows that the page sells no ticket that must be paid online if
// booking cannot take the payment.
func TestPageRejectsUnpayableTickets(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	for _, c := range []struct {
		mode, requirement string
		price             int64
		providers         []string
		isRefused         bool
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
			e.Public, e.PaymentRequirement, e.DepositValue, e.TotalCapacity = true, c.requirement,
				new(decimal.NewFromInt(20)), 100
			e.Tiers[0].Price, e.Tiers[0].Capacity = c.price, 100
		}))
		w.change(func(o *catalog.Snapshot) { o.Payments.Modes.Events, o.Payments.Providers = c.mode, c.providers })
		_, err := w.buyTickets("", nil)
		if fault.Is(err, fault.PaymentNotOffered) != c.isRefused || !c.isRefused && err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		if _, err := w.client().SellTicket(actor.With(t.Context(), ownerActor), w.offer.ID, tickets(seatID, 1)); err != nil {
			t.Errorf("the owner, %+v: %v", c, err)
		}
	}
}

func TestOrderOfTiersIsAllOrNothing(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.change(withGala(func(e *catalog.Event) { e.Public, e.Tiers[0].Price, e.Tiers[1].Price = true, 6000, 12000 }))
	order := func(seats, vips int) func(*booking.NewTicket) {
		return func(n *booking.NewTicket) {
			n.TierID, n.Quantity = uuid.Nil, 0
			n.Tiers = []booking.OrderedTier{{TierID: vipID, Quantity: vips}, {TierID: seatID, Quantity: seats}}
		}
	}
	_, err := w.buyTickets("", order(4, 3))
	if !fault.Is(err, fault.Conflict) ||
		fault.Of(err).Sentence != "Sold out: asked for 7, while 4 are left of Seat, 2 are left of VIP and 5 of the event." {
		t.Errorf("an order of more tickets than a tier has: %v", err)
	}
	result, err := w.buyTickets("k", order(3, 1))
	if err != nil {
		t.Fatal(err)
	}
	want := booking.Ticket{
		ID: result.ID, Status: "sold", EventID: galaID, EventName: "Gala", TierName: "Seat, VIP", Quantity: 4,
		Total: new(json.Number("270.00")), Currency: "EUR",
		Tiers: []booking.SoldTier{ // four tickets are a group, which gets a discount of one tenth
			{TierID: seatID, TierName: "Seat", Quantity: 3, Price: new(json.Number("54.00"))},
			{TierID: vipID, TierName: "VIP", Quantity: 1, Price: new(json.Number("108.00"))},
		},
		Date: "2027-03-01", StartTime: "22:00:00", Timezone: "Europe/Lisbon",
		CustomerName: "Zoë", CustomerEmail: new("zoe@example.com"), FormData: json.RawMessage("{}"), Locale: "pt",
		CreatedAt: now, ManageURL: result.ManageURL,
	}
	if diff := cmp.Diff(want, *result); diff != "" {
		t.Error(diff)
	}
	if second, err := w.buyTickets("k", order(3, 1)); err != nil || cmp.Diff(want, *second) != "" {
		t.Errorf("a second click: %+v, %v", second, err)
	}
	if _, err := w.buyTickets("", order(1, 1)); !fault.Is(err, fault.Conflict) {
		t.Errorf("more than the event has left: %v", err)
	}
	wantSales := []booking.EventSales{{EventID: galaID, Sold: 4, Tiers: []booking.TierSales{{TierID: seatID, Sold: 3},
		{TierID: vipID, Sold: 1}}}}
	if sales, err := w.client().Sales(t.Context(), w.offer.ID, []uuid.UUID{galaID}); err != nil || cmp.Diff(wantSales,
		sales.Events) != "" {
		t.Errorf("sales are %+v, %v", sales, err)
	}
	w.set(func(w *fixture) { w.pricesErr = errors.New("away") })
	if _, err := w.buyTickets("", nil); !fault.Is(err, fault.AvailabilityUnverified) {
		t.Errorf("without a price: %v", err)
	}
	if _, err := w.client().CancelTicket(t.Context(), w.offer.ID, result.ID, booking.Cancel{}); err != nil {
		t.Error(err)
	}
	if n := w.count(`SELECT sum(sold) FROM tier_sales`) + w.count(`SELECT sum(sold) FROM event_sales`); n != 0 {
		t.Errorf("%d are counted of an order that is cancelled", n)
	}
}

func TestSellRejectsInvalidTiers(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.change(withGala(setPublic))
	at := w.internal + "/internal/businesses/" + w.offer.ID.String() + "/tickets"
	body := func(rest string) string {
		return `{"slug":"harbor","event_id":"` + galaID.String() +
			`","customer_name":"Zoë","customer_email":"zoe@example.com",` + rest + `}`
	}
	one := `{"tier_id":"` + seatID.String() + `","quantity":1}`
	for rest, sentence := range map[string]string{
		`"tiers":[]`: "tiers: ", `"tiers":[` + one + `],"quantity":1`: "tiers: ", `"tiers":[` + one + `,` + one +
			`]`: "tiers: ",
		`"tiers":[{"tier_id":"x","quantity":1}]`:                "tiers[0].tier_id: ",
		`"tiers":[` + strings.Replace(one, "1}", "0}", 1) + `]`: "quantity: ",
		`"tiers":"x"`: "The body must be ",
	} {
		a := w.send(http.MethodPost, at, body(rest), http.Header{})
		w.expect(rest, a, 400, "invalid_parameter")
		if !strings.HasPrefix(a.body.Error, sentence) {
			t.Errorf("%s: %s", rest, a.body.Error)
		}
	}
}

// TestOrderNamesPricingRules shows that an order stores the labels of the pricing rules. It shows them
// even after the business removes the rules.
func TestOrderNamesPricingRules(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.change(withGala(setPublic))
	w.change(func(o *catalog.Snapshot) {
		o.Events[0].TotalCapacity, o.Events[0].Tiers[0].Capacity, o.Events[0].Tiers[0].Price = 9, 9, 3000
		o.Rules = []catalog.Rule{{Key: "group", Kind: rule.PartySize, Label: catalog.Label{Text: "Groups of four"}}}
	})
	want := []booking.PriceChange{{Rule: "group", Kind: string(rule.PartySize), Label: "Groups of four"}}
	four, err := w.buyTickets("", func(n *booking.NewTicket) { n.Quantity = 4 })
	if err != nil || !slices.Equal(four.PriceChanges, want) {
		t.Fatalf("got %+v, %v", four, err)
	}
	w.change(func(o *catalog.Snapshot) { o.Rules = nil })
	if stored, err := w.client().Ticket(actor.With(t.Context(), ownerActor), w.offer.ID, four.ID); err != nil ||
		!slices.Equal(stored.PriceChanges, want) {
		t.Errorf("later: %+v, %v", stored, err)
	}
	if one, err := w.buyTickets("", nil); err != nil || one.PriceChanges != nil {
		t.Errorf("without a change of the price: %+v, %v", one, err)
	}
}
