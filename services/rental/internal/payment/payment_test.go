package payment_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/sale/refund"
	"github.com/slotmesh/slotmesh/services/rental/internal/payment"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
)

var openPayment = booking.PaymentState{Status: booking.PaymentStateOpen, Amount: 4000}

// change returns a changed copy of a payment.
func change(c booking.PaymentState, changes ...func(*booking.PaymentState)) booking.PaymentState {
	for _, change := range changes {
		change(&c)
	}
	return c
}

func status(s string) func(*booking.PaymentState) {
	return func(c *booking.PaymentState) { c.Status = s }
}

func refunded(number int, amount int64, status string) func(*booking.PaymentState) {
	return func(c *booking.PaymentState) { c.RefundNumber, c.RefundAmount, c.RefundStatus = number, amount, status }
}

func TestPlanStepsFollowsPayment(t *testing.T) {
	t.Parallel()
	failed := time.Unix(1000, 0)
	paid, cancelled := status(booking.PaymentStatePaid), status(booking.PaymentStateCancelled)
	for name, c := range map[string]struct {
		from             state.State
		stored, reported booking.PaymentState
		to               state.State
		events           []event.Type
	}{
		"it is paid": {state.Pending, openPayment, change(openPayment, paid), state.Reserved,
			[]event.Type{event.PaymentSucceeded, event.ReservationConfirmed}},
		"nobody paid": {state.Pending, openPayment, change(openPayment, cancelled), state.Cancelled,
			[]event.Type{event.PaymentExpired, event.ReservationCancelled}},
		"an attempt failed": {state.Pending, openPayment, change(openPayment, func(c *booking.PaymentState) {
			c.FailedAt = &failed
		}), state.Pending, []event.Type{event.PaymentFailed}},
		"nobody knows": {state.Pending, openPayment, change(openPayment, status(booking.PaymentStateCancelling)),
			state.Pending,
			nil},
		"paid when it is off": {state.Cancelled, change(openPayment, status(booking.PaymentStateCancelling)),
			change(openPayment, paid,
				refunded(1, 4000, booking.RefundPending)), state.Cancelled, []event.Type{event.PaymentSucceeded}},
		"paid too late, which nobody knew": {
			state.Pending, openPayment, change(openPayment, paid, refunded(1, 4000, booking.RefundRefunded)),
			state.Cancelled,
			[]event.Type{event.PaymentSucceeded, event.ReservationCancelled, event.PaymentRefunded},
		},
		"closed as it was given up": {state.Cancelled, change(openPayment, status(booking.PaymentStateCancelling)),
			change(openPayment, cancelled), state.Cancelled, nil},
		"refunded": {
			state.Cancelled, change(openPayment, paid, refunded(1, 2000, booking.RefundPending)),
			change(openPayment, paid, refunded(1, 2000, booking.RefundRefunded)), state.Cancelled,
			[]event.Type{event.PaymentRefunded},
		},
		"a second refund": {
			state.Cancelled, change(openPayment, paid, refunded(1, 2000, booking.RefundRefunded)),
			change(openPayment, paid, refunded(2, 500, booking.RefundRefunded)), state.Cancelled,
			[]event.Type{event.PaymentRefunded},
		},
		"refused": {
			state.Returned, change(openPayment, paid, refunded(1, 2000, booking.RefundPending)),
			change(openPayment, paid, refunded(1, 2000, booking.RefundRefused)), state.Returned,
			[]event.Type{event.PaymentRefundFailed},
		},
		"refunded at the provider": {
			state.Reserved, change(openPayment, paid), change(openPayment, paid, func(c *booking.PaymentState) {
				c.RefundedElsewhere, c.UpdatedAt = 500, failed
			}), state.Reserved,
			[]event.Type{event.PaymentRefunded},
		},
		"disputed": {
			state.Returned, change(openPayment, paid), change(openPayment, paid, func(c *booking.PaymentState) {
				c.DisputeStatus, c.UpdatedAt = booking.DisputeOpen, failed
			}), state.Returned,
			[]event.Type{event.PaymentDisputed},
		},
		"paid, picked up long since": {state.PickedUp, change(openPayment, paid), change(openPayment, paid,
			refunded(1, 1, booking.RefundRefunded)), state.PickedUp, []event.Type{event.PaymentRefunded}},
	} {
		if !payment.IsNewer(c.stored, c.reported) || payment.IsNewer(c.reported, c.stored) || payment.IsNewer(c.reported, c.reported) {
			t.Errorf("%s: that is not later", name)
		}
		to, eventTypes := follow(c.from, c.stored, c.reported)
		if diff := cmp.Diff(c.events, eventTypes); diff != "" || to != c.to {
			t.Errorf("%s: it is %s, want %s; events (-want +got):\n%s", name, to, c.to, diff)
		}
	}
}

// follow applies the steps of a payment. It returns the last state and the events.
func follow(from state.State, stored, reported booking.PaymentState) (state.State, []event.Type) {
	var eventTypes []event.Type
	for _, s := range payment.PlanSteps(from, stored, reported) {
		from = s.To
		eventTypes = append(eventTypes, s.Event)
	}
	return from, eventTypes
}

// TestPaymentOfCancelledReservationIsRefunded shows that a payment for a cancelled reservation is refunded completely,
// even if booking did not know about the cancellation.
func TestPaymentOfCancelledReservationIsRefunded(t *testing.T) {
	t.Parallel()
	paid := change(openPayment, status(booking.PaymentStatePaid))
	closeReq, mustClose := payment.NewCloseRequest(payment.Merge(state.Cancelled,
		change(openPayment, status(booking.PaymentStateCancelling)), paid))
	want := booking.ClosePayment{Refund: &booking.NumberedRefund{Number: 1,
		Part: refund.Part{Amount: 4000, Percent: 100}}}
	if diff := cmp.Diff(want, closeReq); diff != "" || !mustClose {
		t.Error(diff)
	}
	given := change(paid, refunded(1, 4000, booking.RefundRefunded))
	for from, reported := range map[state.State]booking.PaymentState{state.Pending: paid, state.Reserved: paid,
		state.Cancelled: given} {
		if diff := cmp.Diff(reported, payment.Merge(from, openPayment, reported)); diff != "" {
			t.Errorf("%s: %s", from, diff)
		}
	}
	if diff := cmp.Diff(paid, payment.Merge(state.Cancelled, paid, paid)); diff != "" {
		t.Errorf("a reservation that was cancelled without a refund: %s", diff)
	}
}

// drawHistory draws the states of a payment at booking, beginning with open.
func drawHistory(t *rapid.T) []booking.PaymentState {
	next := map[string][]string{
		booking.PaymentStateOpen: {booking.PaymentStatePaid, booking.PaymentStateCancelling,
			booking.PaymentStateCancelled},
		booking.PaymentStateCancelling: {booking.PaymentStateCancelled, booking.PaymentStatePaid},
		booking.PaymentStateCancelled:  {booking.PaymentStateCancelled, booking.PaymentStatePaid},
	}
	chain := []booking.PaymentState{openPayment}
	for range rapid.IntRange(0, 8).Draw(t, "steps") {
		now := chain[len(chain)-1]
		switch {
		case now.Status == booking.PaymentStateOpen && rapid.Bool().Draw(t, "fails"):
			at := time.Unix(int64(len(chain)), 0)
			now.FailedAt = &at
		case now.Status != booking.PaymentStatePaid:
			isCancelled := now.Status != booking.PaymentStateOpen
			if now.Status = rapid.SampledFrom(next[now.Status]).Draw(t,
				"becomes"); now.Status == booking.PaymentStatePaid &&
				isCancelled {
				now = *payment.StartRefund(&now, refund.Part{Amount: 4000, Percent: 100})
			}
		case now.RefundStatus == booking.RefundPending:
			now.RefundStatus = rapid.SampledFrom([]string{booking.RefundRefunded, booking.RefundRefused}).Draw(t,
				"ends")
		case now.RefundStatus == booking.RefundRefunded && rapid.Bool().Draw(t, "bounces"):
			now.RefundStatus = booking.RefundRefused
		default:
			now = *payment.StartRefund(&now, refund.Part{Amount: 10, Percent: 1})
		}
		chain = append(chain, now)
	}
	return chain
}

// TestReportsInAnyOrderKeepNewest shows that rental ends with the last state of a payment, even if answers arrive
// late, twice or in another order. Each event is published once. No reservation is both confirmed and cancelled.
func TestReportsInAnyOrderKeepNewest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		chain := drawHistory(t)
		stored, at, eventTypes := openPayment, state.Pending, []event.Type{}
		arrivals := rapid.SliceOfN(rapid.IntRange(0, len(chain)-1), 1, 20).Draw(t, "arrivals")
		for _, i := range arrivals {
			if !payment.IsNewer(stored, chain[i]) {
				continue
			}
			to, events := follow(at, stored, chain[i])
			if at != state.Pending && to != at {
				t.Fatalf("the status changes from %s to %s", at, to)
			}
			stored, at, eventTypes = chain[i], to, append(eventTypes, events...)
		}
		if diff := cmp.Diff(chain[slices.Max(arrivals)], stored); diff != "" {
			t.Fatalf("the stored state is not the newest report:\n%s", diff)
		}
		count := map[event.Type]int{}
		for _, e := range eventTypes {
			count[e]++
		}
		for _, once := range []event.Type{event.PaymentSucceeded, event.PaymentExpired, event.ReservationConfirmed,
			event.ReservationCancelled} {
			if count[once] > 1 {
				t.Fatalf("event %s is recorded %d times", once, count[once])
			}
		}
		if count[event.ReservationConfirmed]+count[event.ReservationCancelled] > 1 ||
			count[event.PaymentRefunded] > stored.RefundNumber {
			t.Fatalf("events %v of %+v", eventTypes, stored)
		}
	})
}

func TestRefundIsKeptUntilBookingAcceptsIt(t *testing.T) {
	t.Parallel()
	half := refund.Part{Amount: 2000, Percent: 50}
	paid := change(openPayment, status(booking.PaymentStatePaid))
	if c := payment.Cancel(nil, half); c != nil {
		t.Errorf("the cancellation without a payment: %+v", c)
	}
	if _, mustClose := payment.NewCloseRequest(paid); mustClose {
		t.Error("a paid payment is closed")
	}
	if closeReq, mustClose := payment.NewCloseRequest(*payment.Cancel(&openPayment, refund.Part{})); !mustClose ||
		closeReq.Refund != nil {
		t.Errorf("a cancelled payment: %+v", closeReq)
	}
	if _, mustClose := payment.NewCloseRequest(*payment.Cancel(&paid, refund.Part{})); mustClose {
		t.Error("a cancellation without a refund makes a request")
	}
	closeReq, mustClose := payment.NewCloseRequest(*payment.Cancel(&paid, half))
	want := booking.ClosePayment{Refund: &booking.NumberedRefund{Number: 1, Part: half}}
	if diff := cmp.Diff(want, closeReq); diff != "" || !mustClose || paid.RefundNumber != 0 {
		t.Error(diff)
	}
}
