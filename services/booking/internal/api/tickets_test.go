package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

var (
	galaID  = uuid.MustParse("44444444-4444-4444-8444-444444444444")
	seatID  = uuid.MustParse("55555555-5555-4555-8555-555555555555")
	vipID   = uuid.MustParse("66666666-6666-4666-8666-666666666666")
	otherID = uuid.MustParse("77777777-7777-4777-8777-777777777777")
)

// withGala adds an event tonight, from 22:00 to 01:30, with two tiers and 5 tickets in total.
func withGala(change func(*catalog.Event)) func(*catalog.Snapshot) {
	return func(o *catalog.Snapshot) {
		event := catalog.Event{
			ID: galaID, Name: "Gala", Date: timespan.NewDate(2027, time.March, 1), Start: 22 * 60, End: 90,
			Active: true, TotalCapacity: 5,
			Tiers: []catalog.Tier{{ID: seatID, Name: "Seat", Capacity: 4}, {ID: vipID, Name: "VIP", Capacity: 2}},
		}
		change(&event)
		o.Modules.Events = true
		o.Events = []catalog.Event{event, {ID: otherID, Name: "Other", Date: event.Date, Active: true}}
	}
}

func noChange(*catalog.Event) {}

func tickets(tier uuid.UUID, quantity int) booking.NewTicket {
	return booking.NewTicket{Slug: "harbor", EventID: galaID, TierID: tier, Quantity: quantity, CustomerName: " Zoë ",
		CustomerEmail: new(" zoe@example.com"), Locale: "pt-BR"}
}

func TestPeersSellListAndCancelTickets(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.change(withGala(noChange))
	client, business := w.client(), w.offer.ID
	order, err := client.SellTicket(t.Context(), business, tickets(vipID, 2))
	if err != nil {
		t.Fatal(err)
	}
	want := booking.Ticket{
		ID: order.ID, Status: "sold", EventID: galaID, EventName: "Gala", TierID: vipID, TierName: "VIP",
		Tiers: []booking.SoldTier{{TierID: vipID, TierName: "VIP", Quantity: 2}}, Currency: "EUR",
		Date: "2027-03-01", StartTime: "22:00:00", Timezone: "Europe/Lisbon", Quantity: 2, CustomerName: "Zoë",
		CustomerEmail: new("zoe@example.com"), FormData: json.RawMessage("{}"), Locale: "pt",
		CreatedAt: now, ManageURL: order.ManageURL,
	}
	if diff := cmp.Diff(want, *order); diff != "" {
		t.Error(diff)
	}
	for _, sentence := range []string{"Sold out: asked for 1, while 0 are left of VIP and 3 of the event."} {
		if _, err := client.SellTicket(t.Context(), business, tickets(vipID, 1)); !fault.Is(err, fault.Conflict) ||
			fault.Of(err).Sentence != sentence {
			t.Errorf("a sale of one ticket too many: %v", err)
		}
	}
	if _, err := client.SellTicket(t.Context(), business, tickets(seatID, 4)); !fault.Is(err, fault.Conflict) {
		t.Errorf("more than the event has left: %v", err)
	}
	wantSales := &booking.Sales{Events: []booking.EventSales{{EventID: galaID, Sold: 2,
		Tiers: []booking.TierSales{{TierID: vipID, Sold: 2}}}}}
	if sales, err := client.Sales(t.Context(), business, []uuid.UUID{otherID, galaID}); err != nil ||
		cmp.Diff(wantSales, sales) != "" {
		t.Errorf("sales are %+v, %v", sales, err)
	}
	if n, err := client.TicketsAhead(t.Context(), business, "harbor"); err != nil || n != 2 {
		t.Errorf("%d future tickets, %v; want 2", n, err)
	}
	if _, err := client.TicketsAhead(t.Context(), uuid.New(), "harbor"); !fault.Is(err, fault.InvalidParameter) {
		t.Errorf("future tickets of another business: %v", err)
	}
	w.clock.Advance(time.Minute)
	cancelled, err := client.CancelTicket(t.Context(), business, order.ID, booking.Cancel{})
	at := w.clock.Now()
	want.Status, want.CancelledAt, want.ManageURL = "cancelled", &at, ""
	if err != nil || cmp.Diff(want, *cancelled) != "" {
		t.Errorf("cancelled: %+v, %v", cancelled, err)
	}
	if _, err := client.CancelTicket(t.Context(), business, order.ID, booking.Cancel{}); !fault.Is(err, fault.Conflict) {
		t.Errorf("cancelled twice: %v", err)
	}
	if _, err := client.CancelTicket(t.Context(), business, uuid.New(), booking.Cancel{}); !fault.Is(err,
		fault.NotFound) {
		t.Errorf("unknown tickets: %v", err)
	}
	event := galaID
	list, err := client.Tickets(t.Context(), business, booking.TicketFilter{EventID: &event}, request.Page{})
	if err != nil || cmp.Diff(&booking.TicketList{Tickets: []booking.Ticket{want}}, list) != "" {
		t.Errorf("the list is %+v, %v", list, err)
	}
	event = otherID
	if list, err := client.Tickets(t.Context(), business, booking.TicketFilter{EventID: &event},
		request.Page{}); err != nil || list.Tickets == nil || len(list.Tickets) != 0 {
		t.Errorf("the tickets of another event: %+v, %v", list, err)
	}
}

func TestSellRejectsUnofferedOrEndedEvents(t *testing.T) {
	t.Parallel()
	end := time.Date(2027, 3, 2, 1, 30, 0, 0, time.UTC) // Lisbon is on UTC in March
	for name, c := range map[string]struct {
		offer func(*catalog.Snapshot)
		order booking.NewTicket
		at    time.Time
		kind  fault.Kind
	}{
		"a private event": {withGala(func(e *catalog.Event) {
			e.Public = false
		}), tickets(seatID, 1), now, fault.Kind{}},
		"at the door":   {withGala(noChange), tickets(seatID, 1), end.Add(-time.Second), fault.Kind{}},
		"after the end": {withGala(noChange), tickets(seatID, 1), end, fault.Conflict},
		"an inactive event": {withGala(func(e *catalog.Event) {
			e.Active = false
		}), tickets(seatID, 1), now, fault.Conflict},
		"an event of no module": {func(o *catalog.Snapshot) {
			withGala(noChange)(o)
			o.Modules.Events = false
		}, tickets(seatID, 1), now, fault.NotFound},
		"an unknown event": {withGala(func(e *catalog.Event) {
			e.ID = uuid.New()
		}), tickets(seatID, 1), now, fault.NotFound},
		"an unknown tier": {withGala(noChange), tickets(otherID, 1), now, fault.NotFound},
		"another business": {func(o *catalog.Snapshot) {
			withGala(noChange)(o)
			o.ID = uuid.New()
		}, tickets(seatID, 1), now, fault.InvalidParameter},
		"an unknown business": {func(o *catalog.Snapshot) {
			withGala(noChange)(o)
			o.Slug = "quay"
		}, tickets(seatID, 1), now, fault.BusinessNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := open(t, noLimits)
			business := w.offer.ID
			w.change(c.offer)
			w.clock.Advance(c.at.Sub(now))
			_, err := w.client().SellTicket(t.Context(), business, c.order)
			if c.kind.Code == "" && err != nil || c.kind.Code != "" && !fault.Is(err, c.kind) {
				t.Errorf("got %v, want %s", err, c.kind.Code)
			}
		})
	}
}

func TestSellRejectsInvalidFields(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.change(withGala(noChange))
	at := w.internal + "/internal/businesses/" + w.offer.ID.String() + "/tickets"
	good := `{"slug":"harbor","event_id":"` + galaID.String() + `","tier_id":"` + vipID.String() +
		`","quantity":1,"customer_name":"Zoë","customer_email":"zoe@example.com"}`
	for field, change := range map[string][2]string{
		"event_id":       {galaID.String(), "gala"},
		"tier_id":        {vipID.String(), ""},
		"quantity":       {`"quantity":1`, `"quantity":0`},
		"quantity:":      {`"quantity":1`, `"quantity":1001`},
		"The body":       {`"quantity":1`, `"quantity":1.5`},
		"The body must":  {`{`, `[`},
		"customer_name":  {"Zoë", " "},
		"customer_email": {"zoe@example.com", "zoe"},
		"customer_name:": {"Zoë", `a\nb`},
	} {
		a := w.send(http.MethodPost, at, strings.Replace(good, change[0], change[1], 1), http.Header{})
		w.expect(field, a, 400, "invalid_parameter")
		if !strings.HasPrefix(a.body.Error, field) {
			t.Errorf("%s: %s", field, a.body.Error)
		}
	}
	for path, body := range map[string]string{"/sales": `{"event_ids": ["x"]}`, "/x/cancel": ""} {
		w.expect(path, w.send(http.MethodPost, at+path, body, http.Header{}), 400, "invalid_parameter")
	}
	for _, query := range []string{"event_id=x", "limit=0", "cursor=x"} {
		w.expect(query, w.send(http.MethodGet, at+"?"+query, "", http.Header{}), 400, "invalid_parameter")
	}
	if n := w.count(`SELECT count(*) FROM tickets`); n != 0 {
		t.Errorf("%d orders were written", n)
	}
}
