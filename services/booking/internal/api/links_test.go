package api_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// TestBookAnswersWithCustomerLink shows that the response to a booking has the customer's link. A repeated request
// and a later call of Link return the same link. The tables have only the hash of its token.
func TestBookAnswersWithCustomerLink(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.change(withGala(noChange))
	key, client := w.key("write"), w.client()
	booked := w.book(key, newOrder("10:00", nil), "Idempotency-Key", "first")
	second := w.book(key, newOrder("10:00", nil), "Idempotency-Key", "first")
	order, err := client.SellTicket(t.Context(), w.offer.ID, tickets(vipID, 1))
	if err != nil {
		t.Fatal(err)
	}
	if second.body.ManageURL != booked.body.ManageURL || second.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the link of a repeated request is %q, was %q", second.body.ManageURL, booked.body.ManageURL)
	}
	for kind, sale := range map[event.SubjectKind]struct {
		id  uuid.UUID
		url string
	}{event.Booking: {booked.body.Booking.ID, booked.body.ManageURL}, event.Ticket: {order.ID, order.ManageURL}} {
		shown, err := client.Link(t.Context(), w.offer.ID, kind, sale.id)
		if err != nil || shown != sale.url {
			t.Errorf("the link of a %s is %q, but the sale returned %q: %v", kind, shown, sale.url, err)
		}
		token, leads := strings.CutPrefix(sale.url, pagesURL+"/m/")
		hash, ok := link.HashToken(token)
		if !leads || !ok {
			t.Fatalf("%q is not a link", sale.url)
		}
		if n := w.countOf(`SELECT count(*) FROM `+string(kind)+`s WHERE id = $1 AND link_hash = $2`, sale.id,
			hash); n != 1 {
			t.Errorf("%d rows of a %s have the link's hash", n, kind)
		}
		if n := w.countOf(`SELECT count(*) FROM `+string(kind)+`s t WHERE t::text LIKE '%' || $1 || '%'`,
			token); n != 0 {
			t.Errorf("the token of a %s is in its table", kind)
		}
		if _, err := client.Link(t.Context(), uuid.New(), kind, sale.id); !fault.Is(err, fault.NotFound) {
			t.Errorf("another business is shown the link of a %s: %v", kind, err)
		}
	}
	read, err := client.Booking(t.Context(), w.offer.ID, booked.body.Booking.ID)
	if err != nil || read.ID != booked.body.Booking.ID || read.Status != "pending" || read.CustomerEmail == "" {
		t.Errorf("the booking is read as %+v, %v", read, err)
	}
	if _, err := client.Booking(t.Context(), uuid.New(), booked.body.Booking.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("another business reads the booking: %v", err)
	}
	list, err := client.Tickets(t.Context(), w.offer.ID, booking.TicketFilter{}, request.Page{})
	if err != nil || len(list.Tickets) != 1 || list.Tickets[0].ManageURL != "" {
		t.Errorf("the list of orders shows links: %+v, %v", list, err)
	}
}
