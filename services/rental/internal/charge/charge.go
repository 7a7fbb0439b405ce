// Package charge decides how a reservation changes when booking reports the
// state of its charge (pages.md, lifecycle.md §4). Its functions are pure.
//
// Booking stores the charge; the reservation stores the last state that booking reported.
// The states of a charge have an order, and the stored state only advances in this order.
// Therefore the later of two reports wins, even if the earlier report arrives last.
//
// While a charge is open, only a report of booking confirms the reservation.
// Only a report of booking or a cancellation frees the units of the reservation.
package charge

import (
	"cmp"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/sale/refund"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
)

// New returns the charge of a reservation that is about to be written. The argument `amount` is in minor units.
// The argument `by` is a deadline: if the charge is not open at this instant, the reservation is cancelled.
func New(amount int64, by time.Time) *booking.Charge {
	return &booking.Charge{Status: booking.ChargeCreating, Amount: amount, DueAt: by}
}

// The maps statuses and refunds give the order of the statuses of a charge and of a refund.
// A report with an earlier status than the stored one is ignored. The status "paid" comes
// after "cancelled", because a payment can succeed just before the charge is cancelled.
var (
	statuses = map[string]int{booking.ChargeCreating: 0, booking.ChargeOpen: 1, booking.ChargeCancelling: 2,
		booking.ChargeCancelled: 3, booking.ChargePaid: 4}
	refunds = map[string]int{"": 0, booking.RefundPending: 1, booking.RefundRefunded: 2, booking.RefundRefused: 3}
)

// Later reports whether the charge `said`, which booking has reported, is newer than the stored charge `known`.
func Later(known, said booking.Charge) bool {
	order := cmp.Or(
		cmp.Compare(statuses[said.Status], statuses[known.Status]),
		cmp.Compare(said.RefundNumber, known.RefundNumber),
		cmp.Compare(refunds[said.RefundStatus], refunds[known.RefundStatus]),
	)
	return order > 0 || order == 0 && (failedSince(known, said) || newsSince(known, said))
}

// newsSince reports whether the charge `said` is later than the charge `known` and contains news.
// News is a different sum of refunds made at the provider, or a different status of a dispute.
func newsSince(known, said booking.Charge) bool {
	return said.UpdatedAt.After(known.UpdatedAt) && (said.RefundedElsewhere != known.RefundedElsewhere ||
		said.DisputeStatus != known.DisputeStatus)
}

// failedSince reports whether the charge `said` contains a failed
// payment attempt that the charge `known` does not contain.
func failedSince(known, said booking.Charge) bool {
	return said.FailedAt != nil && (known.FailedAt == nil || said.FailedAt.After(*known.FailedAt))
}

// Noted returns the charge to store for a reservation after booking has reported its charge. The argument
// `status` is the status of the reservation, `known` is the stored charge, and `said` is the reported charge.
//
// If a cancelled reservation turns out to be paid, the result has a pending
// refund of the whole amount. Rental then requests this refund from booking.
func Noted(status state.State, known, said booking.Charge) booking.Charge {
	if status == state.Cancelled && known.Status != booking.ChargePaid && said.Status == booking.ChargePaid &&
		said.RefundNumber == 0 {
		return *Refunded(&said, refund.Part{Amount: said.Amount, Percent: 100})
	}
	return said
}

// Step is a change of a reservation that is recorded as one event. To is the status of the reservation after
// the step. One report of booking can cause several steps; the reported charge is stored with the first step.
type Step struct {
	Event event.Type
	To    state.State
}

// Steps returns the changes of a reservation after booking has reported its charge. The argument `status` is the
// status of the reservation, `known` is the stored charge, and `said` is the reported charge. The caller must first
// check with [Later] that the reported charge is newer. If the result is empty, the caller only stores the charge.
func Steps(status state.State, known, said booking.Charge) []Step {
	var steps []Step
	add := func(e event.Type, to state.State) {
		steps = append(steps, Step{e, to})
		status = to
	}
	if failedSince(known, said) {
		add(event.PaymentFailed, status)
	}
	switch {
	case said.Status == known.Status:
	case said.Status == booking.ChargePaid:
		add(event.PaymentSucceeded, status)
	case said.Status == booking.ChargeCancelled && known.Status != booking.ChargeCancelling:
		// If the known status is cancelling, rental asked booking to close the charge. The charge then did not expire.
		add(event.PaymentExpired, status)
	}
	if status == state.Pending {
		switch {
		case said.Status == booking.ChargePaid && said.RefundNumber == 0:
			add(event.ReservationConfirmed, state.Reserved)
		case said.Status == booking.ChargePaid || said.Status == booking.ChargeCancelled:
			// A paid charge that already has a refund was paid too late; booking gives the money back.
			add(event.ReservationCancelled, state.Cancelled)
		}
	}
	if said.RefundStatus == booking.RefundRefunded && (known.RefundStatus != booking.RefundRefunded ||
		known.RefundNumber != said.RefundNumber) {
		add(event.PaymentRefunded, status)
	}
	if said.RefundStatus == booking.RefundRefused && (known.RefundStatus != booking.RefundRefused ||
		known.RefundNumber != said.RefundNumber) {
		add(event.PaymentRefundFailed, status)
	}
	switch {
	case said.RefundedElsewhere > known.RefundedElsewhere:
		add(event.PaymentRefunded, status)
	case said.RefundedElsewhere < known.RefundedElsewhere:
		add(event.PaymentRefundFailed, status)
	}
	if said.DisputeStatus != known.DisputeStatus {
		add(event.PaymentDisputed, status)
	}
	return steps
}

// Cancelled returns the new state of the charge `c` after the reservation was cancelled. A charge
// that is not paid yet becomes "cancelling" and can no longer be paid. For a paid charge, Cancelled
// adds the refund in the argument `part`, as [Refunded] does. The result is nil if `c` is nil.
func Cancelled(c *booking.Charge, part refund.Part) *booking.Charge {
	if c == nil {
		return nil
	}
	if c.Status == booking.ChargeCreating || c.Status == booking.ChargeOpen {
		closing := *c
		closing.Status = booking.ChargeCancelling
		return &closing
	}
	return Refunded(c, part)
}

// Refunded returns a copy of the charge `c` with a pending refund under the next refund number. The argument
// `part` gives the amount of the refund. If `c` is nil or the amount is zero, Refunded returns `c` unchanged.
func Refunded(c *booking.Charge, part refund.Part) *booking.Charge {
	if c == nil || part.Amount == 0 {
		return c
	}
	back := *c
	back.RefundNumber++
	back.RefundAmount, back.RefundPercent, back.RefundStatus, back.RefundReason = part.Amount, part.Percent,
		booking.RefundPending, ""
	return &back
}

// Closing returns the request to booking that closes the charge or refunds it. Rental repeats the
// request until booking accepts it. The second result is false if the charge needs no such request.
func Closing(c booking.Charge) (booking.CloseCharge, bool) {
	switch {
	case c.RefundStatus == booking.RefundPending:
		return booking.CloseCharge{Refund: &booking.NumberedRefund{Number: c.RefundNumber,
			Part: refund.Part{Amount: c.RefundAmount, Percent: c.RefundPercent}}}, true
	case c.Status == booking.ChargeCancelling:
		return booking.CloseCharge{}, true
	}
	return booking.CloseCharge{}, false
}
