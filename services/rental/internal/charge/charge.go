// Package charge decides how a reservation changes when booking reports
// the state of its charge (pages.md, lifecycle.md §4). It is pure.
//
// Booking keeps the charge; a reservation keeps the last state that booking reported. The states only move
// forward, so the later of two answers wins in whichever order they arrive. While a charge is open, only a
// report of booking confirms the reservation or frees its units, unless the reservation is cancelled.
package charge

import (
	"cmp"
	"time"

	"github.com/slotmesh/slotmesh/libs/event"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/refund"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
)

// New returns the charge of a reservation that is about to be written. amount is in minor
// units. If the charge is not open at the instant by, the reservation's units are freed.
func New(amount int64, by time.Time) *booking.Charge {
	return &booking.Charge{Status: booking.ChargeCreating, Amount: amount, DueAt: by}
}

// The order of the statuses of a charge, and of a refund. A charge that is cancelled can still turn out to be paid.
var (
	statuses = map[string]int{booking.ChargeCreating: 0, booking.ChargeOpen: 1, booking.ChargeCancelling: 2, booking.ChargeCancelled: 3, booking.ChargePaid: 4}
	refunds  = map[string]int{"": 0, booking.RefundPending: 1, booking.RefundRefunded: 2, booking.RefundRefused: 3}
)

// Later reports whether the answer said is newer than the known state.
func Later(known, said booking.Charge) bool {
	order := cmp.Or(
		cmp.Compare(statuses[said.Status], statuses[known.Status]),
		cmp.Compare(said.RefundNumber, known.RefundNumber),
		cmp.Compare(refunds[said.RefundStatus], refunds[known.RefundStatus]),
	)
	return order > 0 || order == 0 && (failedSince(known, said) || newsSince(known, said))
}

// newsSince reports whether a later answer has a new refund that was made at the provider, or a new dispute status.
func newsSince(known, said booking.Charge) bool {
	return said.UpdatedAt.After(known.UpdatedAt) && (said.RefundedElsewhere != known.RefundedElsewhere || said.DisputeStatus != known.DisputeStatus)
}

func failedSince(known, said booking.Charge) bool {
	return said.FailedAt != nil && (known.FailedAt == nil || said.FailedAt.After(*known.FailedAt))
}

// Noted returns the charge to store for a reservation of this status after the answer said. If a cancelled
// reservation turns out to be paid, the charge has a refund of the whole amount, which booking receives next.
func Noted(status state.State, known, said booking.Charge) booking.Charge {
	if status == state.Cancelled && known.Status != booking.ChargePaid && said.Status == booking.ChargePaid && said.RefundNumber == 0 {
		return *Refunded(&said, refund.Owed{Amount: said.Amount, Percent: 100})
	}
	return said
}

// Step is a change of a reservation that is recorded as one event. To is the reservation's
// status after the step. The first step already stores the charge as booking reported it.
type Step struct {
	Event event.Type
	To    state.State
}

// Steps returns the changes of a reservation of this status that follow from
// an answer that is [Later]. It returns none if only the charge is stored.
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
		// A charge that this service asked booking to close did not expire.
		add(event.PaymentExpired, status)
	}
	if status == state.Pending {
		switch {
		case said.Status == booking.ChargePaid && said.RefundNumber == 0:
			add(event.ReservationConfirmed, state.Reserved)
		case said.Status == booking.ChargePaid || said.Status == booking.ChargeCancelled:
			// A paid charge that has a refund already was paid too late; the money goes back.
			add(event.ReservationCancelled, state.Cancelled)
		}
	}
	if said.RefundStatus == booking.RefundRefunded && (known.RefundStatus != booking.RefundRefunded || known.RefundNumber != said.RefundNumber) {
		add(event.PaymentRefunded, status)
	}
	if said.RefundStatus == booking.RefundRefused && (known.RefundStatus != booking.RefundRefused || known.RefundNumber != said.RefundNumber) {
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

// Cancelled returns the charge c of a reservation that is cancelled. An unpaid charge can
// no longer be paid; a paid one has owed as its next refund. It returns nil if c is nil.
func Cancelled(c *booking.Charge, owed refund.Owed) *booking.Charge {
	if c == nil {
		return nil
	}
	if c.Status == booking.ChargeCreating || c.Status == booking.ChargeOpen {
		closing := *c
		closing.Status = booking.ChargeCancelling
		return &closing
	}
	return Refunded(c, owed)
}

// Refunded returns the charge c with owed as its next, pending refund. It returns c itself if nothing is owed.
func Refunded(c *booking.Charge, owed refund.Owed) *booking.Charge {
	if c == nil || owed.Amount == 0 {
		return c
	}
	back := *c
	back.RefundNumber++
	back.RefundAmount, back.RefundPercent, back.RefundStatus, back.RefundReason = owed.Amount, owed.Percent, booking.RefundPending, ""
	return &back
}

// Closing returns the request that closes a charge or refunds it; booking gets it until
// it accepts it. It returns false if booking only has to be asked about the charge.
func Closing(c booking.Charge) (booking.CloseCharge, bool) {
	switch {
	case c.RefundStatus == booking.RefundPending:
		return booking.CloseCharge{Refund: &booking.NumberedRefund{Number: c.RefundNumber, Owed: refund.Owed{Amount: c.RefundAmount, Percent: c.RefundPercent}}}, true
	case c.Status == booking.ChargeCancelling:
		return booking.CloseCharge{}, true
	}
	return booking.CloseCharge{}, false
}
