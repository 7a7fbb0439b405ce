// Package charge says what follows for a reservation from what booking tells of its charge (pages.md, lifecycle.md §4). It is pure.
//
// Booking keeps the charge; a reservation keeps what it was told of it last. What booking says only moves forward, so that of two answers the
// later one is known whichever arrives first. Nothing but such an answer confirms or frees a reservation whose charge is open, unless it is
// cancelled.
package charge

import (
	"cmp"
	"time"

	"github.com/slotmesh/slotmesh/libs/event"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/refund"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
)

// New is the charge of a reservation that is written now: it frees what it holds where the charge is not open by then.
func New(amount int64, by time.Time) *booking.Charge {
	return &booking.Charge{Status: booking.ChargeCreating, Amount: amount, DueAt: by}
}

// The order in which a charge, and a refund of it, go through their statuses. One that is closed may still turn out paid.
var (
	statuses = map[string]int{booking.ChargeCreating: 0, booking.ChargeOpen: 1, booking.ChargeCancelling: 2, booking.ChargeCancelled: 3, booking.ChargePaid: 4}
	refunds  = map[string]int{"": 0, booking.RefundPending: 1, booking.RefundRefunded: 2, booking.RefundRefused: 3}
)

// Later reports whether an answer tells more than is known.
func Later(known, said booking.Charge) bool {
	order := cmp.Or(
		cmp.Compare(statuses[said.Status], statuses[known.Status]),
		cmp.Compare(said.RefundNumber, known.RefundNumber),
		cmp.Compare(refunds[said.RefundStatus], refunds[known.RefundStatus]),
	)
	return order > 0 || order == 0 && (failedSince(known, said) || newsSince(known, said))
}

// newsSince reports whether a later answer tells of a refund at the provider, or of a dispute.
func newsSince(known, said booking.Charge) bool {
	return said.UpdatedAt.After(known.UpdatedAt) && (said.RefundedElsewhere != known.RefundedElsewhere || said.DisputeStatus != known.DisputeStatus)
}

func failedSince(known, said booking.Charge) bool {
	return said.FailedAt != nil && (known.FailedAt == nil || said.FailedAt.After(*known.FailedAt))
}

// Noted is what is known of the charge of a reservation of this status from an answer on: what turns out paid of one that was given up before
// anybody knew goes back whole, as booking is told next.
func Noted(status state.State, known, said booking.Charge) booking.Charge {
	if status == state.Cancelled && known.Status != booking.ChargePaid && said.Status == booking.ChargePaid && said.RefundNumber == 0 {
		return *Refunded(&said, refund.Owed{Amount: said.Amount, Percent: 100})
	}
	return said
}

// Step is a change of a reservation that is recorded as one event: its charge is as was said from the first on, its status is To.
type Step struct {
	Event event.Type
	To    state.State
}

// Steps are what follows for a reservation of this status from an answer that is [Later]; none where only the charge is noted.
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
	case said.Status == booking.ChargeCancelled && known.Status != booking.ChargeCancelling: // what closed it was told
		add(event.PaymentExpired, status)
	}
	if status == state.Pending {
		switch {
		case said.Status == booking.ChargePaid && said.RefundNumber == 0:
			add(event.ReservationConfirmed, state.Reserved)
		case said.Status == booking.ChargePaid || said.Status == booking.ChargeCancelled: // where it is paid, the money goes back: it came too late
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

// Cancelled is the charge of a reservation that is cancelled, of which so much is owed: nobody may pay it any more, and what was paid goes
// back as it is owed. nil stays nil.
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

// Refunded is a paid charge of which so much goes back, as its next refund.
func Refunded(c *booking.Charge, owed refund.Owed) *booking.Charge {
	if c == nil || owed.Amount == 0 {
		return c
	}
	back := *c
	back.RefundNumber++
	back.RefundAmount, back.RefundPercent, back.RefundStatus, back.RefundReason = owed.Amount, owed.Percent, booking.RefundPending, ""
	return &back
}

// Closing is what booking is told of a charge until it has taken that, and false where it is asked alone.
func Closing(c booking.Charge) (booking.CloseCharge, bool) {
	switch {
	case c.RefundStatus == booking.RefundPending:
		return booking.CloseCharge{Refund: &booking.NumberedRefund{Number: c.RefundNumber, Owed: refund.Owed{Amount: c.RefundAmount, Percent: c.RefundPercent}}}, true
	case c.Status == booking.ChargeCancelling:
		return booking.CloseCharge{}, true
	}
	return booking.CloseCharge{}, false
}
