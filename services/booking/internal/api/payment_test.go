package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stripe/stripe-go/v86/webhook"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment/stripe"
	"github.com/slotmesh/slotmesh/services/booking/internal/usecase"
)

const (
	webhookSecret = "whsec_test"
	expiresAfter  = 30 * time.Minute
)

// paymentFixture is a fixture whose business always takes payment online, through Stripe or a fake of it.
type paymentFixture struct {
	*fixture
	key       string
	providers payment.Providers
	payments  *usecase.Payments
}

func openShop(t *testing.T, stripeURL string) *paymentFixture {
	t.Helper()
	w := open(t, noLimits)
	w.change(func(o *catalog.Snapshot) {
		o.Payments = catalog.Payments{
			Providers: []string{"stripe"}, Accounts: map[string]string{"stripe": "acct_harbor"},
			Modes: catalog.PaymentModes{Services: catalog.ModeOnline},
		}
		o.Bookings.AutoConfirm = true
	})
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	providers := payment.Providers{stripe.Name: stripe.New("sk_test_123", webhookSecret, stripeURL, transport)}
	s := &paymentFixture{
		fixture: w, key: w.key("write"), providers: providers,
	}
	s.charge(time.Minute)
	s.payments = usecase.NewPayments(w.store, s.booker.Payments, w.clock, telemetry.Discard())
	return s
}

// payment sets the timeout of later calls to the provider.
func (s *paymentFixture) charge(within time.Duration) {
	s.booker.Payments = usecase.PaymentOptions{Providers: s.providers, CallTimeout: within, ExpiresAfter: expiresAfter}
}

// paymentDue is the payment in the response to a booking.
type paymentDue struct {
	Provider     string
	Amount       json.Number
	Currency     string
	Reference    string
	ClientSecret string `json:"client_secret"`
}

func (a answer) payment(t *testing.T) *paymentDue {
	t.Helper()
	var body struct{ Payment *paymentDue }
	if err := json.Unmarshal([]byte(a.text), &body); err != nil {
		t.Fatal(err)
	}
	return body.Payment
}

// buy books for this time, and fails the test unless the response has an open payment.
func (s *paymentFixture) buy(at string) (uuid.UUID, *paymentDue) {
	s.t.Helper()
	a := s.book(s.key, newOrder(at, nil))
	p := a.payment(s.t.(*testing.T))
	if a.status != http.StatusCreated || p == nil || a.body.PaymentRequired == nil || !*a.body.PaymentRequired {
		s.t.Fatalf("got %d %s, want a booking to be paid", a.status, a.text)
	}
	return a.body.Booking.ID, p
}

func (s *paymentFixture) step() {
	s.t.Helper()
	if err := s.payments.Reconcile(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

// expectState fails the test unless the only booking and its charge have these statuses, and there are `occupied`
// occupied times.
func (s *paymentFixture) expectState(booking, charge string, occupied int) {
	s.t.Helper()
	var gotBooking, gotCharge string
	err := s.pool.QueryRow(s.t.Context(), `SELECT b.status, p.status FROM bookings b
		JOIN payments p ON p.business_id = b.business_id AND p.subject_id = b.id`).Scan(&gotBooking, &gotCharge)
	if err != nil {
		s.t.Fatal(err)
	}
	if got := s.count(`SELECT count(*) FROM occupied_time`); gotBooking != booking || gotCharge != charge ||
		got != occupied {
		s.t.Errorf("the booking is %s, its charge %s, occupying %d; want %s, %s, %d", gotBooking, gotCharge, got,
			booking, charge, occupied)
	}
}

func TestOnlineBookingReturnsPayment(t *testing.T) {
	t.Parallel()
	s := openShop(t, testkit.StartStripeMock(t).URL)
	a := s.book(s.key, newOrder("09:30", nil), header, "k")
	p := a.payment(t)
	if a.status != http.StatusCreated || !*a.body.PaymentRequired || a.body.Booking.Status != "pending" {
		t.Fatalf("got %d %s", a.status, a.text)
	}
	if p.Provider != "stripe" || p.Amount != "40.00" || p.Currency != "EUR" || !strings.HasPrefix(p.Reference, "pi_") ||
		p.ClientSecret == "" {
		t.Errorf("the payment is %+v", p)
	}
	s.expectState("pending", "open", 1)
	second := s.book(s.key, newOrder("09:30", nil), header, "k")
	if second.status != http.StatusCreated || second.text != a.text ||
		second.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the replay is %d %s\nthe answer was %s", second.status, second.text, a.text)
	}
	s.expectRows(1)
	if n := s.count(`SELECT count(*) FROM payments p WHERE p::text LIKE '%secret%'`); n != 0 {
		t.Error("the client secret is stored with the charge")
	}
}

// TestFailedProviderLeavesNoBooking shows that every failure of the provider returns 503 and frees the time at once.
// After the reconciliation, no charge can be paid.
func TestFailedProviderLeavesNoBooking(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]behavior{
		"fails": fails, "refuses": refuses, "throttles": throttles, "hangs": hangs, "breaks": breaks,
		"answers nonsense": answersNonsense,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeStripe(t)
			s := openShop(t, f.URL)
			f.set(m)
			if m == hangs {
				s.charge(300 * time.Millisecond)
			}
			a := s.book(s.key, newOrder("09:30", nil), header, "k")
			s.charge(time.Minute)
			s.expect(name, a, 503, "payment_unavailable")
			charge, second := "cancelling", "1"
			if m == refuses {
				charge, second = "cancelled", "" // a retry would be refused, too
			}
			if got := a.header.Get("Retry-After"); got != second || strings.Contains(a.body.Error,
				"try again") != (second != "") {
				t.Errorf("Retry-After is %q with %q", got, a.body.Error)
			}
			s.expectState("cancelled", charge, 0)
			f.set(answers)
			s.step()
			s.expectState("cancelled", "cancelled", 0)
			if n := s.count(`SELECT count(*) FROM events WHERE subject_kind = 'booking'`); n != 0 {
				t.Errorf("%d events of a booking that was never confirmed", n)
			}
			if got := f.statuses(); got != "canceled" && m != refuses {
				t.Errorf("the charges are %q, want them canceled", got)
			}
			s.expect("the same key again", s.book(s.key, newOrder("09:30", nil), header, "k"), 201, "")
		})
	}
}

// TestCrashedProcessReleasesTime leaves a booking as after a crash before or after the charge was created. When the
// request is overdue, the booking and its charge are cancelled.
func TestCrashedProcessReleasesTime(t *testing.T) {
	t.Parallel()
	f := newFakeStripe(t)
	s := openShop(t, f.URL)
	s.buy("09:30")
	if _, err := s.pool.Exec(t.Context(), `UPDATE payments SET status = 'creating', reference = NULL, due_at = $1`,
		now.Add(25*time.Second)); err != nil {
		t.Fatal(err)
	}
	s.clock.Advance(24 * time.Second)
	s.step()
	s.expectState("pending", "creating", 1) // the request may still run
	s.clock.Advance(time.Second)
	s.step()
	s.expectState("cancelled", "cancelled", 0)
	if got := f.statuses(); got != "canceled" {
		t.Errorf("the charges are %q, want the one there was canceled", got)
	}
}

func TestUnpaidBookingIsCancelled(t *testing.T) {
	t.Parallel()
	f := newFakeStripe(t)
	s := openShop(t, f.URL)
	s.buy("09:30")
	s.clock.Advance(expiresAfter - time.Second)
	s.step()
	s.expectState("pending", "open", 1)
	s.clock.Advance(time.Second)
	s.step()
	s.expectState("cancelled", "cancelled", 0)
	if got := f.statuses(); got != "canceled" {
		t.Errorf("the charge is %q", got)
	}
}

func TestReconcileFindsPaymentWithoutNotice(t *testing.T) {
	t.Parallel()
	f := newFakeStripe(t)
	s := openShop(t, f.URL)
	_, p := s.buy("09:30")
	f.pay(p.Reference)
	s.clock.Advance(expiresAfter)
	s.step()
	s.expectState("confirmed", "paid", 1)
}

func TestCancelCancelsCharge(t *testing.T) {
	t.Parallel()
	f := newFakeStripe(t)
	s := openShop(t, f.URL)
	id, _ := s.buy("09:30")
	s.applyTransition(id, "cancel")
	s.expectState("cancelled", "cancelling", 0)
	s.step()
	s.expectState("cancelled", "cancelled", 0)
	if got := f.statuses(); got != "canceled" {
		t.Errorf("the charge is %q", got)
	}
}

func TestConfirmedBookingSurvivesPaymentExpiry(t *testing.T) {
	t.Parallel()
	s := openShop(t, newFakeStripe(t).URL)
	id, _ := s.buy("09:30")
	s.applyTransition(id, "confirm")
	s.clock.Advance(expiresAfter)
	s.step()
	s.expectState("confirmed", "cancelled", 1)
}

func (s *paymentFixture) applyTransition(id uuid.UUID, name string) {
	s.t.Helper()
	a := s.send(http.MethodPost, fmt.Sprintf("%s/internal/businesses/%s/bookings/%s/%s", s.internal, s.offer.ID, id,
		name), "", nil)
	if a.status != http.StatusOK {
		s.t.Fatalf("%s answered %d %s", name, a.status, a.text)
	}
}

// notify sends an event of Stripe about a charge to the webhook.
func (s *paymentFixture) notify(event, account, reference string) answer {
	s.t.Helper()
	body := fmt.Appendf(nil,
		`{"id": "evt_1", "object": "event", "api_version": "2020-08-27", "created": %d, "type": %q, "account": %q,
		"data": {"object": {"id": %q, "object": "payment_intent"}}}`, s.clock.Now().Unix(), event, account, reference)
	signed := webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{Payload: body, Secret: webhookSecret})
	return s.sendNotice(string(body), signed.Header)
}

func (s *paymentFixture) sendNotice(body, signature string) answer {
	s.t.Helper()
	return s.send(http.MethodPost, s.public+"/api/public/stripe/webhook", body,
		http.Header{"Stripe-Signature": {signature}})
}

func TestNoticesChangeBooking(t *testing.T) {
	t.Parallel()
	const paid, failed, canceled = "payment_intent.succeeded", "payment_intent.payment_failed",
		"payment_intent.canceled"
	for _, c := range []struct {
		notices          []string
		booking, payment string
		occupied         int
		stripe           string // status of the charge after the reconciliation
	}{
		{[]string{paid}, "confirmed", "paid", 1, "requires_payment_method"},
		{[]string{paid, paid, failed, canceled}, "confirmed", "paid", 1, "requires_payment_method"},
		{[]string{failed, failed}, "pending", "open", 1, "requires_payment_method"},
		{[]string{failed, paid}, "confirmed", "paid", 1, "requires_payment_method"},
		{[]string{failed, canceled}, "cancelled", "cancelled", 0, "requires_payment_method"},
		{[]string{canceled, canceled}, "cancelled", "cancelled", 0, "requires_payment_method"},
		{[]string{"payment_intent.created", "charge.updated"}, "pending", "open", 1, "requires_payment_method"},
		{[]string{canceled, paid, paid}, "cancelled", "paid", 0, "succeeded"},
	} {
		t.Run(strings.Join(c.notices, " then "), func(t *testing.T) {
			t.Parallel()
			f := newFakeStripe(t)
			s := openShop(t, f.URL)
			_, p := s.buy("09:30")
			for _, n := range c.notices {
				if a := s.notify(n, "acct_harbor", p.Reference); a.status != http.StatusOK {
					t.Fatalf("%s: %d %s", n, a.status, a.text)
				}
			}
			s.expectState(c.booking, c.payment, c.occupied)
			if c.stripe == "succeeded" {
				f.pay(p.Reference)
			}
			s.step()
			if got := f.statuses(); got != c.stripe {
				t.Errorf("Stripe has the charge as %s, want %s", got, c.stripe)
			}
			if want := map[string][]int64{"succeeded": {4000}}[c.stripe]; !slices.Equal(f.sumRefunds(p.Reference),
				want) {
				t.Errorf("refunds are %v, want %v", f.sumRefunds(p.Reference), want)
			}
			s.step()
			if n := len(f.sumRefunds(p.Reference)); n > 1 {
				t.Errorf("refunded %d times", n)
			}
		})
	}
}

// TestFailedAttemptKeepsPaymentOpen has the customer's bank decline two payments. The booking waits until it
// expires (lifecycle.md §4). In one case the customer then pays with success, in the other not.
func TestFailedAttemptKeepsPaymentOpen(t *testing.T) {
	t.Parallel()
	for name, pays := range map[string]bool{"with success": true, "in vain": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeStripe(t)
			s := openShop(t, f.URL)
			id, p := s.buy("09:30")
			for range 2 {
				s.clock.Advance(expiresAfter/2 - time.Second)
				f.decline(t, p.Reference)
				for range 2 { // Stripe sends an event at least once
					s.notify("payment_intent.payment_failed", "acct_harbor", p.Reference)
				}
				s.step()
				s.expectState("pending", "open", 1)
			}
			if pays {
				f.pay(p.Reference)
				s.notify("payment_intent.succeeded", "acct_harbor", p.Reference)
				s.clock.Advance(time.Hour)
				s.step()
				s.expectState("confirmed", "paid", 1)
				s.expectEvents(id, "booking.created", "payment.failed", "payment.failed", "payment.succeeded",
					"booking.confirmed")
				return
			}
			s.clock.Advance(2 * time.Second)
			s.step()
			s.expectState("cancelled", "cancelled", 0)
			if got := f.statuses(); got != "canceled" {
				t.Errorf("the status of the charge at Stripe is %s, want canceled, so that the customer can no longer pay it", got)
			}
			s.notify("payment_intent.payment_failed", "acct_harbor", p.Reference) // a late event
			s.expectState("cancelled", "cancelled", 0)
			s.expectEvents(id, "booking.created", "payment.failed", "payment.failed", "payment.expired",
				"booking.cancelled")
		})
	}
}

// TestFailedAttemptKeepsStripeMockPaymentOpen shows that a charge of stripe-mock stays open after a failed
// payment, and can be paid then.
func TestFailedAttemptKeepsStripeMockPaymentOpen(t *testing.T) {
	t.Parallel()
	s := openShop(t, testkit.StartStripeMock(t).URL)
	_, p := s.buy("09:30")
	s.notify("payment_intent.payment_failed", "acct_harbor", p.Reference)
	s.step()
	s.expectState("pending", "open", 1)
	s.notify("payment_intent.succeeded", "acct_harbor", p.Reference)
	s.expectState("confirmed", "paid", 1)
}

func TestNoticesOfUnknownChargesAreIgnored(t *testing.T) {
	t.Parallel()
	s := openShop(t, newFakeStripe(t).URL)
	_, p := s.buy("09:30")
	for _, n := range [][2]string{{"acct_harbor", "pi_unknown"}, {"acct_other", p.Reference}, {"", p.Reference},
		{"acct_harbor", ""}} {
		if a := s.notify("payment_intent.succeeded", n[0], n[1]); a.status != http.StatusOK {
			t.Errorf("%v: %d %s", n, a.status, a.text)
		}
	}
	s.expectState("pending", "open", 1)
}

func TestUnsignedNoticesAreRejected(t *testing.T) {
	t.Parallel()
	s := openShop(t, newFakeStripe(t).URL)
	_, p := s.buy("09:30")
	body := fmt.Sprintf(`{"id": "evt_1", "object": "event", "type": "payment_intent.succeeded", "account": "acct_harbor",
		"data": {"object": {"id": %q}}}`, p.Reference)
	sign := func(secret string, at time.Time) string {
		return webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{Payload: []byte(body), Secret: secret,
			Timestamp: at}).Header
	}
	real := time.Now()
	for name, signature := range map[string]string{
		"none": "", "nonsense": "t=1,v1=00", "another secret": sign("whsec_other", real),
		"too old": sign(webhookSecret, real.Add(-6*time.Minute)),
	} {
		s.expect(name, s.sendNotice(body, signature), 400, "invalid_parameter")
	}
	s.expect("another body", s.sendNotice(body+" ", sign(webhookSecret, real)), 400, "invalid_parameter")
	s.expectState("pending", "open", 1)
	s.expect("right", s.sendNotice(body, sign(webhookSecret, real)), 200, "")
	s.expectState("confirmed", "paid", 1)
}

// TestStoppedProviderHoldsNoSlot stops stripe-mock while many clients book. In the end, time is occupied only
// for live bookings, and each of these has an open charge.
func TestStoppedProviderHoldsNoSlot(t *testing.T) {
	t.Parallel()
	mock := testkit.StartStripeMock(t)
	s := openShop(t, mock.URL)
	const clients, hours = 3, 20
	var wg sync.WaitGroup
	var booked, refusals atomic.Int32
	for range clients {
		wg.Go(func() {
			for hour := range hours {
				a := s.book(s.key, newOrder(fmt.Sprintf("%02d:00", hour), nil))
				switch {
				case a.status == http.StatusCreated:
					if booked.Add(1) == clients*hours/3 {
						mock.Stop()
					}
				case a.status == http.StatusServiceUnavailable && a.body.MessageCode == "payment_unavailable":
					refusals.Add(1)
				default:
					t.Errorf("got %d %s, want 201 or 503", a.status, a.text)
				}
			}
		})
	}
	wg.Wait()
	if booked.Load() == 0 || refusals.Load() == 0 {
		t.Fatalf("%d were booked and %d refused: stripe-mock was not stopped in the middle", booked.Load(),
			refusals.Load())
	}
	s.clock.Advance(time.Minute) // longer than a request can run
	s.step()
	for what, sql := range map[string]string{
		"times without a live booking": `SELECT count(*) FROM occupied_time o WHERE NOT EXISTS (SELECT FROM bookings b
			WHERE b.business_id = o.business_id AND b.id = o.booking_id AND b.status IN ('pending', 'confirmed'))`,
		"live bookings without a charge": `SELECT count(*) FROM bookings b WHERE b.status = 'pending' AND NOT EXISTS (SELECT FROM payments p
			WHERE p.business_id = b.business_id AND p.subject_id = b.id AND p.status = 'open' AND p.reference IS NOT NULL)`,
	} {
		if n := s.count(sql); n != 0 {
			t.Errorf("there are %d %s", n, what)
		}
	}
	if live := s.count(`SELECT count(*) FROM bookings WHERE status = 'pending'`); live != int(booked.Load()) {
		t.Errorf("%d bookings live, %d were answered with 201", live, booked.Load())
	}
}
