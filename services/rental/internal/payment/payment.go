// Package payment decides how a reservation changes when the booking service reports the state of its payment
// (pages.md, lifecycle.md §4). Its functions are pure.
//
// The booking service stores the payment; the reservation stores the last state that the booking service reported. The
// states of a payment have an order, and the stored state only advances in this order. Therefore the later of two
// reports wins, even if the earlier report arrives last.
//
// A payment is open while the customer can pay on the provider's page. During this time, only a report of the booking
// service confirms the reservation. The units of the reservation become free only after a report of the booking service
// or a cancellation.
package payment

import (
	"cmp"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/sale/refund"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
)

// New returns the payment of a reservation that is about to be written. The argument
// `amount` is in minor units. The argument `by` is the deadline for opening the
// payment: if the payment is not open at this instant, the reservation is cancelled.
func New(amount int64, by time.Time) *booking.PaymentState {
	return &booking.PaymentState{Status: booking.PaymentStateCreating, Amount: amount, DueAt: by}
}

// The maps `statuses` and `refunds` give the order of the statuses of a payment and of a
// refund. A report with an earlier status than the stored status is ignored. The status "paid"
// comes after "cancelled", because the customer can pay just before the payment is cancelled.
var (
	statuses = map[string]int{booking.PaymentStateCreating: 0, booking.PaymentStateOpen: 1,
		booking.PaymentStateCancelling: 2,
		booking.PaymentStateCancelled:  3, booking.PaymentStatePaid: 4}
	refunds = map[string]int{"": 0, booking.RefundPending: 1, booking.RefundRefunded: 2, booking.RefundRefused: 3}
)

// IsNewer reports whether the payment `reported`, which the booking service has reported, is newer than the stored
// payment `stored`.
func IsNewer(stored, reported booking.PaymentState) bool {
	order := cmp.Or(
		cmp.Compare(statuses[reported.Status], statuses[stored.Status]),
		cmp.Compare(reported.RefundNumber, stored.RefundNumber),
		cmp.Compare(refunds[reported.RefundStatus], refunds[stored.RefundStatus]),
	)
	return order > 0 || order == 0 && (hasNewFailure(stored, reported) || hasNewReport(stored, reported))
}

// hasNewReport reports whether the payment `reported` is later than the payment `stored` and has different
// data. The compared data are the sum of refunds made at the provider, and the status of a dispute.
func hasNewReport(stored, reported booking.PaymentState) bool {
	return reported.UpdatedAt.After(stored.UpdatedAt) && (reported.RefundedElsewhere != stored.RefundedElsewhere ||
		reported.DisputeStatus != stored.DisputeStatus)
}

// hasNewFailure reports whether the payment `reported` contains a failed
// payment attempt that the payment `stored` does not contain.
func hasNewFailure(stored, reported booking.PaymentState) bool {
	return reported.FailedAt != nil && (stored.FailedAt == nil || reported.FailedAt.After(*stored.FailedAt))
}

// Merge returns the payment to store for a reservation after the booking service has reported its payment. The argument
// `status` is the status of the reservation, `stored` is the stored payment, and `reported` is the reported payment.
//
// If the booking service reports that the payment of a cancelled reservation is paid, the result has a pending refund
// of the whole amount. The rental service then requests this refund from the booking service.
func Merge(status state.State, stored, reported booking.PaymentState) booking.PaymentState {
	if status == state.Cancelled && stored.Status != booking.PaymentStatePaid &&
		reported.Status == booking.PaymentStatePaid &&
		reported.RefundNumber == 0 {
		return *StartRefund(&reported, refund.Part{Amount: reported.Amount, Percent: 100})
	}
	return reported
}

// Step is a change of a reservation that is recorded as one event. To is the status of the reservation after the step.
// One report of the booking service can cause several steps; the reported payment is stored with the first step.
type Step struct {
	Event event.Type
	To    state.State
}

// PlanSteps returns the changes of a reservation after the booking service has reported its payment. The argument
// `status` is the status of the reservation, `stored` is the stored payment, and `reported` is the reported payment.
// The caller must first check with [IsNewer] that the reported payment is newer. If the result is empty, the caller
// only stores the payment.
func PlanSteps(status state.State, stored, reported booking.PaymentState) []Step {
	var steps []Step
	add := func(e event.Type, to state.State) {
		steps = append(steps, Step{e, to})
		status = to
	}
	if hasNewFailure(stored, reported) {
		add(event.PaymentFailed, status)
	}
	switch {
	case reported.Status == stored.Status:
	case reported.Status == booking.PaymentStatePaid:
		add(event.PaymentSucceeded, status)
	case reported.Status == booking.PaymentStateCancelled && stored.Status != booking.PaymentStateCancelling:
		// If the stored status is cancelling, the rental service has asked the booking service to close the payment.
		// The payment is then closed because of this request, not because it expired.
		add(event.PaymentExpired, status)
	}
	if status == state.Pending {
		switch {
		case reported.Status == booking.PaymentStatePaid && reported.RefundNumber == 0:
			add(event.ReservationConfirmed, state.Reserved)
		case reported.Status == booking.PaymentStatePaid || reported.Status == booking.PaymentStateCancelled:
			// The payment expired, or the customer paid too late. After a late payment, the payment already
			// has a refund: the booking service gives the money back.
			add(event.ReservationCancelled, state.Cancelled)
		}
	}
	if reported.RefundStatus == booking.RefundRefunded && (stored.RefundStatus != booking.RefundRefunded ||
		stored.RefundNumber != reported.RefundNumber) {
		add(event.PaymentRefunded, status)
	}
	if reported.RefundStatus == booking.RefundRefused && (stored.RefundStatus != booking.RefundRefused ||
		stored.RefundNumber != reported.RefundNumber) {
		add(event.PaymentRefundFailed, status)
	}
	switch {
	case reported.RefundedElsewhere > stored.RefundedElsewhere:
		add(event.PaymentRefunded, status)
	case reported.RefundedElsewhere < stored.RefundedElsewhere:
		add(event.PaymentRefundFailed, status)
	}
	if reported.DisputeStatus != stored.DisputeStatus {
		add(event.PaymentDisputed, status)
	}
	return steps
}

// Cancel returns the new state of the payment `c` after the reservation was cancelled. A payment
// that is not paid yet becomes "cancelling" and can no longer be paid. For a paid payment, Cancel
// adds the refund in the argument `part`, as [StartRefund] does. The result is nil if `c` is nil.
func Cancel(c *booking.PaymentState, part refund.Part) *booking.PaymentState {
	if c == nil {
		return nil
	}
	if c.Status == booking.PaymentStateCreating || c.Status == booking.PaymentStateOpen {
		closing := *c
		closing.Status = booking.PaymentStateCancelling
		return &closing
	}
	return StartRefund(c, part)
}

// StartRefund returns a copy of the payment `c` with a pending refund under the next refund number. The argument
// `part` gives the amount of the refund. If `c` is nil or the amount is zero, StartRefund returns `c` unchanged.
func StartRefund(c *booking.PaymentState, part refund.Part) *booking.PaymentState {
	if c == nil || part.Amount == 0 {
		return c
	}
	back := *c
	back.RefundNumber++
	back.RefundAmount, back.RefundPercent, back.RefundStatus, back.RefundReason = part.Amount, part.Percent,
		booking.RefundPending, ""
	return &back
}

// NewCloseRequest returns the request to the booking service that closes the payment or refunds it. The rental service
// repeats the request until the booking service accepts it. The second result is false if the payment needs no such
// request.
func NewCloseRequest(c booking.PaymentState) (booking.ClosePayment, bool) {
	switch {
	case c.RefundStatus == booking.RefundPending:
		return booking.ClosePayment{Refund: &booking.NumberedRefund{Number: c.RefundNumber,
			Part: refund.Part{Amount: c.RefundAmount, Percent: c.RefundPercent}}}, true
	case c.Status == booking.PaymentStateCancelling:
		return booking.ClosePayment{}, true
	}
	return booking.ClosePayment{}, false
}
