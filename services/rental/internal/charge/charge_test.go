package charge_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/sale/refund"
	"github.com/slotmesh/slotmesh/services/rental/internal/charge"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
)

var opened = booking.Charge{Status: booking.ChargeOpen, Amount: 4000}

// with returns a changed copy of a charge.
func with(c booking.Charge, changes ...func(*booking.Charge)) booking.Charge {
	for _, change := range changes {
		change(&c)
	}
	return c
}

func status(s string) func(*booking.Charge) { return func(c *booking.Charge) { c.Status = s } }

func back(number int, amount int64, status string) func(*booking.Charge) {
	return func(c *booking.Charge) { c.RefundNumber, c.RefundAmount, c.RefundStatus = number, amount, status }
}

func TestWhatFollowsForAReservation(t *testing.T) {
	t.Parallel()
	failed := time.Unix(1000, 0)
	paid, cancelled := status(booking.ChargePaid), status(booking.ChargeCancelled)
	for name, c := range map[string]struct {
		from        state.State
		known, said booking.Charge
		to          state.State
		told        []event.Type
	}{
		"it is paid": {state.Pending, opened, with(opened, paid), state.Reserved,
			[]event.Type{event.PaymentSucceeded, event.ReservationConfirmed}},
		"nobody paid": {state.Pending, opened, with(opened, cancelled), state.Cancelled,
			[]event.Type{event.PaymentExpired, event.ReservationCancelled}},
		"an attempt failed": {state.Pending, opened, with(opened, func(c *booking.Charge) {
			c.FailedAt = &failed
		}), state.Pending, []event.Type{event.PaymentFailed}},
		"nobody knows": {state.Pending, opened, with(opened, status(booking.ChargeCancelling)), state.Pending,
			nil},
		"paid when it is off": {state.Cancelled, with(opened, status(booking.ChargeCancelling)), with(opened, paid,
			back(1, 4000, booking.RefundPending)), state.Cancelled, []event.Type{event.PaymentSucceeded}},
		"paid too late, which nobody knew": {
			state.Pending, opened, with(opened, paid, back(1, 4000, booking.RefundRefunded)), state.Cancelled,
			[]event.Type{event.PaymentSucceeded, event.ReservationCancelled, event.PaymentRefunded},
		},
		"closed as it was given up": {state.Cancelled, with(opened, status(booking.ChargeCancelling)),
			with(opened, cancelled), state.Cancelled, nil},
		"refunded": {
			state.Cancelled, with(opened, paid, back(1, 2000, booking.RefundPending)),
			with(opened, paid, back(1, 2000, booking.RefundRefunded)), state.Cancelled,
			[]event.Type{event.PaymentRefunded},
		},
		"a second refund": {
			state.Cancelled, with(opened, paid, back(1, 2000, booking.RefundRefunded)),
			with(opened, paid, back(2, 500, booking.RefundRefunded)), state.Cancelled,
			[]event.Type{event.PaymentRefunded},
		},
		"refused": {
			state.Returned, with(opened, paid, back(1, 2000, booking.RefundPending)),
			with(opened, paid, back(1, 2000, booking.RefundRefused)), state.Returned,
			[]event.Type{event.PaymentRefundFailed},
		},
		"refunded at the provider": {
			state.Reserved, with(opened, paid), with(opened, paid, func(c *booking.Charge) {
				c.RefundedElsewhere, c.UpdatedAt = 500, failed
			}), state.Reserved,
			[]event.Type{event.PaymentRefunded},
		},
		"disputed": {
			state.Returned, with(opened, paid), with(opened, paid, func(c *booking.Charge) {
				c.DisputeStatus, c.UpdatedAt = booking.DisputeOpen, failed
			}), state.Returned,
			[]event.Type{event.PaymentDisputed},
		},
		"paid, picked up long since": {state.PickedUp, with(opened, paid), with(opened, paid,
			back(1, 1, booking.RefundRefunded)), state.PickedUp, []event.Type{event.PaymentRefunded}},
	} {
		if !charge.Later(c.known, c.said) || charge.Later(c.said, c.known) || charge.Later(c.said, c.said) {
			t.Errorf("%s: that is not later", name)
		}
		to, told := follow(c.from, c.known, c.said)
		if diff := cmp.Diff(c.told, told); diff != "" || to != c.to {
			t.Errorf("%s: it is %s, want %s; told (-want +got):\n%s", name, to, c.to, diff)
		}
	}
}

// follow applies the steps of a charge. It returns the last state and the events.
func follow(from state.State, known, said booking.Charge) (state.State, []event.Type) {
	var told []event.Type
	for _, s := range charge.Steps(from, known, said) {
		from = s.To
		told = append(told, s.Event)
	}
	return from, told
}

// TestWhatIsPaidOfWhatWasGivenUpIsOwed shows that a payment for a cancelled reservation is refunded completely, even if
// booking did not know about the cancellation.
func TestWhatIsPaidOfWhatWasGivenUpIsOwed(t *testing.T) {
	t.Parallel()
	paid := with(opened, status(booking.ChargePaid))
	off, closing := charge.Closing(charge.Noted(state.Cancelled, with(opened, status(booking.ChargeCancelling)), paid))
	want := booking.CloseCharge{Refund: &booking.NumberedRefund{Number: 1,
		Part: refund.Part{Amount: 4000, Percent: 100}}}
	if diff := cmp.Diff(want, off); diff != "" || !closing {
		t.Error(diff)
	}
	given := with(paid, back(1, 4000, booking.RefundRefunded))
	for from, said := range map[state.State]booking.Charge{state.Pending: paid, state.Reserved: paid,
		state.Cancelled: given} {
		if diff := cmp.Diff(said, charge.Noted(from, opened, said)); diff != "" {
			t.Errorf("%s: %s", from, diff)
		}
	}
	if diff := cmp.Diff(paid, charge.Noted(state.Cancelled, paid, paid)); diff != "" {
		t.Errorf("what was cancelled without a refund: %s", diff)
	}
}

// life draws the states of a charge at booking, beginning with open.
func life(t *rapid.T) []booking.Charge {
	next := map[string][]string{
		booking.ChargeOpen:       {booking.ChargePaid, booking.ChargeCancelling, booking.ChargeCancelled},
		booking.ChargeCancelling: {booking.ChargeCancelled, booking.ChargePaid},
		booking.ChargeCancelled:  {booking.ChargeCancelled, booking.ChargePaid},
	}
	chain := []booking.Charge{opened}
	for range rapid.IntRange(0, 8).Draw(t, "steps") {
		now := chain[len(chain)-1]
		switch {
		case now.Status == booking.ChargeOpen && rapid.Bool().Draw(t, "fails"):
			at := time.Unix(int64(len(chain)), 0)
			now.FailedAt = &at
		case now.Status != booking.ChargePaid:
			off := now.Status != booking.ChargeOpen
			if now.Status = rapid.SampledFrom(next[now.Status]).Draw(t, "becomes"); now.Status == booking.ChargePaid &&
				off {
				now = *charge.Refunded(&now, refund.Part{Amount: 4000, Percent: 100})
			}
		case now.RefundStatus == booking.RefundPending:
			now.RefundStatus = rapid.SampledFrom([]string{booking.RefundRefunded, booking.RefundRefused}).Draw(t,
				"ends")
		case now.RefundStatus == booking.RefundRefunded && rapid.Bool().Draw(t, "bounces"):
			now.RefundStatus = booking.RefundRefused
		default:
			now = *charge.Refunded(&now, refund.Part{Amount: 10, Percent: 1})
		}
		chain = append(chain, now)
	}
	return chain
}

// TestAnswersInAnyOrderLeadToTheLast shows that rental ends with the last state of a charge, even if answers arrive
// late, twice or in another order. Each event is published once. No reservation is both confirmed and cancelled.
func TestAnswersInAnyOrderLeadToTheLast(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		chain := life(t)
		known, at, told := opened, state.Pending, []event.Type{}
		arrivals := rapid.SliceOfN(rapid.IntRange(0, len(chain)-1), 1, 20).Draw(t, "arrivals")
		for _, i := range arrivals {
			if !charge.Later(known, chain[i]) {
				continue
			}
			to, events := follow(at, known, chain[i])
			if at != state.Pending && to != at {
				t.Fatalf("it was %s and becomes %s", at, to)
			}
			known, at, told = chain[i], to, append(told, events...)
		}
		if diff := cmp.Diff(chain[slices.Max(arrivals)], known); diff != "" {
			t.Fatalf("the last that was said is not what is known:\n%s", diff)
		}
		count := map[event.Type]int{}
		for _, e := range told {
			count[e]++
		}
		for _, once := range []event.Type{event.PaymentSucceeded, event.PaymentExpired, event.ReservationConfirmed,
			event.ReservationCancelled} {
			if count[once] > 1 {
				t.Fatalf("%s is told %d times", once, count[once])
			}
		}
		if count[event.ReservationConfirmed]+count[event.ReservationCancelled] > 1 ||
			count[event.PaymentRefunded] > known.RefundNumber {
			t.Fatalf("told %v of %+v", told, known)
		}
	})
}

func TestWhatIsOwedIsKeptUntilBookingHasTakenIt(t *testing.T) {
	t.Parallel()
	half := refund.Part{Amount: 2000, Percent: 50}
	paid := with(opened, status(booking.ChargePaid))
	if c := charge.Cancelled(nil, half); c != nil {
		t.Errorf("of nothing: %+v", c)
	}
	if _, closing := charge.Closing(paid); closing {
		t.Error("what is paid is closed")
	}
	if off, closing := charge.Closing(*charge.Cancelled(&opened, refund.Part{})); !closing || off.Refund != nil {
		t.Errorf("given up: %+v", off)
	}
	if _, closing := charge.Closing(*charge.Cancelled(&paid, refund.Part{})); closing {
		t.Error("what is cancelled without a refund is told")
	}
	off, closing := charge.Closing(*charge.Cancelled(&paid, half))
	want := booking.CloseCharge{Refund: &booking.NumberedRefund{Number: 1, Part: half}}
	if diff := cmp.Diff(want, off); diff != "" || !closing || paid.RefundNumber != 0 {
		t.Error(diff)
	}
}
