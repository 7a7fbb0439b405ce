package api_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/sale/refund"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// newPaymentsClient returns a client of the payments API, as the service `rental` uses it.
func (w *fixture) newPaymentsClient() *bookingclient.ReservationPayments {
	p := peer.New("booking", w.internal, telemetry.Discard(), peer.Timeout(2*time.Minute))
	w.t.Cleanup(p.Close)
	return bookingclient.NewReservationPayments(p)
}

// kayaks returns the payment of a reservation for 40.00 EUR.
func (s *paymentFixture) kayaks() booking.NewReservationPayment {
	return booking.NewReservationPayment{Slug: s.offer.Slug, Name: "2 × Kayak", Amount: 4000, Currency: "EUR",
		Manage: pagesURL + "/m/token"}
}

// openCharge opens the payment of a reservation, and returns the id of its Checkout Session.
func (s *paymentFixture) openCharge(id uuid.UUID) string {
	s.t.Helper()
	checkout, err := s.newPaymentsClient().Open(s.t.Context(), s.offer.ID, id, s.kayaks())
	if err != nil {
		s.t.Fatal(err)
	}
	return checkout.CheckoutURL[strings.LastIndexByte(checkout.CheckoutURL, '/')+1:]
}

// findPayment returns the payment of a reservation as the API returns it to rental.
func (s *paymentFixture) findPayment(id uuid.UUID) booking.PaymentState {
	s.t.Helper()
	found, err := s.newPaymentsClient().List(s.t.Context(), []booking.ReservationID{{BusinessID: s.offer.ID, ID: id},
		{BusinessID: s.offer.ID, ID: uuid.New()}})
	if err != nil || len(found) != 1 || found[0].ID != id || found[0].BusinessID != s.offer.ID {
		s.t.Fatalf("the payment of one reservation is %+v, %v", found, err)
	}
	return found[0].Payment
}

func TestReservationPaymentIsOpenedOnceAndPaid(t *testing.T) {
	t.Parallel()
	f := newFakeStripe(t)
	s := openShop(t, f.URL)
	id, charges := uuid.New(), s.newPaymentsClient()
	checkout, err := charges.Open(t.Context(), s.offer.ID, id, s.kayaks())
	if err != nil {
		t.Fatal(err)
	}
	want := booking.PaymentState{Provider: "stripe", Status: booking.PaymentStateOpen, Amount: 4000,
		DueAt: now.Add(expiresAfter),
		Step:  1, UpdatedAt: now}
	if diff := cmp.Diff(want, checkout.Payment); diff != "" {
		t.Error(diff)
	}
	session := checkout.CheckoutURL[strings.LastIndexByte(checkout.CheckoutURL, '/')+1:]
	page := f.page(session)
	for name, value := range map[string]string{
		"line_items[0][price_data][unit_amount]": "4000", "line_items[0][price_data][product_data][name]": "2 × Kayak",
		"success_url": pagesURL + "/m/token?payment=done", "cancel_url": pagesURL + "/m/token?payment=open",
		"metadata[slotmesh_reservation]":                      id.String(),
		"payment_intent_data[metadata][slotmesh_reservation]": id.String(),
	} {
		if page.params[name] != value {
			t.Errorf("Stripe was asked for %s %q, want %q", name, page.params[name], value)
		}
	}
	for name, ask := range map[string]func() (*booking.ReservationCheckout, error){
		"opened again": func() (*booking.ReservationCheckout, error) {
			return charges.Open(t.Context(), s.offer.ID, id, s.kayaks())
		},
		"its page once more": func() (*booking.ReservationCheckout, error) {
			return charges.FindCheckout(t.Context(), s.offer.ID, id)
		},
	} {
		if again, err := ask(); err != nil || cmp.Diff(checkout, again) != "" {
			t.Errorf("%s: %+v, %v", name, again, err)
		}
	}
	s.sendEvent("payment_intent.payment_failed", map[string]any{"id": "pi_any",
		"metadata": map[string]string{"slotmesh_business": s.offer.ID.String(), "slotmesh_reservation": id.String()}})
	failed := time.Unix(1803888000, 0).UTC()
	want.FailedAt = &failed
	if diff := cmp.Diff(want, s.findPayment(id)); diff != "" {
		t.Errorf("an attempt failed: %s", diff)
	}
	s.paysFor(f, session)
	if got := s.findPayment(id); got.Status != booking.PaymentStatePaid {
		t.Errorf("the paid payment is %+v", got)
	}
	if _, err := charges.FindCheckout(t.Context(), s.offer.ID, id); !fault.Is(err, fault.Conflict) {
		t.Errorf("the payment page of a paid reservation: %v", err)
	}
	if n := s.count(`SELECT count(*) FROM events WHERE subject_kind = 'reservation'`); n != 0 {
		t.Errorf("%d events of reservations, which rental records", n)
	}
}

func TestReservationPaymentEndsLikeBookingPayment(t *testing.T) {
	t.Parallel()
	off := func(s *paymentFixture, id uuid.UUID, refund *booking.NumberedRefund) {
		if _, err := s.newPaymentsClient().Close(context.Background(), s.offer.ID, id,
			booking.ClosePayment{Refund: refund}); err != nil {
			s.t.Error(err)
		}
	}
	part := &booking.NumberedRefund{Number: 1, Part: refund.Part{Amount: 1500, Percent: 38}}
	for name, c := range map[string]struct {
		act     func(s *paymentFixture, f *fakeStripe, id uuid.UUID, session string)
		status  string
		refunds []int64
	}{
		"nobody pays": {func(*paymentFixture, *fakeStripe, uuid.UUID, string) {}, booking.PaymentStateCancelled, nil},
		"paid at the end": {func(s *paymentFixture, f *fakeStripe, _ uuid.UUID, page string) {
			f.checkOut(s.t.(*testing.T), page)
		}, booking.PaymentStatePaid, nil},
		"Stripe ends it": {func(s *paymentFixture, _ *fakeStripe, _ uuid.UUID, page string) {
			s.sendEvent("checkout.session.expired", map[string]any{"id": page})
		}, booking.PaymentStateCancelled, nil},
		"given up": {func(s *paymentFixture, _ *fakeStripe, id uuid.UUID, _ string) {
			off(s, id, nil)
			off(s, id, nil)
		}, booking.PaymentStateCancelled, nil},
		"given up while it was paid": {func(s *paymentFixture, f *fakeStripe, id uuid.UUID, page string) {
			f.checkOut(s.t.(*testing.T), page)
			off(s, id, nil)
			s.sendEvent("checkout.session.completed", map[string]any{"id": page, "payment_status": "paid"})
			off(s, id, nil)
		}, booking.PaymentStatePaid, []int64{4000}},
		"given up after it was paid": {func(s *paymentFixture, f *fakeStripe, id uuid.UUID, page string) {
			s.paysFor(f, page)
			off(s, id, nil)
			off(s, id, nil)
		}, booking.PaymentStatePaid, []int64{4000}},
		"paid and cancelled": {func(s *paymentFixture, f *fakeStripe, id uuid.UUID, page string) {
			s.paysFor(f, page)
			off(s, id, part)
			s.step()
			off(s, id, part) // rental repeats the request, because it got no response
		}, booking.PaymentStatePaid, []int64{1500}},
		"paid and cancelled without a refund": {func(s *paymentFixture, f *fakeStripe, id uuid.UUID, page string) {
			s.paysFor(f, page)
			off(s, id, &booking.NumberedRefund{Number: 1})
		}, booking.PaymentStatePaid, nil},
		"refunded twice": {func(s *paymentFixture, f *fakeStripe, id uuid.UUID, page string) {
			s.paysFor(f, page)
			off(s, id, part)
			s.step()
			off(s, id, &booking.NumberedRefund{Number: 2, Part: refund.Part{Amount: 2500, Percent: 62}})
			off(s, id, part)
		}, booking.PaymentStatePaid, []int64{1500, 2500}},
		"its process dies before the page is noted": {func(s *paymentFixture, _ *fakeStripe, _ uuid.UUID, _ string) {
			if _, err := s.pool.Exec(context.Background(),
				`UPDATE payments SET status = 'creating', reference = NULL`); err != nil {
				s.t.Error(err)
			}
		}, booking.PaymentStateCancelled, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeStripe(t)
			s := openShop(t, f.URL)
			id := uuid.New()
			session := s.openCharge(id)
			c.act(s, f, id, session)
			for range 2 {
				s.clock.Advance(expiresAfter)
				s.step()
			}
			var back int64
			for _, n := range c.refunds {
				back += n
			}
			if got := s.findPayment(id); got.Status != c.status || got.Refunded != back {
				t.Errorf("the payment is %+v, want it %s with %d refunded", got, c.status, back)
			}
			if got := f.sumRefunds("pi_of_" + session); !slices.Equal(got, c.refunds) {
				t.Errorf("refunds are %v, want %v", got, c.refunds)
			}
			if n := s.count(`SELECT count(*) FROM events WHERE subject_kind = 'reservation'`); n != 0 {
				t.Errorf("booking has %d events about reservations, which belong to rental", n)
			}
		})
	}
}

func TestUnopenedReservationPaymentIsCancelled(t *testing.T) {
	t.Parallel()
	f := newFakeStripe(t)
	s := openShop(t, f.URL)
	for name, m := range map[string]behavior{"fails": fails, "breaks": breaks} {
		f.set(m)
		id := uuid.New()
		if _, err := s.newPaymentsClient().Open(t.Context(), s.offer.ID, id, s.kayaks()); !fault.Is(err,
			fault.PaymentUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
		f.set(answers)
		s.step()
		if got := s.findPayment(id); got.Status != booking.PaymentStateCancelled {
			t.Errorf("%s: the payment is %s", name, got.Status)
		}
		if _, err := s.newPaymentsClient().Open(t.Context(), s.offer.ID, id, s.kayaks()); !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: a closed payment is opened again: %v", name, err)
		}
	}
	for name, req := range map[string]booking.NewReservationPayment{
		"nothing to pay":   {Slug: s.offer.Slug, Name: "Kayak", Currency: "EUR", Manage: "https://x"},
		"another currency": {Slug: s.offer.Slug, Name: "Kayak", Amount: 1, Currency: "USD", Manage: "https://x"},
		"no link":          {Slug: s.offer.Slug, Name: "Kayak", Amount: 1, Currency: "EUR"},
	} {
		if _, err := s.newPaymentsClient().Open(t.Context(), s.offer.ID, uuid.New(), req); !fault.Is(err,
			fault.InvalidParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.newPaymentsClient().Close(t.Context(), s.offer.ID, uuid.New(), booking.ClosePayment{}); !fault.Is(err,
		fault.NotFound) {
		t.Errorf("closing an unknown payment: %v", err)
	}
	if _, err := s.newPaymentsClient().List(t.Context(),
		make([]booking.ReservationID, booking.MaxReservationPayments+1)); !fault.Is(err,
		fault.InvalidParameter) {
		t.Errorf("too many ids: %v", err)
	}
}

// TestConcurrentPaymentEndsRefundOnce has customers pay payments while rental closes them and
// they expire. A paid payment that rental closed is refunded in full, exactly once. A paid payment that rental did not
// close is not refunded.
func TestConcurrentPaymentEndsRefundOnce(t *testing.T) {
	t.Parallel()
	f := newFakeStripe(t)
	s := openShop(t, f.URL)
	const n = 32
	ids, pages := make([]uuid.UUID, n), make([]string, n)
	for i := range n {
		ids[i] = uuid.New()
		pages[i] = s.openCharge(ids[i])
	}
	s.clock.Advance(expiresAfter)
	client := s.newPaymentsClient()
	var wg sync.WaitGroup
	for i := range n {
		if i%2 == 0 {
			f.checkOut(t, pages[i])
			wg.Go(func() {
				s.sendEvent("checkout.session.completed", map[string]any{"id": pages[i], "payment_status": "paid"})
			})
		}
		for range i % 3 {
			wg.Go(func() {
				if _, err := client.Close(t.Context(), s.offer.ID, ids[i], booking.ClosePayment{}); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Go(func() { _ = s.payments.Reconcile(t.Context()) })
	wg.Wait()
	for range 2 {
		s.clock.Advance(2 * time.Hour)
		s.step()
	}
	for i := range n {
		want, back := booking.PaymentStateCancelled, []int64(nil)
		if i%2 == 0 {
			want = booking.PaymentStatePaid
			if i%3 > 0 {
				back = []int64{4000}
			}
		}
		if got := s.findPayment(ids[i]); got.Status != want || !slices.Equal(f.sumRefunds("pi_of_"+pages[i]), back) {
			t.Errorf("%d: it is %s and refunds are %v, want %s, %v", i, got.Status, f.sumRefunds("pi_of_"+pages[i]), want,
				back)
		}
	}
}

// TestReservationRefundSurvivesCrash kills booking at random points while rental closes the payments of
// reservations. Rental repeats each request until it gets an answer. Each refund is made once.
func TestReservationRefundSurvivesCrash(t *testing.T) {
	t.Parallel()
	s, f := openPolicyShop(t)
	s.killRefunds(t, f, 100, saleKind{
		buy: func(int) (uuid.UUID, string) {
			id := uuid.New()
			page := s.openCharge(id)
			s.paysFor(f, page)
			return id, "pi_of_" + page
		},
		cancel: func(ctx context.Context, records *store.Store, id uuid.UUID, requested booking.RefundAmount) error {
			amount := refund.Part{Amount: 4000, Percent: 100}
			switch requested {
			case booking.RefundFull:
			case booking.RefundNone:
				amount = refund.Part{}
			default:
				cents, err := strconv.ParseInt(strings.Replace(string(requested), ".", "", 1), 10, 64)
				if err != nil {
					return err
				}
				amount = refund.NewPart(cents, 4000)
			}
			return records.CloseReservationPayment(ctx, s.offer.ID, id, &booking.NumberedRefund{Number: 1, Part: amount},
				s.clock.Now())
		},
		expect: func(id uuid.UUID, reference string, amount int64) {
			var want []int64
			if amount > 0 {
				want = []int64{amount}
			}
			if got := f.sumRefunds(reference); !slices.Equal(got, want) || s.findPayment(id).Refunded != amount {
				t.Errorf("%s: refunds are %v, and %d is stored; want %v", id, got, s.findPayment(id).Refunded, want)
			}
		},
	})
}

// TestReportsWaitForAcknowledgement shows that booking returns news of a payment until rental confirms
// them. Later news of the same payment are returned again.
func TestReportsWaitForAcknowledgement(t *testing.T) {
	t.Parallel()
	f := newFakeStripe(t)
	s := openShop(t, f.URL)
	id, charges := uuid.New(), s.newPaymentsClient()
	session := s.openCharge(id)
	s.paysFor(f, session)
	reference := "pi_of_" + session
	waiting := func(want int64) {
		t.Helper()
		news, err := charges.ListReports(t.Context())
		if err != nil || (want == 0) != (len(news) == 0) || want > 0 &&
			(len(news) != 1 || news[0].ID != id || news[0].Reports != want) {
			t.Errorf("%+v wait, want news %d: %v", news, want, err)
		}
	}
	noted := func(news int64) {
		t.Helper()
		ctx := actor.With(t.Context(), actor.Actor{Kind: actor.System})
		err := charges.AcknowledgeReports(ctx,
			[]booking.ReportAcknowledgement{{ReservationID: booking.ReservationID{BusinessID: s.offer.ID, ID: id},
				Reports: news}})
		if err != nil {
			t.Error(err)
		}
	}
	waiting(0)
	s.handleEvent("charge.dispute.created", map[string]any{"id": "dp_1", "object": "dispute", "payment_intent": reference,
		"status": "needs_response", "reason": "fraudulent"})
	waiting(1)
	waiting(1)
	if got := s.findPayment(id); got.DisputeStatus != booking.DisputeOpen {
		t.Errorf("the payment is %+v", got)
	}
	s.handleEvent("charge.dispute.closed", map[string]any{"id": "dp_1", "object": "dispute", "payment_intent": reference,
		"status": "won", "reason": "fraudulent"})
	noted(1)
	waiting(2)
	noted(2)
	noted(1)
	waiting(0)
}
