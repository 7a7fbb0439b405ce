package api_test

import (
	"context"
	"encoding/json"
	"fmt"
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
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

var thePage = actor.Actor{Kind: actor.Page}

// newPageRequest returns a booking as the booking page sends it.
func newPageRequest(at string, change ...func(*booking.NewBooking)) booking.NewBooking {
	n := booking.NewBooking{ServiceIDs: []string{cutID.String()}, Date: "2027-03-02", Time: at, CustomerName: "Zoë",
		CustomerEmail: "zoe@example.com"}
	for _, c := range change {
		c(&n)
	}
	return n
}

// addAnswers sets the customer's answers to the form to this JSON object.
func addAnswers(form string) func(*booking.NewBooking) {
	return func(n *booking.NewBooking) { n.FormData = json.RawMessage(form) }
}

func setEmail(email string) func(*booking.NewBooking) {
	return func(n *booking.NewBooking) { n.CustomerEmail = email }
}

// bookOnPage books as the booking page does; `key` is the Idempotency-Key, or "" for none.
func (w *fixture) bookOnPage(key string, n booking.NewBooking) (*booking.Booking, error) {
	ctx := idempotency.With(actor.With(context.Background(), thePage), idempotency.Request{Key: key})
	return w.client().Book(ctx, w.offer.ID, "harbor", n)
}

// addQuestion gives the business a form with two questions for all services, one for haircuts and one for the sauna. A
// customer may have `limit` open bookings.
func addQuestion(limit int) func(*catalog.Snapshot) {
	label := func(text string) catalog.Label { return catalog.Label{Text: text} }
	return func(o *catalog.Snapshot) {
		o.Bookings.MaxOpenPerCustomer = limit
		o.Form = []catalog.Question{
			{Key: "level", Label: label("Your level"), Type: catalog.QuestionSelect, Required: true,
				Options: []catalog.QuestionOption{{Key: "new"}, {Key: "old"}}, ServiceIDs: []uuid.UUID{cutID}},
			{Key: "notes", Label: label("Notes"), Type: catalog.QuestionText, MaxLength: 10},
			{Key: "news", Label: label("News"), Type: catalog.QuestionCheckbox, Consent: true},
			{Key: "towel", Label: label("Towel?"), Type: catalog.QuestionCheckbox, Required: true,
				ServiceIDs: []uuid.UUID{saunaID}},
		}
	}
}

func TestPageBookingStoresConsent(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.change(addQuestion(20))
	got, err := w.bookOnPage("k", newPageRequest("09:30", addAnswers(`{"level": "new", "notes": " hi ", "_consent": {"news": true, "other": true}, "_other": 1, "gone": "x"}`)))
	if err != nil {
		t.Fatal(err)
	}
	if got.Source != "page" || got.Status != booking.StatusPending || !strings.HasPrefix(got.ManageURL,
		pagesURL+"/m/") {
		t.Errorf("booked %+v", got)
	}
	var stored any
	if err := json.Unmarshal(got.FormData, &stored); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"level": "new", "notes": "hi", "_consent": map[string]any{"news": true}},
		stored); diff != "" {
		t.Errorf("the form (-want +got):\n%s", diff)
	}
	if n := w.count(`SELECT count(*) FROM events WHERE type = 'booking.created' AND actor_kind = 'page' AND actor_id IS NULL`); n != 1 {
		t.Errorf("%d events say that the page booked", n)
	}
	w.expect("by API key", w.book(w.key("write"), newOrder("11:30",
		map[string]any{"form_data": map[string]any{"own": 1, "_consent": map[string]any{"news": true}}})), 201, "")
	if n := w.count(`SELECT count(*) FROM bookings WHERE source = 'api' AND form_data = '{"own": 1}' AND NOT on_page`); n != 1 {
		t.Errorf("%d bookings by an API key have their own answers and no consent", n)
	}
}

func TestOpenBookingsOfAddressAreLimited(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.change(func(o *catalog.Snapshot) { o.Bookings.MaxOpenPerCustomer = 2 })
	full := func(name string, n booking.NewBooking) {
		t.Helper()
		if _, err := w.bookOnPage("", n); !fault.Is(err, fault.TooManyOpen) || !strings.Contains(fault.Of(err).Sentence,
			"2 open bookings") {
			t.Errorf("%s: %v", name, err)
		}
	}
	fits := func(name string, n booking.NewBooking) uuid.UUID {
		t.Helper()
		b, err := w.bookOnPage("", n)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return b.ID
	}
	for _, hour := range []string{"08:30", "09:30", "10:30"} {
		w.expect("by API key", w.book(w.key("write"), newOrder(hour, nil)), 201, "")
	}
	first := fits("one", newPageRequest("11:30"))
	fits("two", newPageRequest("12:30"))
	full("three", newPageRequest("13:30", setEmail("ZOE@example.com")))
	fits("another address", newPageRequest("13:30", setEmail("zoe@example.org")))
	w.expect("by API key", w.book(w.key("write"), newOrder("14:30", nil)), 201, "")
	if _, err := w.client().Transition(t.Context(), w.offer.ID, first, booking.TransitionCancel); err != nil {
		t.Fatal(err)
	}
	fits("after one was cancelled", newPageRequest("15:30"))
	full("again", newPageRequest("16:30"))
	later := func(n *booking.NewBooking) { n.Date = "2027-03-04" }
	w.clock.Advance(29*time.Hour + 15*time.Minute - time.Microsecond) // just before the booking of 12:30 ends
	full("while both are not over", newPageRequest("09:30", later))
	w.clock.Advance(time.Microsecond)
	fits("after one is over", newPageRequest("09:30", later))
}

// TestOpenLimitCountsTicketsAndReservations shows that bookings, tickets and reservations of one e-mail
// address count together. Different spellings of the address are the same address.
func TestOpenLimitCountsTicketsAndReservations(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.change(func(o *catalog.Snapshot) { o.Bookings.MaxOpenPerCustomer = 3 })
	w.change(withGala(setPublic))
	charges, reservation := w.newPaymentsClient(), uuid.New()
	reserve := func(id uuid.UUID, address string) error {
		return charges.CountReservation(t.Context(), w.offer.ID, id, booking.OpenReservation{CustomerEmail: address,
			EndsAt: now.Add(48 * time.Hour), MaxOpen: 3})
	}
	buy := func(address string) (*booking.Ticket, error) {
		return w.buyTickets("", func(n *booking.NewTicket) { n.CustomerEmail = &address })
	}
	if _, err := w.bookOnPage("", newPageRequest("11:30", setEmail("zoe@b\u00fccher.example"))); err != nil {
		t.Fatal(err)
	}
	order, err := buy("ZOE@xn--bcher-kva.example")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // counting it twice changes nothing
		if err := reserve(reservation, "\uff5aoe@B\u00dcCHER.example"); err != nil {
			t.Fatal(err)
		}
	}
	full := func(when string) {
		t.Helper()
		_, bookErr := w.bookOnPage("", newPageRequest("12:30", setEmail("Zoe@b\u00fccher.example")))
		_, buyErr := buy("zoe@bu\u0308cher.example")
		for what, err := range map[string]error{"a booking": bookErr, "tickets": buyErr,
			"a reservation": reserve(uuid.New(), "zoe@b\u00fccher.example")} {
			if !fault.Is(err, fault.TooManyOpen) {
				t.Errorf("%s, %s: %v", when, what, err)
			}
		}
	}
	full("full")
	if _, err := w.client().CancelTicket(t.Context(), w.offer.ID, order.ID, booking.Cancel{}); err != nil {
		t.Fatal(err)
	}
	if _, err := buy("zoe@b\u00fccher.example"); err != nil {
		t.Errorf("after the tickets were cancelled: %v", err)
	}
	full("full again")
	if err := charges.UncountReservation(t.Context(), w.offer.ID, reservation); err != nil {
		t.Fatal(err)
	}
	if _, err := w.bookOnPage("", newPageRequest("13:30", setEmail("zoe@b\u00fccher.example"))); err != nil {
		t.Errorf("after the reservation was cancelled: %v", err)
	}
	full("full once more")
	w.clock.Advance(72 * time.Hour)
	if err := reserve(uuid.New(), "zoe@b\u00fccher.example"); err != nil {
		t.Errorf("when all has ended: %v", err)
	}
}

// TestOpenLimitHoldsConcurrently shows that exactly the allowed number of bookings succeeds when many clients book
// with one e-mail address at once.
func TestOpenLimitHoldsConcurrently(t *testing.T) {
	t.Parallel()
	const clients, most = 64, 20
	w := open(t, noLimits)
	w.change(func(o *catalog.Snapshot) { o.Bookings.MaxOpenPerCustomer = most })
	client := w.client()
	var (
		wg       sync.WaitGroup
		start    = make(chan struct{})
		outcomes = make([]error, clients)
	)
	for i := range clients {
		n := newPageRequest(fmt.Sprintf("%02d:00", 8+i%12),
			setEmail([]string{"zoe@example.com", "Zoe@Example.com"}[i%2]))
		// Three members at twelve hours on two days: each client has a free time.
		n.Date = fmt.Sprintf("2027-03-%02d", 2+i/36)
		wg.Go(func() {
			<-start
			ctx := idempotency.With(actor.With(context.Background(), thePage), idempotency.Request{Key: fmt.Sprint(i)})
			_, outcomes[i] = client.Book(ctx, w.offer.ID, "harbor", n)
		})
	}
	close(start)
	wg.Wait()
	booked := 0
	for _, err := range outcomes {
		switch {
		case err == nil:
			booked++
		case !fault.Is(err, fault.TooManyOpen):
			t.Errorf("a race that was lost: %v", err)
		}
	}
	if booked != most {
		t.Errorf("%d of %d requests booked, want %d", booked, clients, most)
	}
	w.expectRows(most)
}

// TestPageBookingIsCountedInOneStatement shows that a booking on the page takes as many round trips to
// the database as a booking with an idempotency key. It takes one more to read the booking for the response.
func TestPageBookingIsCountedInOneStatement(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.change(func(o *catalog.Snapshot) { o.Bookings.MaxOpenPerCustomer = 20 })
	sent := w.trips.measure(t, func(n int) {
		hour := fmt.Sprintf("%02d:30", 8+n)
		if _, err := w.bookOnPage(hour, newPageRequest(hour)); err != nil {
			t.Fatal(err)
		}
	})
	want := []string{"batch", "INSERT INTO occupied_time"}
	if len(sent) != 3 || !slices.Equal(sent[:2], want) || !strings.Contains(sent[2], "FROM events") {
		t.Errorf("a booking on the page sends %q", sent)
	}
}

// expectPackage fails the test unless the booking, the customer's page and the calendar name the package as which it
// was sold.
func expectPackage(t *testing.T, w *fixture, name string, got *booking.Booking) {
	t.Helper()
	token := tokenOf(got.ManageURL)
	seen, err := w.pages().CustomerView(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	ics := entries(t, w.read("/internal/manage/"+token+"/calendar").text)
	if got.Services[0].PackageName != "Pair" || seen.Booking.Services[1].PackageName != "Pair" || len(ics) != 1 ||
		!strings.HasPrefix(ics[0].Summary, "Pair, ") {
		t.Errorf("%s: the package is lost: %+v, %+v, %+v", name, got.Services, seen.Booking.Services, ics)
	}
}

// TestOnlyPageAndOwnerSellPackages shows that the page and the owner sell services together as a package.
// Each service has the share of the package price that pricing returns. An API key books services at their own prices,
// as GET /services lists them.
func TestOnlyPageAndOwnerSellPackages(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.change(func(o *catalog.Snapshot) {
		o.Bookings.MaxOpenPerCustomer = 20
		pair := catalog.Label{Text: "Pair", Translations: map[string]string{"pt": "Par"}}
		o.Packages = []catalog.Package{
			{ID: uuid.New(), Key: "pair", Name: pair, ServiceIDs: []uuid.UUID{saunaID, cutID}, Price: new(int64(3000))},
		}
	})
	both := func(n *booking.NewBooking) { n.ServiceIDs = []string{cutID.String(), saunaID.String()} }
	for name, c := range map[string]struct {
		ctx context.Context
		at  string
	}{"the page": {actor.With(t.Context(), thePage), "09:30"}, "the owner": {actor.With(t.Context(), ownerActor),
		"12:30"}} {
		got, err := w.client().Book(c.ctx, w.offer.ID, "harbor", newPageRequest(c.at, both))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got.Total != "30.00" || len(got.Services) != 2 || got.Services[0].Price != "20.00" ||
			got.Services[1].Price != "10.00" {
			t.Errorf("%s booked %+v", name, got)
		}
		expectPackage(t, w, name, got)
	}
	alone := w.book(
		w.key("write"),
		newOrder("15:30", map[string]any{"service_ids": []string{cutID.String(), saunaID.String()}}),
	)
	w.expect("by API key", alone, 201, "")
	if seen, err := w.pages().CustomerView(t.Context(), tokenOf(alone.body.ManageURL)); err != nil ||
		seen.Booking.Services[0].PackageName != "" {
		t.Errorf("the customer view of a booking by API key is %+v, %v", seen.Booking, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if last := w.quotes[len(w.quotes)-1]; len(last.Items) != 2 || last.Together {
		t.Errorf("the question for prices by an API key is %+v", last)
	}
}
