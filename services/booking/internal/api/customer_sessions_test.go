package api_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// sessions returns the client of customers' sessions.
func (w *fixture) sessions() *bookingclient.Sessions {
	p := peer.New("booking", w.internal, telemetry.Discard(), peer.Timeout(2*time.Minute))
	w.t.Cleanup(p.Close)
	return bookingclient.NewSessions(p)
}

// requestLink requests a sign-in for an address and returns the token of its link, as the mail would contain it.
func (w *fixture) requestLink(s *bookingclient.Sessions, email string) string {
	w.t.Helper()
	id, err := s.CreateSignIn(w.t.Context(), w.offer.ID, booking.NewSignIn{Email: email, Locale: "pt"})
	if err != nil {
		w.t.Fatal(err)
	}
	in, err := s.SignIn(w.t.Context(), w.offer.ID, id)
	if err != nil {
		w.t.Fatal(err)
	}
	const path = pagesURL + "/b/harbor/mine/"
	if len(in.URL) != len(path)+22 || in.URL[:len(path)] != path || in.Locale != "pt" ||
		!in.ExpiresAt.Equal(w.clock.Now().Add(30*time.Minute)) {
		w.t.Fatalf("%+v", in)
	}
	return in.URL[len(path):]
}

func (w *fixture) signIn(s *bookingclient.Sessions, email string) string {
	w.t.Helper()
	session, err := s.Create(w.t.Context(), w.offer.ID, w.requestLink(s, email))
	if err != nil {
		w.t.Fatal(err)
	}
	return session.Secret
}

func (w *fixture) listSales(s *bookingclient.Sessions, secret string, isPast bool) []booking.CustomerSale {
	w.t.Helper()
	sales, err := s.Sales(w.t.Context(), w.offer.ID,
		booking.CustomerSalesRequest{Secret: secret, IsPast: isPast, Limit: booking.MaxSales})
	if err != nil {
		w.t.Fatal(err)
	}
	return sales
}

// TestMailedLinkWorksOnce shows that of many concurrent requests with one link, exactly one gets a session.
func TestMailedLinkWorksOnce(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	s := w.sessions()
	token := w.requestLink(s, "Zoe@Example.com")
	var (
		group    sync.WaitGroup
		sessions atomic.Int32
	)
	for range 16 {
		group.Go(func() {
			_, err := s.Create(context.Background(), w.offer.ID, token)
			if err == nil {
				sessions.Add(1)
			} else if !fault.Is(err, fault.NotFound) {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := sessions.Load(); n != 1 {
		t.Errorf("%d sessions of one link", n)
	}
	if found := testkit.FindInTables(t, w.pool, token); len(found) > 0 {
		t.Errorf("the token is stored in %v", found)
	}
}

func TestLinksAndSessionsExpire(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	s := w.sessions()
	late, inTime := w.requestLink(s, "zoe@example.com"), w.requestLink(s, "zoe@example.com")
	w.clock.Advance(30*time.Minute - time.Microsecond)
	session, err := s.Create(t.Context(), w.offer.ID, inTime)
	if err != nil {
		t.Fatal(err)
	}
	w.clock.Advance(time.Microsecond)
	random, _ := link.NewToken()
	for name, token := range map[string]string{"expired": late, "used": inTime, "unknown": random, "no token": "x"} {
		if _, err := s.Create(t.Context(), w.offer.ID, token); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.Create(t.Context(), uuid.New(), w.requestLink(s, "zoe@example.com")); !fault.Is(err, fault.NotFound) {
		t.Errorf("at another business: %v", err)
	}
	w.clock.Advance(24*time.Hour - 2*time.Microsecond)
	if got, err := s.Customer(t.Context(), w.offer.ID, session.Secret); err != nil || got.Email != "zoe@example.com" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := s.Customer(t.Context(), uuid.New(), session.Secret); !fault.Is(err, fault.NotFound) {
		t.Errorf("the session at another business: %v", err)
	}
	w.clock.Advance(time.Microsecond)
	if _, err := s.Customer(t.Context(), w.offer.ID, session.Secret); !fault.Is(err, fault.NotFound) {
		t.Errorf("an expired session: %v", err)
	}
	if err := w.store.SweepSignIns(t.Context(), w.clock.Now()); err != nil {
		t.Fatal(err)
	}
	if n := w.count(`SELECT count(*) FROM customer_sign_ins`); n != 0 {
		t.Errorf("%d expired sign-ins are stored", n)
	}
}

// TestSignInDoesTheSameWorkForEveryAddress shows that a request for a link cannot show who is a customer: the answer
// has only an id, and the statements are the same. Only notifications, which sends the mail, learns it.
func TestSignInDoesTheSameWorkForEveryAddress(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.expect("booked", w.book(w.key("write"), newOrder("10:00", nil)), 201, "")
	s := w.sessions()
	work := map[string][]string{}
	for _, email := range []string{"zoe@example.com", "stranger@example.com"} {
		var id uuid.UUID
		work[email] = w.trips.measure(t, func(int) {
			var err error
			if id, err = s.CreateSignIn(t.Context(), w.offer.ID,
				booking.NewSignIn{Email: email, Locale: "en"}); err != nil {
				t.Fatal(err)
			}
		})
		in, err := s.SignIn(t.Context(), w.offer.ID, id)
		if err != nil || in.IsCustomer != (email == "zoe@example.com") {
			t.Errorf("%s: %+v, %v", email, in, err)
		}
	}
	if diff := cmp.Diff(work["zoe@example.com"], work["stranger@example.com"]); diff != "" || len(work) != 2 ||
		len(work["zoe@example.com"]) == 0 {
		t.Errorf("round trips: %v", work)
	}
	if _, err := s.CreateSignIn(t.Context(), w.offer.ID, booking.NewSignIn{Email: "zoe"}); !fault.Is(err,
		fault.InvalidParameter) {
		t.Errorf("no address: %v", err)
	}
}

// TestSalesShowOneCustomerOfOneBusiness shows that a session lists the bookings and orders of its canonical address
// with its business, upcoming and past, and nothing else.
func TestSalesShowOneCustomerOfOneBusiness(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.change(withGala(noChange))
	w.change(allowCustomers(new(int), new(int)))
	key := w.key("write")
	later := w.book(key, newOrder("12:00", map[string]any{"customer_email": "ＺＯＥ@example.com"}))
	sooner := w.book(key, newOrder("10:00", nil))
	w.expect("another customer's", w.book(key, newOrder("10:00", map[string]any{"customer_email": "bo@example.com"})),
		201, "")
	order, err := w.client().SellTicket(t.Context(), w.offer.ID, tickets(vipID, 2))
	if err != nil {
		t.Fatal(err)
	}
	// The same rows of another business.
	for _, table := range []string{"bookings", "tickets"} {
		w.copyToOtherBusiness(table)
	}
	s := w.sessions()
	secret := w.signIn(s, "ZOE@example.com")
	got := w.listSales(s, secret, false)
	var ids []uuid.UUID
	for _, sale := range got {
		ids = append(ids, sale.Position.ID)
	}
	if diff := cmp.Diff([]uuid.UUID{order.ID, sooner.body.Booking.ID, later.body.Booking.ID}, ids); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	if got[0].Kind != event.Ticket || got[0].Ticket.Quantity != 2 || got[1].Booking == nil ||
		!got[1].Booking.Reschedule.Allowed || !got[1].Booking.Cancellation.Allowed ||
		got[1].Token != tokenOf(sooner.body.ManageURL) || got[0].Token != tokenOf(order.ManageURL) {
		t.Errorf("%+v", got)
	}
	first, err := s.Sales(t.Context(), w.offer.ID, booking.CustomerSalesRequest{Secret: secret, Limit: 1})
	if err != nil || len(first) != 1 {
		t.Fatalf("%+v, %v", first, err)
	}
	rest, err := s.Sales(t.Context(), w.offer.ID,
		booking.CustomerSalesRequest{Secret: secret, After: &first[0].Position, Limit: 5})
	if err != nil || len(rest) != 2 || rest[0].Position.ID != sooner.body.Booking.ID {
		t.Errorf("the second page: %+v, %v", rest, err)
	}
	if past := w.listSales(s, secret, true); len(past) != 0 {
		t.Errorf("past: %+v", past)
	}
	w.clock.Advance(26 * time.Hour) // 2 March 10:00; the gala is over
	secret = w.signIn(s, "zoe@example.com")
	if past := w.listSales(s, secret, true); len(past) != 1 || past[0].Position.ID != order.ID || past[0].Token == "" {
		t.Errorf("past: %+v", past)
	}
	w.clock.Advance(40 * 24 * time.Hour)
	secret = w.signIn(s, "zoe@example.com")
	past := w.listSales(s, secret, true)
	if len(past) != 3 || past[0].Position.ID != later.body.Booking.ID || past[0].Token != "" {
		t.Errorf("past, latest first and without links: %+v", past)
	}
	if _, err := s.Sales(t.Context(), w.offer.ID, booking.CustomerSalesRequest{Secret: secret, Limit: 1000}); !fault.Is(
		err, fault.InvalidParameter) {
		t.Errorf("too many: %v", err)
	}
	if err := s.End(t.Context(), w.offer.ID, secret); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Sales(t.Context(), w.offer.ID,
		booking.CustomerSalesRequest{Secret: secret, Limit: 1}); !fault.Is(err, fault.NotFound) {
		t.Errorf("after signing out: %v", err)
	}
}

// copyToOtherBusiness copies the rows of a table to another business.
func (w *fixture) copyToOtherBusiness(table string) {
	w.t.Helper()
	if _, err := w.pool.Exec(w.t.Context(), `INSERT INTO `+table+` SELECT (jsonb_populate_record(r,
		jsonb_build_object('business_id', gen_random_uuid(), 'link_hash', NULL))).* FROM `+table+` AS r`); err != nil {
		w.t.Fatal(err)
	}
}

// TestErasureEndsSessions shows that erasing a customer deletes the address of links and sessions, and that an erased
// customer is unknown.
func TestErasureEndsSessions(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.expect("booked", w.book(w.key("write"), newOrder("10:00", nil)), 201, "")
	s := w.sessions()
	secret, token := w.signIn(s, "zoe@example.com"), w.requestLink(s, "zoe@example.com")
	other := w.signIn(s, "bo@example.com")
	if _, err := w.client().EraseCustomer(actor.With(t.Context(), actor.Actor{Kind: actor.Owner}), w.offer.ID,
		customer.Erase{Email: "zoe@example.com", Force: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Customer(t.Context(), w.offer.ID, secret); !fault.Is(err, fault.NotFound) {
		t.Errorf("the session: %v", err)
	}
	if _, err := s.Create(t.Context(), w.offer.ID, token); !fault.Is(err, fault.NotFound) {
		t.Errorf("the link: %v", err)
	}
	if _, err := s.Customer(t.Context(), w.offer.ID, other); err != nil {
		t.Errorf("another customer's session: %v", err)
	}
	if found := testkit.FindInTables(t, w.pool, "zoe@example.com"); len(found) > 0 {
		t.Errorf("the address is still in %v", found)
	}
	id, err := s.CreateSignIn(t.Context(), w.offer.ID, booking.NewSignIn{Email: "zoe@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	if in, err := s.SignIn(t.Context(), w.offer.ID, id); err != nil || in.IsCustomer {
		t.Errorf("an erased customer: %+v, %v", in, err)
	}
	w.change(func(o *catalog.Snapshot) { o.ID = uuid.New() })
	if _, err := s.SignIn(t.Context(), w.offer.ID, id); !fault.Is(err, fault.NotFound) {
		t.Errorf("of a removed business: %v", err)
	}
}
