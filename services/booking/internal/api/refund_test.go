package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/sale/cancellation"
	"github.com/slotmesh/slotmesh/libs/sale/refund"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/usecase"
)

// openPolicyShop returns a shop that refunds 100 % until a day before the start and 50 % until two hours before.
func openPolicyShop(t *testing.T) (*paymentFixture, *fakeStripe) {
	t.Helper()
	f := newFakeStripe(t)
	s := openShop(t, f.URL)
	s.change(func(o *catalog.Snapshot) {
		o.CancellationPolicy = []catalog.CancellationRule{{HoursBefore: 2, RefundPercent: 50},
			{HoursBefore: 24, RefundPercent: 100}}
	})
	return s, f
}

// buyPaid books and pays for a time, and returns the id of the booking and the reference of its charge.
func (s *paymentFixture) buyPaid(f *fakeStripe, at string) (uuid.UUID, string) {
	s.t.Helper()
	id, p := s.buy(at)
	f.pay(p.Reference)
	s.notify("payment_intent.succeeded", "acct_harbor", p.Reference)
	return id, p.Reference
}

func (s *paymentFixture) cancel(id uuid.UUID, requested booking.RefundAmount) *booking.Booking {
	s.t.Helper()
	b, err := s.client().Cancel(s.t.Context(), s.offer.ID, id, booking.Cancel{Refund: requested})
	if err != nil {
		s.t.Fatal(err)
	}
	return b
}

func (s *paymentFixture) expectRefund(when string, id uuid.UUID, refunded json.Number, want *booking.Refund) {
	s.t.Helper()
	list, err := s.client().Bookings(s.t.Context(), s.offer.ID, booking.Filter{}, request.Page{})
	if err != nil {
		s.t.Fatal(err)
	}
	i := slices.IndexFunc(list.Bookings, func(b booking.Booking) bool { return b.ID == id })
	got := list.Bookings[i].Payment
	if got == nil || got.Status != booking.PaymentPaid || got.Amount != "40.00" || got.Refunded != refunded ||
		got.DueAt != nil {
		s.t.Fatalf("%s: the payment is %+v, want it paid and %s refunded", when, got, refunded)
	}
	if diff := cmp.Diff(want, got.Refund); diff != "" {
		s.t.Errorf("%s: the refund (-want +got):\n%s", when, diff)
	}
}

// TestCancelRefundsPreviewedAmount cancels at different times before the start. The preview and the refund
// follow the policy at the time of the booking, although the business has a new policy.
func TestCancelRefundsPreviewedAmount(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		before  time.Duration // time before the start, 2027-03-02T09:30:00Z
		want    booking.Cancellation
		until   time.Duration // time before the start at which this refund ends; 0: never
		refunds []int64
	}{
		{"a day before", 25 * time.Hour, preview("40.00", 100), 24 * time.Hour, []int64{4000}},
		{"to the instant", 24 * time.Hour, preview("40.00", 100), 24 * time.Hour, []int64{4000}},
		{"later", 24*time.Hour - time.Second, preview("20.00", 50), 2 * time.Hour, []int64{2000}},
		{"too late", time.Hour, preview("0.00", 0), 0, nil},
		{"afterwards", -time.Hour, preview("0.00", 0), 0, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, f := openPolicyShop(t)
			id, reference := s.buyPaid(f, "09:30")
			s.change(func(o *catalog.Snapshot) {
				o.CancellationPolicy = []catalog.CancellationRule{{RefundPercent: 7}}
			})
			start := time.Date(2027, 3, 2, 9, 30, 0, 0, time.UTC)
			s.clock.Advance(start.Add(-c.before).Sub(s.clock.Now()))
			got, err := s.client().Cancellation(t.Context(), s.offer.ID, id)
			if err != nil {
				t.Fatal(err)
			}
			if c.until != 0 {
				until := start.Add(-c.until)
				c.want.Until = &until
			}
			if diff := cmp.Diff(&c.want, got); diff != "" {
				t.Errorf("the preview (-want +got):\n%s", diff)
			}
			cancelled := s.cancel(id, "")
			if cancelled.Status != booking.StatusCancelled || s.count(`SELECT count(*) FROM occupied_time`) != 0 {
				t.Errorf("the booking is %s and still occupies time", cancelled.Status)
			}
			s.step()
			if !slices.Equal(f.sumRefunds(reference), c.refunds) {
				t.Errorf("refunds are %v, want %v", f.sumRefunds(reference), c.refunds)
			}
			if c.refunds == nil {
				s.expectRefund("cancelled", id, "0.00", nil)
				return
			}
			if diff := cmp.Diff(&booking.Refund{Amount: c.want.Refund.Amount, Percent: c.want.Refund.Percent,
				Status: booking.RefundPending}, cancelled.Payment.Refund); diff != "" {
				t.Errorf("the refund at once (-want +got):\n%s", diff)
			}
			s.expectRefund("in the end", id, c.want.Refund.Amount, &booking.Refund{Amount: c.want.Refund.Amount,
				Percent: c.want.Refund.Percent, Status: booking.RefundRefunded})
			s.expectEvents(id, "booking.created", "payment.succeeded", "booking.confirmed", "booking.cancelled",
				"payment.refunded")
		})
	}
}

func preview(amount json.Number, percent int) booking.Cancellation {
	return booking.Cancellation{Allowed: true, Refund: booking.CancellationRefund{Amount: amount, Percent: percent,
		Currency: "EUR"}}
}

func (s *paymentFixture) expectEvents(id uuid.UUID, want ...string) {
	s.t.Helper()
	rows, err := s.pool.Query(s.t.Context(), `SELECT type FROM events WHERE subject_id = $1 ORDER BY sequence`, id)
	if err != nil {
		s.t.Fatal(err)
	}
	defer rows.Close()
	var got []string
	for rows.Next() {
		var typ string
		if err := rows.Scan(&typ); err != nil {
			s.t.Fatal(err)
		}
		got = append(got, typ)
	}
	if diff := cmp.Diff(want, got); diff != "" || rows.Err() != nil {
		s.t.Errorf("%v, the events (-want +got):\n%s", rows.Err(), diff)
	}
}

// TestEventsContainPaymentState reads the events after the last change. Each event has the payment as it was when
// the event was recorded.
func TestEventsContainPaymentState(t *testing.T) {
	t.Parallel()
	s, f := openPolicyShop(t)
	id, _ := s.buyPaid(f, "09:30")
	s.cancel(id, "12.50")
	s.step()
	list, err := s.events(t).List(t.Context(), s.offer.ID, event.Filter{Subject: id}, request.Page{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[event.Type]*booking.Payment{}
	for _, e := range list.Events {
		var b booking.Booking
		if err := json.Unmarshal(e.Data, &b); err != nil {
			t.Fatal(err)
		}
		got[e.Type] = b.Payment
	}
	policy := refund.NewPolicy(s.offer)
	paid := func(status string, refunded json.Number, back *booking.Refund) *booking.Payment {
		return &booking.Payment{Provider: "stripe", Status: status, Amount: "40.00", Refunded: refunded, Refund: back,
			Policy: policy}
	}
	back := func(status string) *booking.Refund {
		return &booking.Refund{Amount: "12.50", Percent: 31, Status: status}
	}
	open, due := paid(booking.PaymentOpen, "0.00", nil), now.Add(expiresAfter)
	open.DueAt = &due
	want := map[event.Type]*booking.Payment{
		event.BookingCreated: open, event.PaymentSucceeded: paid(booking.PaymentPaid, "0.00", nil),
		event.BookingConfirmed: paid(booking.PaymentPaid, "0.00", nil),
		event.BookingCancelled: paid(booking.PaymentPaid, "0.00", back(booking.RefundPending)),
		event.PaymentRefunded:  paid(booking.PaymentPaid, "12.50", back(booking.RefundRefunded)),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOwnerChoosesRefund shows that the owner can refund an amount other than the policy gives, but not more
// than was paid.
func TestOwnerChoosesRefund(t *testing.T) {
	t.Parallel()
	s, f := openPolicyShop(t)
	for i, c := range []struct {
		requested booking.RefundAmount
		refunds   []int64
		percent   int
		fault     fault.Kind
	}{
		{requested: "policy", refunds: []int64{4000}, percent: 100},
		{requested: "full", refunds: []int64{4000}, percent: 100},
		{requested: "none"}, {requested: "0"},
		{requested: "12.5", refunds: []int64{1250}, percent: 31},
		{requested: "40", refunds: []int64{4000}, percent: 100},
		{requested: "0.01", refunds: []int64{1}},
		{requested: "40.01", fault: fault.Conflict}, {requested: "-1", fault: fault.InvalidParameter},
		{requested: "0.001", fault: fault.InvalidParameter},
	} {
		id, reference := s.buyPaid(f, fmt.Sprintf("%02d:00", 9+i))
		b, err := s.client().Cancel(t.Context(), s.offer.ID, id, booking.Cancel{Refund: c.requested})
		if c.fault != (fault.Kind{}) {
			if !fault.Is(err, c.fault) {
				t.Errorf("%s: %v, want %v", c.requested, err, c.fault)
			}
			if got, err := s.client().Cancellation(t.Context(), s.offer.ID, id); err != nil || !got.Allowed {
				t.Errorf("%s: refused, and yet it cannot be cancelled any more: %+v, %v", c.requested, got, err)
			}
			continue
		}
		if err != nil || (b.Payment.Refund != nil) != (c.refunds != nil) || b.Payment.Refund != nil &&
			b.Payment.Refund.Percent != c.percent {
			t.Fatalf("%s: %+v, %v", c.requested, b.Payment, err)
		}
		s.step()
		if !slices.Equal(f.sumRefunds(reference), c.refunds) {
			t.Errorf("%s: refunds are %v, want %v", c.requested, f.sumRefunds(reference), c.refunds)
		}
	}
}

func TestBookingWithoutPaymentRefundsNothing(t *testing.T) {
	t.Parallel()
	s, f := openPolicyShop(t)
	s.change(func(o *catalog.Snapshot) { o.Payments.Modes.Services = catalog.ModeAtDoor })
	plain := s.book(s.key, newOrder("09:30", nil)).body.Booking.ID
	s.change(func(o *catalog.Snapshot) { o.Payments.Modes.Services = catalog.ModeOnline })
	open, p := s.buy("11:30")
	for _, id := range []uuid.UUID{plain, open} {
		got, err := s.client().Cancellation(t.Context(), s.offer.ID, id)
		want := preview("0.00", 0)
		if diff := cmp.Diff(&want, got); err != nil || diff != "" {
			t.Errorf("%v, the preview (-want +got):\n%s", err, diff)
		}
		if _, err := s.client().Cancel(t.Context(), s.offer.ID, id, booking.Cancel{Refund: "1"}); !fault.Is(err,
			fault.Conflict) {
			t.Errorf("an amount of what was not paid: %v", err)
		}
		s.cancel(id, booking.RefundFull)
		if got, err := s.client().Cancellation(t.Context(), s.offer.ID, id); err != nil || got.Allowed ||
			got.Reason != booking.StatusCancelled {
			t.Errorf("once more: %+v, %v", got, err)
		}
	}
	f.pay(p.Reference) // paid too late, so all of it is refunded
	s.step()
	if !slices.Equal(f.sumRefunds(p.Reference), []int64{4000}) {
		t.Errorf("refunds of the late payment are %v, want 4000", f.sumRefunds(p.Reference))
	}
	s.expectEvents(open, "booking.created", "booking.cancelled", "payment.succeeded", "payment.refunded")
}

func TestNoShowIsNotRefundedAutomatically(t *testing.T) {
	t.Parallel()
	s, f := openPolicyShop(t)
	id, reference := s.buyPaid(f, "09:30")
	refund := func(requested booking.RefundAmount) error {
		_, err := s.client().Refund(t.Context(), s.offer.ID, id, booking.NewRefund{Refund: requested})
		return err
	}
	if err := refund(""); !fault.Is(err, fault.Conflict) {
		t.Errorf("while the booking is ahead: %v", err)
	}
	s.clock.Set(now.AddDate(0, 0, 1))
	s.applyTransition(id, "no-show")
	s.step()
	if f.sumRefunds(reference) != nil {
		t.Errorf("refunds are %v", f.sumRefunds(reference))
	}
	for _, requested := range []booking.RefundAmount{"policy", "none"} {
		if err := refund(requested); !fault.Is(err, fault.InvalidParameter) {
			t.Errorf("%s: %v", requested, err)
		}
	}
	if err := refund("15"); err != nil {
		t.Error(err)
	}
	if err := refund("1"); !fault.Is(err, fault.Conflict) {
		t.Errorf("while one is on its way: %v", err)
	}
	s.step()
	if err := refund("25.01"); !fault.Is(err, fault.Conflict) {
		t.Errorf("more than is left: %v", err)
	}
	if err := refund(""); err != nil {
		t.Error(err)
	}
	s.step()
	if err := refund(""); !fault.Is(err, fault.Conflict) {
		t.Errorf("when nothing is left: %v", err)
	}
	if !slices.Equal(f.sumRefunds(reference), []int64{1500, 2500}) {
		t.Errorf("refunds are %v, want 1500 and 2500", f.sumRefunds(reference))
	}
	s.expectRefund("in the end", id, "40.00", &booking.Refund{Amount: "25.00", Percent: 63,
		Status: booking.RefundRefunded})
}

// TestRefusedRefundIsNotRetried shows that a refund that the provider refuses is not retried. The owner sees
// the reason and can request the refund again.
func TestRefusedRefundIsNotRetried(t *testing.T) {
	t.Parallel()
	s, f := openPolicyShop(t)
	id, reference := s.buyPaid(f, "09:30")
	f.set(refuses)
	s.cancel(id, "")
	s.step()
	refused := &booking.Refund{Amount: "40.00", Percent: 100, Status: booking.RefundRefused, Reason: "charge_disputed"}
	s.expectRefund("refused", id, "0.00", refused)
	f.set(answers)
	s.clock.Advance(48 * time.Hour)
	s.step()
	s.expectRefund("two days later", id, "0.00", refused)
	if _, err := s.client().Refund(t.Context(), s.offer.ID, id, booking.NewRefund{}); err != nil {
		t.Fatal(err)
	}
	s.step()
	s.expectRefund("tried again", id, "40.00", &booking.Refund{Amount: "40.00", Percent: 100,
		Status: booking.RefundRefunded})
	if !slices.Equal(f.sumRefunds(reference), []int64{4000}) {
		t.Errorf("refunds are %v", f.sumRefunds(reference))
	}
}

// TestRefundIsRetriedUntilAnswered has the provider fail in ways that leave the result unknown. Booking retries
// after a day, when the provider no longer has the idempotency key. The refund is made once.
func TestRefundIsRetriedUntilAnswered(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]behavior{"fails": fails, "throttles": throttles, "hangs": hangs, "breaks": breaks,
		"answers nonsense": answersNonsense} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, f := openPolicyShop(t)
			id, reference := s.buyPaid(f, "09:30")
			s.cancel(id, "12.50")
			if s.count(`SELECT count(*) FROM occupied_time`) != 0 {
				t.Error("the time is occupied until the provider answers")
			}
			f.set(m)
			options := s.booker.Payments
			options.CallTimeout = 100 * time.Millisecond
			impatient := usecase.NewPayments(s.store, options, s.clock, telemetry.Discard())
			if err := impatient.Reconcile(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.expectRefund("not answered", id, "0.00", &booking.Refund{Amount: "12.50", Percent: 31,
				Status: booking.RefundPending})
			f.set(answers)
			f.forgetKeys()
			s.clock.Advance(24 * time.Hour)
			s.step()
			s.expectRefund("answered", id, "12.50", &booking.Refund{Amount: "12.50", Percent: 31,
				Status: booking.RefundRefunded})
			if !slices.Equal(f.sumRefunds(reference), []int64{1250}) {
				t.Errorf("refunds are %v, want 1250 once", f.sumRefunds(reference))
			}
		})
	}
}

// TestRefundNoticesApplyToNewestRefund sends statuses of refunds from the provider in the orders that can occur.
// They decide the status of the newest refund only.
func TestRefundNoticesApplyToNewestRefund(t *testing.T) {
	t.Parallel()
	const done, failed, underway = payment.RefundRefunded, payment.RefundRefused, payment.RefundPending
	for _, c := range []struct {
		notices  []payment.RefundStatus
		number   int
		want     string
		refunded json.Number
	}{
		{[]payment.RefundStatus{underway}, 1, booking.RefundPending, "0.00"},
		{[]payment.RefundStatus{done, done}, 1, booking.RefundRefunded, "40.00"},
		// The customer's bank returned the money.
		{[]payment.RefundStatus{done, failed, failed}, 1, booking.RefundRefused, "0.00"},
		{[]payment.RefundStatus{failed, done, underway}, 1, booking.RefundRefused, "0.00"},
		{[]payment.RefundStatus{done}, 2, booking.RefundPending, "0.00"}, // not a refund that booking made
	} {
		t.Run(fmt.Sprintf("%v of %d", c.notices, c.number), func(t *testing.T) {
			t.Parallel()
			s, f := openPolicyShop(t)
			id, reference := s.buyPaid(f, "09:30")
			s.cancel(id, "")
			for _, status := range c.notices {
				err := s.payments.HandleNotice(t.Context(), "stripe",
					payment.Notice{Account: "acct_harbor", Reference: reference, Refund: &payment.RefundNotice{
						Number: c.number, RefundState: payment.RefundState{Status: status},
					}})
				if err != nil {
					t.Fatal(err)
				}
			}
			s.expectRefund("told", id, c.refunded, &booking.Refund{Amount: "40.00", Percent: 100, Status: c.want})
		})
	}
}

// TestConcurrentCancellationsRefundOnce has several owners cancel one booking while several replicas make refunds.
// One cancellation succeeds, and one refund is made.
func TestConcurrentCancellationsRefundOnce(t *testing.T) {
	t.Parallel()
	s, f := openPolicyShop(t)
	id, reference := s.buyPaid(f, "09:30")
	var wg sync.WaitGroup
	var mu sync.Mutex
	cancelled := 0
	for range 8 {
		wg.Go(func() {
			_, err := s.client().Cancel(t.Context(), s.offer.ID, id, booking.Cancel{Refund: "15"})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				cancelled++
			} else if !fault.Is(err, fault.Conflict) {
				t.Error(err)
			}
		})
		wg.Go(func() {
			if err := s.payments.Reconcile(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s.step()
	if refunds := f.sumRefunds(reference); cancelled != 1 || !slices.Equal(refunds, []int64{1500}) {
		t.Errorf("%d cancelled, refunds are %v", cancelled, refunds)
	}
	s.expectRefund("in the end", id, "15.00", &booking.Refund{Amount: "15.00", Percent: 38,
		Status: booking.RefundRefunded})
}

// TestConcurrentPaymentAndCancelRefund processes the payment and the cancellation of a booking at the same time. In
// either order, all of the payment is refunded.
func TestConcurrentPaymentAndCancelRefund(t *testing.T) {
	t.Parallel()
	s, f := openPolicyShop(t)
	for i := range 10 {
		id, p := s.buy(fmt.Sprintf("%02d:00", 9+i))
		f.pay(p.Reference)
		var wg sync.WaitGroup
		wg.Go(func() { s.notify("payment_intent.succeeded", "acct_harbor", p.Reference) })
		wg.Go(func() {
			if _, err := s.client().Cancel(t.Context(), s.offer.ID, id, booking.Cancel{}); err != nil {
				t.Error(err)
			}
		})
		wg.Wait()
		s.step()
		if !slices.Equal(f.sumRefunds(p.Reference), []int64{4000}) {
			t.Errorf("refunds are %v, want 4000", f.sumRefunds(p.Reference))
		}
		s.expectRefund("in the end", id, "40.00", &booking.Refund{Amount: "40.00", Percent: 100,
			Status: booking.RefundRefunded})
	}
}

func TestInvalidCancelBodyChangesNothing(t *testing.T) {
	t.Parallel()
	s, f := openPolicyShop(t)
	id, _ := s.buyPaid(f, "09:30")
	at := fmt.Sprintf("%s/internal/businesses/%s/bookings/%s/", s.internal, s.offer.ID, id)
	for _, body := range []string{`{"refund": "half"}`, `{"refund": "12.50"}`, `[]`, `{`} {
		s.expect(body, s.send(http.MethodPost, at+"cancel", body, nil), 400, "invalid_parameter")
		s.expect(body, s.send(http.MethodPost, at+"refund", body, nil), 400, "invalid_parameter")
	}
	s.expectState("confirmed", "paid", 1)
	for _, call := range []string{"cancel", "refund"} {
		other := fmt.Sprintf("%s/internal/businesses/%s/bookings/%s/%s", s.internal, s.offer.ID, uuid.New(), call)
		s.expect(call, s.send(http.MethodPost, other, "", nil), 404, "not_found")
	}
}

// TestCustomerCancelsUntilDeadline cancels just before and just after the deadline of
// self_service.cancel_until_hours.
func TestCustomerCancelsUntilDeadline(t *testing.T) {
	t.Parallel()
	s, f := openPolicyShop(t)
	c := usecase.NewCancellations(s.store, s.providers, s.clock)
	start := time.Date(2027, 3, 2, 9, 30, 0, 0, time.UTC)
	id, reference := s.buyPaid(f, "09:30")
	url, err := s.client().Link(t.Context(), s.offer.ID, event.Booking, id)
	if err != nil {
		t.Fatal(err)
	}
	look := func(want cancellation.Preview) {
		t.Helper()
		want.Currency = s.offer.Money()
		seen, err := s.pages().CustomerView(t.Context(), tokenOf(url))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.Render(), seen.Booking.Cancellation); diff != "" {
			t.Errorf("the preview (-want +got):\n%s", diff)
		}
	}
	fail := func(seen int64) {
		t.Helper()
		if _, err := c.Bookings.CancelForCustomer(t.Context(), s.offer, id,
			decimal.New(seen, -2)); !fault.Is(err, fault.Conflict) {
			t.Errorf("it is cancelled: %v", err)
		}
	}
	look(cancellation.Preview{Reason: booking.CancelNotOffered})
	fail(0)
	twelve := 12
	s.change(func(o *catalog.Snapshot) { o.SelfService.CancelUntilHours = &twelve })
	deadline := start.Add(-12 * time.Hour)
	look(cancellation.Preview{Allowed: true, Refund: 4000, Percent: 100, Until: start.Add(-24 * time.Hour),
		Deadline: deadline, Steps: []refund.Step{{Until: start.Add(-24 * time.Hour), Percent: 100},
			{Until: deadline, Percent: 50}}})
	s.clock.Advance(deadline.Sub(s.clock.Now()))
	look(cancellation.Preview{Allowed: true, Refund: 2000, Percent: 50, Until: deadline, Deadline: deadline,
		Steps: []refund.Step{{Until: deadline, Percent: 50}}})
	fail(4000) // the refund that an earlier preview showed
	s.clock.Advance(time.Nanosecond)
	look(cancellation.Preview{Reason: booking.CancelTooLate})
	fail(2000)
	s.clock.Advance(-time.Nanosecond)
	if b, err := c.Bookings.CancelForCustomer(t.Context(), s.offer, id,
		decimal.New(2000, -2)); err != nil || string(b.Status) != booking.StatusCancelled {
		t.Errorf("%+v, %v", b, err)
	}
	look(cancellation.Preview{Reason: booking.StatusCancelled})
	fail(0)
	s.step()
	if !slices.Equal(f.sumRefunds(reference), []int64{2000}) {
		t.Errorf("refunds are %v", f.sumRefunds(reference))
	}
}

// TestRescheduleNeverRaisesRefund reschedules a booking to a late date and cancels it there. A reschedule by the
// customer or the front desk keeps the lower refund of the old date; one by the owner does not.
func TestRescheduleNeverRaisesRefund(t *testing.T) {
	t.Parallel()
	late := booking.Reschedule{Date: "2027-03-30", Time: "09:30"}
	for _, c := range []struct {
		name    string
		before  time.Duration // time before the start
		move    func(*paymentFixture, uuid.UUID, string) error
		percent int
		amount  json.Number
	}{
		{"a customer, too late", time.Hour, (*paymentFixture).rescheduleByLink, 0, "0.00"},
		{"a customer, late", 3 * time.Hour, (*paymentFixture).rescheduleByLink, 50, "20.00"},
		{"a customer, in time", 30 * time.Hour, (*paymentFixture).rescheduleByLink, 100, "40.00"},
		{"the front desk", time.Hour, func(s *paymentFixture, id uuid.UUID, _ string) error {
			_, err := s.client().Reschedule(actor.With(s.t.Context(), ownerActor), s.offer.ID, id, "harbor", late, true)
			return err
		}, 0, "0.00"},
		{"the owner", time.Hour, func(s *paymentFixture, id uuid.UUID, _ string) error {
			_, err := s.client().Reschedule(actor.With(s.t.Context(), ownerActor), s.offer.ID, id, "harbor", late,
				false)
			return err
		}, 100, "40.00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, f := openPolicyShop(t)
			s.change(allowCustomers(new(int), new(int)))
			a := s.book(s.key, newOrder("09:30", map[string]any{"date": "2027-03-03"}))
			f.pay(a.payment(t).Reference)
			s.notify("payment_intent.succeeded", "acct_harbor", a.payment(t).Reference)
			id, token := a.body.Booking.ID, tokenOf(a.body.ManageURL)
			start := time.Date(2027, 3, 3, 9, 30, 0, 0, time.UTC)
			s.clock.Advance(start.Add(-c.before).Sub(s.clock.Now()))
			if err := c.move(s, id, token); err != nil {
				t.Fatal(err)
			}
			got, err := s.client().Cancellation(t.Context(), s.offer.ID, id)
			if err != nil || got.Refund != preview(c.amount, c.percent).Refund {
				t.Errorf("the owner is shown %+v, %v", got.Refund, err)
			}
			view, err := s.pages().CustomerView(t.Context(), token)
			if err != nil || view.Booking.Cancellation.Refund != got.Refund {
				t.Errorf("the customer is shown %+v, %v", view.Booking.Cancellation.Refund, err)
			}
			if err := ignoreFirst(s.pages().Cancel(t.Context(), token,
				booking.CancelByLink{Refund: &c.amount})); err != nil {
				t.Fatal(err)
			}
			s.step()
			if back := s.count(`SELECT refunded FROM payments`); int64(back) != int64(c.percent)*40 {
				t.Errorf("%d was refunded", back)
			}
		})
	}
}

// rescheduleByLink reschedules twice as the customer, to two days at the end of the month.
func (s *paymentFixture) rescheduleByLink(_ uuid.UUID, token string) error {
	for _, date := range []string{"2027-03-29", "2027-03-30"} {
		if _, err := s.pages().Reschedule(s.t.Context(), token,
			booking.Reschedule{Date: date, Time: "09:30"}); err != nil {
			return err
		}
	}
	return nil
}

// TestManualConfirmationAppliesToPaidBookings shows that a paid booking waits until the owner confirms or
// declines it. A declined booking is refunded in full.
func TestManualConfirmationAppliesToPaidBookings(t *testing.T) {
	t.Parallel()
	s, f := openPolicyShop(t)
	s.change(func(o *catalog.Snapshot) { o.Bookings.AutoConfirm = false })
	s.change(allowCustomers(new(int), nil))
	a := s.book(s.key, newOrder("09:30", nil))
	id, token, reference := a.body.Booking.ID, tokenOf(a.body.ManageURL), a.payment(t).Reference
	f.pay(reference)
	for range 2 {
		s.notify("payment_intent.succeeded", "acct_harbor", reference)
		s.expectState("pending", "paid", 1)
	}
	s.expectEvents(id, "booking.created", "payment.succeeded")
	start := time.Date(2027, 3, 2, 9, 30, 0, 0, time.UTC)
	s.clock.Advance(start.Add(-time.Hour).Sub(s.clock.Now())) // the policy refunds nothing at this time
	s.step()
	s.expectState("pending", "paid", 1)
	if got, err := s.client().Cancellation(t.Context(), s.offer.ID, id); err != nil || got.Refund != preview("40.00",
		100).Refund || got.Until != nil {
		t.Errorf("to decline it gives back %+v, %v", got, err)
	}
	if view, err := s.pages().CustomerView(t.Context(), token); err != nil ||
		view.Booking.Cancellation.Refund != preview("0.00", 0).Refund {
		t.Errorf("to withdraw it gives back %+v, %v", view.Booking.Cancellation, err)
	}
	for _, less := range []booking.RefundAmount{booking.RefundNone, "39.99"} {
		if _, err := s.client().Cancel(t.Context(), s.offer.ID, id, booking.Cancel{Refund: less}); !fault.Is(err,
			fault.Conflict) {
			t.Errorf("declined with a refund of %s: %v", less, err)
		}
	}
	s.cancel(id, "")
	s.step()
	s.expectRefund("declined", id, "40.00", &booking.Refund{Amount: "40.00", Percent: 100,
		Status: booking.RefundRefunded})

	id, _ = s.buyPaid(f, "12:30")
	if b, err := s.client().Transition(t.Context(), s.offer.ID, id, booking.TransitionConfirm); err != nil ||
		b.Status != booking.StatusConfirmed {
		t.Fatalf("%+v, %v", b, err)
	}
	if got, err := s.client().Cancellation(t.Context(), s.offer.ID, id); err != nil || got.Refund != preview("20.00",
		50).Refund {
		t.Errorf("once it is confirmed, cancelling gives back %+v, %v", got, err)
	}
}

// TestPaymentConfirmsOwnerBooking shows that the payment confirms a booking that the owner made. This holds
// even if the owner confirms other bookings by hand.
func TestPaymentConfirmsOwnerBooking(t *testing.T) {
	t.Parallel()
	s, f := openPolicyShop(t)
	s.change(func(o *catalog.Snapshot) { o.Bookings.AutoConfirm = false })
	b, err := s.client().Book(actor.With(t.Context(), ownerActor), s.offer.ID, "harbor", newPageRequest("09:30"))
	if err != nil || b.Payment == nil {
		t.Fatalf("%+v, %v", b, err)
	}
	var reference string
	if err := s.pool.QueryRow(t.Context(), `SELECT reference FROM payments WHERE subject_id = $1`,
		b.ID).Scan(&reference); err != nil {
		t.Fatal(err)
	}
	f.pay(reference)
	s.notify("payment_intent.succeeded", "acct_harbor", reference)
	s.expectState("confirmed", "paid", 1)
}
