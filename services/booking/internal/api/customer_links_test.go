package api_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/postal"
)

// pages returns a client of the internal API, as the service `pages` uses it.
func (w *fixture) pages() *bookingclient.Links {
	p := peer.New("booking", w.internal, telemetry.Discard(), peer.Timeout(2*time.Minute))
	w.t.Cleanup(p.Close)
	return bookingclient.NewLinks(p)
}

// tokenOf returns the token in a customer's link.
func tokenOf(url string) string { return strings.TrimPrefix(url, pagesURL+"/m/") }

// allowCustomers lets customers cancel and reschedule until these numbers of hours before the start; nil means never.
func allowCustomers(cancel, reschedule *int) func(*catalog.Snapshot) {
	return func(o *catalog.Snapshot) {
		o.SelfService = catalog.SelfService{CancelUntilHours: cancel, RescheduleUntilHours: reschedule}
	}
}

var noRefund = booking.CancelByLink{Refund: func() *json.Number { n := json.Number("0"); return &n }()}

func TestCustomerLinkHidesInternalFields(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.change(allowCustomers(new(int), nil))
	pages := w.pages()
	a := w.book(w.key("write"), newOrder("10:00", map[string]any{"staff_id": annaID, "source": "secret-campaign",
		"form_data": map[string]any{"allergies": "nuts"}}))
	w.expect("booked", a, 201, "")
	got, err := pages.CustomerView(t.Context(), tokenOf(a.body.ManageURL))
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2027, 3, 2, 10, 0, 0, 0, time.UTC)
	name, anna := "Anna", annaID
	want := &booking.CustomerView{
		Kind:     event.Booking,
		Business: w.offer.LinkBusiness(),
		Booking: &booking.CustomerBooking{
			ID: a.body.Booking.ID, Status: "pending", Date: "2027-03-02", StartTime: "10:00:00", EndTime: "10:45:00",
			StartsAt: start, EndsAt: start.Add(45 * time.Minute),
			Timezone: "Europe/Lisbon", Services: []booking.BookedService{{ID: cutID, Name: "Haircut",
				DurationMinutes: 45, Price: got.Booking.Services[0].Price}},
			StaffID: &anna, StaffName: &name, PartySize: 1, StaffRequested: true, Total: got.Booking.Total,
			Currency: "EUR", CustomerName: "Zoë", MaskedEmail: "z…@example.com", Locale: got.Booking.Locale,
			Sequence: 1, CreatedAt: now,
			Cancellation: booking.Cancellation{Allowed: true, Refund: booking.CancellationRefund{Amount: "0.00",
				Currency: "EUR"}, Until: &start, Deadline: &start},
			Reschedule: booking.ReschedulePermission{Reason: booking.CancelNotOffered},
		},
	}
	want.Booking.Cancellation.Refund.Amount = got.Booking.Cancellation.Refund.Amount
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	raw := w.read("/internal/manage/" + tokenOf(a.body.ManageURL))
	for _, hidden := range []string{"secret-campaign", "nuts", "zoe@example.com", "link_hash", w.offer.ID.String()} {
		if strings.Contains(raw.text, hidden) {
			t.Errorf("the customer is shown %s: %s", hidden, raw.text)
		}
	}
	if raw.header.Get("Cache-Control") != "no-store" {
		t.Errorf("the answer may be cached: %v", raw.header)
	}
	w.change(func(o *catalog.Snapshot) { o.NameTranslations = map[string]string{got.Booking.Locale: "Porto"} })
	ics := w.read("/internal/manage/" + tokenOf(a.body.ManageURL) + "/calendar")
	if diff := cmp.Diff([]entry{{UID: a.body.Booking.ID.String(), Summary: "Haircut", Description: "Anna",
		Status: "TENTATIVE",
		Start:  "2027-03-02T10:00:00.000Z", End: "2027-03-02T10:45:00.000Z",
		Sequence: 1}}, entries(t, ics.text)); diff != "" {
		t.Errorf("the calendar (-want +got):\n%s", diff)
	}
	if !strings.Contains(ics.text, "\nLOCATION:Porto\r\n") {
		t.Errorf("the location is not the name of the business in the customer's language:\n%s", ics.text)
	}
}

// TestCalendarFileNamesPlace shows that the calendar files of bookings and of orders of tickets have the address and
// the position of the business's place.
func TestCalendarFileNamesPlace(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.change(withGala(noChange))
	w.change(func(o *catalog.Snapshot) {
		o.Locations = []catalog.Location{{
			Kind: catalog.KindPlace, Geo: &catalog.Geo{Lat: 38.71, Lon: -9.13},
			Address: postal.Address{Street: "Rua 1", PostalCode: "1100-001", City: "Lisboa", Country: "PT"},
		}}
	})
	sold, err := w.client().SellTicket(t.Context(), w.offer.ID, tickets(vipID, 2))
	if err != nil {
		t.Fatal(err)
	}
	booked := w.book(w.key("write"), newOrder("10:00", nil))
	for _, link := range []string{sold.ManageURL, booked.body.ManageURL} {
		text := w.read("/internal/manage/" + tokenOf(link) + "/calendar").text
		for _, line := range []string{`LOCATION:Rua 1\, 1100-001 Lisboa\, Portugal`, "GEO:38.710000;-9.130000"} {
			if !strings.Contains(text, "\r\n"+line) {
				t.Errorf("the calendar has no %s:\n%s", line, text)
			}
		}
	}
}

func TestCustomerLinkShowsTickets(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.change(withGala(noChange))
	order, err := w.client().SellTicket(t.Context(), w.offer.ID, tickets(vipID, 2))
	if err != nil {
		t.Fatal(err)
	}
	pages, token := w.pages(), tokenOf(order.ManageURL)
	got, err := pages.CustomerView(t.Context(), token)
	if err != nil || got.Kind != event.Ticket || got.Booking != nil || got.Ticket.ID != order.ID ||
		got.Ticket.EventName != "Gala" || got.Ticket.Quantity != 2 ||
		got.Ticket.StartTime != "22:00:00" || !got.Ticket.EndsAt.After(got.Ticket.StartsAt) {
		t.Errorf("%+v, %v", got.Ticket, err)
	}
	if _, err := w.client().CancelTicket(t.Context(), w.offer.ID, order.ID, booking.Cancel{}); err != nil {
		t.Fatal(err)
	}
	ics := entries(t, w.read("/internal/manage/"+token+"/calendar").text)
	if len(ics) != 1 || ics[0].UID != order.ID.String() || ics[0].Status != "CANCELLED" || ics[0].Sequence != 2 ||
		ics[0].Description != "VIP × 2" {
		t.Errorf("the calendar: %+v", ics)
	}
	for what, err := range map[string]error{
		"cancel":  ignoreFirst(pages.Cancel(t.Context(), token, noRefund)),
		"payment": ignoreFirst(pages.OpenPayment(t.Context(), token)),
	} {
		if !fault.Is(err, fault.Conflict) {
			t.Errorf("%s of tickets: %v", what, err)
		}
	}
}

func ignoreFirst[T any](_ T, err error) error { return err }

// changeSale executes a statement for the row of a link; its first argument is the hash of the token.
func (w *fixture) changeSale(token, sql string, args ...any) {
	w.t.Helper()
	hash, _ := link.HashToken(token)
	if _, err := w.pool.Exec(w.t.Context(), sql, append([]any{hash}, args...)...); err != nil {
		w.t.Fatal(err)
	}
}

// TestInvalidLinksGetSameAnswer shows that every invalid token gets the same response from every endpoint. The
// response does not show why the token is invalid.
func TestInvalidLinksGetSameAnswer(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.change(withGala(noChange))
	w.change(allowCustomers(new(int), new(int)))
	booked := func(at string) string {
		return tokenOf(w.book(w.key("write"), newOrder(at, map[string]any{"staff_id": annaID})).body.ManageURL)
	}
	old, forgotten, live := booked("10:00"), booked("12:00"), booked("14:00")
	order, err := w.client().SellTicket(t.Context(), w.offer.ID, tickets(vipID, 1))
	if err != nil {
		t.Fatal(err)
	}
	w.changeSale(forgotten, `UPDATE bookings SET link_hash = NULL WHERE link_hash = $1`)
	w.changeSale(old,
		`UPDATE bookings SET starts_at = $2::timestamptz - interval '1 hour', ends_at = $2 WHERE link_hash = $1`,
		now.Add(-link.Lifetime))
	ask := func(token, what string) page {
		token = url.PathEscape(token)
		if what == "/cancel" || what == "/reschedule" || what == "/payment" {
			a := w.send(http.MethodPost, w.internal+"/internal/manage/"+token+what, `{"refund": 0}`,
				http.Header{"Content-Type": {"application/json"}})
			return page{a.status, a.header, a.text}
		}
		return w.read("/internal/manage/" + token + what)
	}
	if got := ask(old, ""); got.status != http.StatusOK {
		t.Fatalf("on the last day: %d %s", got.status, got.text)
	}
	w.clock.Advance(time.Microsecond)
	one := ask(old, "")
	if one.status != http.StatusNotFound {
		t.Fatalf("30 days after the end: %d %s", one.status, one.text)
	}
	same := func(rt interface{ Fatalf(string, ...any) }, name, token string) {
		for _, what := range []string{"", "/calendar", "/payment", "/cancel", "/reschedule"} {
			got := ask(token, what)
			for _, own := range []string{"Date", "Traceparent"} {
				got.header.Del(own)
				one.header.Del(own)
			}
			if got.status != one.status || got.text != one.text ||
				got.header.Get("Cache-Control") != one.header.Get("Cache-Control") {
				rt.Fatalf("%s%s: %d %s", name, what, got.status, got.text)
			}
		}
	}
	same(t, "old", old)
	same(t, "forgotten", forgotten)
	rapid.Check(t, func(rt *rapid.T) {
		if token := rapid.OneOf(rapid.StringMatching(`[A-Za-z0-9_-]{22}`),
			rapid.StringMatching(`[A-Za-z0-9_=+%.-]{1,30}`)).Draw(rt, "token"); token != "." && token != ".." {
			same(rt, token, token)
		}
	})
	if got := ask(live, ""); got.status != http.StatusOK {
		t.Errorf("the live one: %d", got.status)
	}
	w.change(func(o *catalog.Snapshot) { o.ID = uuid.New() })
	same(t, "of a removed business", live)
	same(t, "tickets of a removed business", tokenOf(order.ManageURL))
}

func TestCustomerLinkCancelsUntilDeadline(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	pages := w.pages()
	booked := func(at string) string {
		return tokenOf(w.book(w.key("write"), newOrder(at, map[string]any{"staff_id": annaID})).body.ManageURL)
	}
	token, late := booked("10:00"), booked("12:00")
	if _, err := pages.Cancel(t.Context(), token, noRefund); !fault.Is(err, fault.Conflict) {
		t.Errorf("where customers never cancel: %v", err)
	}
	w.change(allowCustomers(new(int), nil))
	five := json.Number("5")
	for what, req := range map[string]booking.CancelByLink{"nothing": {}, "less": {Refund: func() *json.Number {
		n := json.Number("-1")
		return &n
	}()}} {
		if _, err := pages.Cancel(t.Context(), token, req); !fault.Is(err, fault.InvalidParameter) {
			t.Errorf("agreed to %s: %v", what, err)
		}
	}
	if _, err := pages.Cancel(t.Context(), token, booking.CancelByLink{Refund: &five}); !fault.Is(err, fault.Conflict) {
		t.Errorf("another refund than was seen: %v", err)
	}
	got, err := pages.Cancel(t.Context(), token, noRefund)
	if err != nil || got.Booking.Status != "cancelled" || got.Booking.Sequence != 2 ||
		got.Booking.Cancellation.Allowed {
		t.Errorf("%+v, %v", got, err)
	}
	if n := w.count(`SELECT count(*) FROM events WHERE type = 'booking.cancelled' AND actor_kind = 'customer'`); n != 1 {
		t.Errorf("%d events say that the customer cancelled", n)
	}
	w.expect("the time is free", w.book(w.key("write"),
		newOrder("10:00", map[string]any{"staff_id": annaID, "customer_email": "b@example.com"})), 201, "")
	w.clock.Advance(27*time.Hour + time.Microsecond + time.Hour) // after 12:00 of the next day
	if _, err := pages.Cancel(t.Context(), late, noRefund); !fault.Is(err, fault.Conflict) {
		t.Errorf("after the start: %v", err)
	}
}

func TestCustomerLinkReschedulesUntilDeadline(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.change(setAdvanceMonth)
	pages, twelve := w.pages(), 12
	token := tokenOf(w.book(w.key("write"), newOrder("10:00", map[string]any{"staff_id": annaID})).body.ManageURL)
	target := booking.Reschedule{Date: "2027-03-03", Time: "11:15", Override: true}
	if _, err := pages.Reschedule(t.Context(), token, target); !fault.Is(err, fault.Conflict) {
		t.Errorf("a reschedule although customers may never reschedule: %v", err)
	}
	w.change(allowCustomers(nil, &twelve))
	if _, err := pages.Reschedule(t.Context(), token,
		booking.Reschedule{Date: "tomorrow", Time: "11:15"}); !fault.Is(err, fault.InvalidParameter) {
		t.Errorf("no date: %v", err)
	}
	got, err := pages.Reschedule(t.Context(), token, target)
	if err != nil || got.Booking.Date != "2027-03-03" || got.Booking.StartTime != "11:15:00" ||
		!got.Booking.Reschedule.Allowed ||
		!got.Booking.Reschedule.Until.Equal(time.Date(2027, 3, 2, 23, 15, 0, 0, time.UTC)) {
		t.Fatalf("rescheduled: %+v, %v", got, err)
	}
	if n := w.count(`SELECT count(*) FROM events WHERE type = 'booking.rescheduled' AND actor_kind = 'customer'`); n != 1 {
		t.Errorf("%d events record the reschedule of the customer", n)
	}
	w.clock.Advance(got.Booking.Reschedule.Until.Sub(w.clock.Now()) + time.Microsecond)
	if _, err := pages.Reschedule(t.Context(), token,
		booking.Reschedule{Date: "2027-03-04", Time: "10:00"}); !fault.Is(err, fault.Conflict) {
		t.Errorf("a reschedule after the deadline: %v", err)
	}
	if seen, err := pages.CustomerView(t.Context(), token); err != nil || seen.Booking.Reschedule.Allowed ||
		seen.Booking.Reschedule.Reason != booking.CancelTooLate {
		t.Errorf("seen: %+v, %v", seen, err)
	}
}

// TestCustomerLinkRetryGetsFirstAnswer shows that a repeated request of a customer gets the first response,
// even if the owner has cancelled the booking since then.
func TestCustomerLinkRetryGetsFirstAnswer(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.change(setAdvanceMonth)
	twelve := 12
	w.change(allowCustomers(&twelve, &twelve))
	pages := w.pages()
	booked := w.book(w.key("write"), newOrder("10:00", map[string]any{"staff_id": annaID})).body
	token := tokenOf(booked.ManageURL)
	target := booking.Reschedule{Date: "2027-03-03", Time: "11:15"}
	first, err := pages.Reschedule(withKey(t, "a"), token, target)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.client().Cancel(t.Context(), w.offer.ID, booked.Booking.ID, booking.Cancel{}); err != nil {
		t.Fatal(err)
	}
	if again, err := pages.Reschedule(withKey(t, "a"), token, target); err != nil || !cmp.Equal(again, first) {
		t.Errorf("repeated: %v\n%s", err, cmp.Diff(first, again))
	}
	if _, err := pages.Reschedule(withKey(t, "b"), token, target); !fault.Is(err, fault.Conflict) {
		t.Errorf("a new key: %v", err)
	}
	target.Time = "12:15"
	if _, err := pages.Reschedule(withKey(t, "a"), token, target); !fault.Is(err, fault.IdempotencyMismatch) {
		t.Errorf("another time under the key: %v", err)
	}
}

// TestIdempotencyKeyBelongsToOneLink shows that an idempotency key belongs to one link. Two customers, or a customer
// and the owner, can use the same key independently.
func TestIdempotencyKeyBelongsToOneLink(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.change(setAdvanceMonth)
	twelve := 12
	w.change(allowCustomers(&twelve, &twelve))
	pages, key := w.pages(), w.key("write")
	var tokens []string
	for _, at := range []string{"10:00", "12:00"} {
		tokens = append(tokens, tokenOf(w.book(key, newOrder(at, map[string]any{"staff_id": annaID})).body.ManageURL))
	}
	third := w.book(key, newOrder("14:00", map[string]any{"staff_id": annaID})).body
	if _, err := w.client().Cancel(withKey(t, "a"), w.offer.ID, third.Booking.ID, booking.Cancel{}); err != nil {
		t.Fatal(err)
	}
	for i, date := range []string{"2027-03-03", "2027-03-04"} {
		if _, err := pages.Reschedule(withKey(t, "a"), tokens[i],
			booking.Reschedule{Date: date, Time: "11:15"}); err != nil {
			t.Errorf("customer %d reschedules: %v", i, err)
		}
		if _, err := pages.Cancel(withKey(t, "b"), tokens[i],
			booking.CancelByLink{Refund: new(json.Number("0"))}); err != nil {
			t.Errorf("customer %d cancels: %v", i, err)
		}
	}
}

// TestCustomerCancelAndOwnerTransitionExclude cancels one booking as the customer and as the owner at
// the same time. One cancellation succeeds, the others get a conflict, and the seats are freed once.
func TestCustomerCancelAndOwnerTransitionExclude(t *testing.T) {
	t.Parallel()
	w := openStudio(t, 12, 0)
	w.change(allowCustomers(new(int), new(int)))
	pages, client := w.pages(), w.client()
	for round := range 8 {
		a := w.book(w.key("write"),
			newYogaBooking(2, map[string]any{"customer_email": "r" + string(rune('a'+round)) + "@example.com"}))
		w.expect("booked", a, 201, "")
		var (
			wg   sync.WaitGroup
			mu   sync.Mutex
			done int
		)
		for n := range 8 {
			wg.Go(func() {
				var err error
				if n%2 == 0 {
					_, err = pages.Cancel(t.Context(), tokenOf(a.body.ManageURL), noRefund)
				} else {
					_, err = client.Transition(t.Context(), w.offer.ID, a.body.Booking.ID, booking.TransitionCancel)
				}
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					done++
				case !fault.Is(err, fault.Conflict):
					t.Errorf("a race that was lost: %v", err)
				}
			})
		}
		wg.Wait()
		if done != 1 {
			t.Errorf("%d of 8 cancelled one booking", done)
		}
	}
	if n := w.count(`SELECT coalesce(sum(taken), 0) FROM class_sessions`); n != 0 {
		t.Errorf("%d seats are occupied without a booking", n)
	}
}

// TestSaleKeepsZoneAndCurrency changes the time zone and the currency of the business. A booking is shown and
// refunded in the zone and currency of its sale. A reschedule uses the new time zone and keeps the currency.
func TestSaleKeepsZoneAndCurrency(t *testing.T) {
	t.Parallel()
	s, f := openPolicyShop(t)
	s.change(allowCustomers(new(int), new(int)))
	s.change(withGala(setPublic))
	a := s.book(s.key, newOrder("15:00", map[string]any{"date": "2027-03-20"}))
	f.pay(a.payment(t).Reference)
	s.notify("payment_intent.succeeded", "acct_harbor", a.payment(t).Reference)
	order, err := s.client().SellTicket(actor.With(t.Context(), ownerActor), s.offer.ID, tickets(vipID, 1))
	if err != nil {
		t.Fatal(err)
	}
	s.change(func(o *catalog.Snapshot) { o.Timezone, o.Currency = "America/Chicago", "JPY" })
	pages, token := s.pages(), tokenOf(a.body.ManageURL)
	view, err := pages.CustomerView(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	if b := view.Booking; b.StartTime != "15:00:00" || b.Timezone != "Europe/Lisbon" || b.Currency != "EUR" ||
		b.Total != "40.00" || b.Cancellation.Refund.Currency != "EUR" {
		t.Errorf("the booking is shown as %+v", b)
	}
	ticket, err := pages.CustomerView(t.Context(), tokenOf(order.ManageURL))
	if err != nil || ticket.Ticket.Timezone != "Europe/Lisbon" || ticket.Ticket.Currency != "EUR" ||
		ticket.Ticket.StartTime != "22:00:00" {
		t.Errorf("the tickets are shown as %+v, %v", ticket.Ticket, err)
	}
	list, err := s.client().Bookings(t.Context(), s.offer.ID, booking.Filter{}, request.Page{})
	if err != nil || list.Bookings[0].Timezone != "Europe/Lisbon" || list.Bookings[0].Currency != "EUR" {
		t.Errorf("the list: %+v, %v", list, err)
	}
	moved, err := pages.Reschedule(t.Context(), token, booking.Reschedule{Date: "2027-03-21", Time: "09:00"})
	if err != nil || moved.Booking.Timezone != "America/Chicago" || moved.Booking.Currency != "EUR" ||
		!moved.Booking.StartsAt.Equal(time.Date(2027, 3, 21, 14, 0, 0, 0, time.UTC)) {
		t.Errorf("a reschedule: %+v, %v", moved, err)
	}
	cents := json.Number("40.00")
	cancelled, err := pages.Cancel(t.Context(), token, booking.CancelByLink{Refund: &cents})
	if err != nil || cancelled.Booking.Payment.Refund.Amount != "40.00" {
		t.Errorf("a cancellation: %+v, %v", cancelled, err)
	}
	s.step()
	if n := s.count(`SELECT refunded FROM payments`); n != 4000 {
		t.Errorf("%d was refunded", n)
	}
}
