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
	"github.com/shopspring/decimal"
	"github.com/stripe/stripe-go/v86/webhook"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/money"
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

// TestPaymentIsRequiredByRules checks all combinations of the conditions in semantics.md §3. Payment is
// required if there is a provider, the total is above 0 and the requirement is not none. The mode must be online, or
// customer_choice with the choice online.
func TestPaymentIsRequiredByRules(t *testing.T) {
	t.Parallel()
	f := newFakeStripe(t)
	s := openShop(t, f.URL)
	hour := 0
	for _, providers := range [][]string{nil, {"stripe"}} {
		for _, mode := range []string{"online", "at_door", "customer_choice"} {
			for _, choice := range []any{nil, "online", "at_door"} {
				for _, requirement := range []string{"none", "full"} {
					for _, price := range []int64{0, 4000} {
						s.change(func(o *catalog.Snapshot) {
							o.Payments.Providers, o.Payments.Modes.Services = providers, mode
							o.Services[0].PaymentRequirement, o.Services[0].Price = requirement, price
						})
						body := newOrder(fmt.Sprintf("%02d:00", hour%24), map[string]any{"payment_choice": choice})
						body["date"] = fmt.Sprintf("2027-03-%02d", 2+hour/24)
						hour++
						a := s.book(s.key, body)
						if len(providers) == 0 && price > 0 && choice == "online" {
							s.expect("without a provider", a, 409, "payment_not_offered")
							continue
						}
						want := len(providers) > 0 && price > 0 && requirement != "none" &&
							(mode == "online" || mode == "customer_choice" && choice == "online")
						if a.status != http.StatusCreated || *a.body.PaymentRequired != want ||
							(a.payment(t) != nil) != want {
							t.Errorf("providers %v, %s, choice %v, %s, price %d: %d %s", providers, mode, choice,
								requirement, price, a.status, a.text)
						}
					}
				}
			}
		}
	}
}

func TestAmountFollowsServiceRequirements(t *testing.T) {
	t.Parallel()
	f := newFakeStripe(t)
	s := openShop(t, f.URL)
	deposit := func(requirement, value string) func(*catalog.Service) {
		d := decimal.RequireFromString(value)
		return func(s *catalog.Service) { s.PaymentRequirement, s.DepositValue = requirement, &d }
	}
	for i, c := range []struct {
		change func(*catalog.Service)
		two    bool // with a second service for 15.00, to be paid in full
		amount json.Number
	}{
		{func(*catalog.Service) {}, false, "40.00"},
		{deposit("deposit_percent", "20"), false, "8.00"},
		{deposit("deposit_percent", "0.0125"), false, "0.01"}, // 0.005, rounded half up
		{deposit("deposit_fixed", "12.5"), false, "12.50"},
		{deposit("deposit_fixed", "99"), false, "40.00"}, // never more than the price
		{deposit("deposit_percent", "20"), true, "23.00"},
	} {
		s.change(func(o *catalog.Snapshot) {
			o.Services[0].DepositValue = nil
			o.Services[0].PaymentRequirement = "full"
			c.change(&o.Services[0])
			o.Services[2].Price = 1500
		})
		ids := []uuid.UUID{cutID}
		if c.two {
			ids = append(ids, freeID)
		}
		a := s.book(s.key, newOrder(fmt.Sprintf("%02d:00", 8+2*i), map[string]any{"service_ids": ids}))
		p := a.payment(t)
		if a.status != http.StatusCreated || p == nil || p.Amount != c.amount {
			t.Errorf("case %d: %d %s, want %s to pay", i, a.status, a.text, c.amount)
			continue
		}
		f.mu.Lock()
		got, want := f.intents[p.Reference], strings.Replace(strings.TrimLeft(c.amount.String(), "0."), ".", "", 1)
		f.mu.Unlock()
		if got.Account != "acct_harbor" || got.Currency != "eur" || got.Amount != want {
			t.Errorf("case %d: Stripe has %+v, want %s", i, got, want)
		}
	}
}

func TestBookFailsWithoutUsableProvider(t *testing.T) {
	t.Parallel()
	s := openShop(t, newFakeStripe(t).URL)
	s.change(func(o *catalog.Snapshot) { o.Payments.Accounts = nil })
	s.expect("no account", s.book(s.key, newOrder("09:30", nil)), 409, "payment_not_offered")
	s.change(func(o *catalog.Snapshot) {
		o.Payments.Providers, o.Payments.Accounts = []string{"other"}, map[string]string{"other": "x"}
	})
	s.expect("not connected", s.book(s.key, newOrder("09:30", nil)), 409, "payment_not_offered")
	s.expectRows(0)
}

// orderedProvider is a provider that records in `calls` when RoundChargeable is called, and refuses unless `canCharge`
// is true.
type orderedProvider struct {
	payment.Provider
	name      string
	canCharge bool
	calls     *[]string
}

func (p orderedProvider) RoundChargeable(amount int64, currency money.Currency) (int64, error) {
	*p.calls = append(*p.calls, p.name)
	if !p.canCharge {
		return 0, payment.ErrRefused
	}
	return p.Provider.RoundChargeable(amount, currency)
}

// TestPreferredProviderIsTriedFirst has three providers, of which all, one or none can
// charge. The preferred provider is asked first, then the others in their order.
func TestPreferredProviderIsTriedFirst(t *testing.T) {
	t.Parallel()
	s := openShop(t, newFakeStripe(t).URL)
	names := []string{"a", "b", "c"}
	s.change(func(o *catalog.Snapshot) {
		o.Payments.Providers, o.Payments.Accounts = names, map[string]string{"a": "x", "b": "x", "c": "x"}
	})
	for i, c := range []struct {
		preferred any
		able      string
		requested string
	}{
		{nil, "abc", "a"}, {"a", "abc", "a"}, {"b", "abc", "b"}, {"c", "abc", "c"},
		{nil, "c", "abc"}, {"a", "c", "abc"}, {"b", "c", "bac"}, {"c", "b", "cab"}, {"c", "", "cab"},
	} {
		var req []string
		providers := payment.Providers{}
		for _, name := range names {
			providers[name] = orderedProvider{s.providers[stripe.Name], name, strings.Contains(c.able, name), &req}
		}
		s.booker.Payments = usecase.PaymentOptions{Providers: providers, CallTimeout: time.Minute,
			ExpiresAfter: expiresAfter}
		a := s.book(s.key, newOrder(fmt.Sprintf("%02d:00", 8+i), map[string]any{"preferred_provider": c.preferred}))
		if got := strings.Join(req, ""); got != c.requested {
			t.Errorf("%v preferred, %q can charge: %q were asked, want %q", c.preferred, c.able, got, c.requested)
		}
		if c.able == "" {
			s.expect("none can", a, 409, "payment_not_offered")
		} else if p := a.payment(t); p == nil || p.Provider != req[len(req)-1] {
			t.Errorf("%v preferred, %q can charge: got %d %s", c.preferred, c.able, a.status, a.text)
		}
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
