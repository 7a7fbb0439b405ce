// Package cancellation computes the effect of cancelling a booking, an order of tickets or a
// reservation. It also computes the amount that an owner or a customer can get refunded (lifecycle.md
// §4). The services that store bookings, orders and reservations call the package. It does no I/O.
package cancellation

import (
	"time"

	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/sale/refund"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/money"
)

// Sale is the booking, order of tickets or reservation to cancel, with the data from which its refund is computed.
type Sale struct {
	Noun          string // the word for the sale in error messages, such as booking
	Status        string
	IsCancellable bool // reports whether a sale with this Status can be cancelled
	IsUnderway    bool // reports whether a sale with this Status can be neither cancelled nor refunded yet
	Payment       Payment
	Currency      money.Currency
	MadeAt        time.Time
	StartsAt      time.Time
	// IsUnconfirmed reports that the business has not confirmed the sale yet. If the owner
	// cancels such a sale, the cancellation declines it and refunds the full payment.
	IsUnconfirmed bool
	// FormerStarts are the starts of the sale before the business rescheduled the sale. If the list is not empty, the
	// customer may cancel until StartsAt, and gets the largest refund that the policy gives for any of the starts.
	FormerStarts []time.Time
	// Withdrawn reports that the business no longer offers the sold service, ticket
	// or rental. The customer may then cancel until StartsAt and gets a full refund.
	Withdrawn bool
}

// Payment is the online payment of a sale, in minor units of the
// currency of the sale. The zero value means that nothing was paid.
type Payment struct {
	Amount             int64
	Left               int64 // part of Amount that is neither refunded nor in a pending refund
	RefundedExternally int64 // part of Amount refunded at the provider; reduces the refund that the policy gives
	HasPendingRefund   bool
	Policy             refund.Policy // cancellation policy at the time of the sale
	Step               int64         // every refund must be a multiple of Step; 0 means 1
}

// roundRefundable rounds an amount down to the nearest amount that the provider can refund. For some
// currencies, the provider only refunds multiples of a step that is larger than the minor unit.
func (p Payment) roundRefundable(amount int64) int64 { return amount - amount%max(p.Step, 1) }

// Preview is the effect that a cancellation would have now.
type Preview struct {
	Allowed bool
	Reason  string // if Allowed is false: one of the booking.Cancel… reasons, or the status of the sale
	// Refund is the refund that the cancellation policy gives, in minor
	// units of Currency. Percent is its share of the online payment.
	Refund   int64
	Percent  int
	Currency money.Currency
	Until    time.Time // last instant with these values; zero if not allowed, or if the values never change
	Deadline time.Time // last instant at which the customer may cancel; zero in a preview for the owner
	// Steps are the refunds by the cancellation policy from now until Deadline; nil in a preview for the owner.
	Steps []refund.Step
}

// Render returns the preview as the internal APIs send it.
func (p Preview) Render() booking.Cancellation {
	rendered := booking.Cancellation{Allowed: p.Allowed, Reason: p.Reason, Refund: booking.CancellationRefund{
		Amount: p.Currency.JSON(p.Refund), Percent: p.Percent, Currency: p.Currency.Code,
	}}
	if !p.Until.IsZero() {
		until := p.Until.UTC()
		rendered.Until = &until
	}
	if !p.Deadline.IsZero() {
		deadline := p.Deadline.UTC()
		rendered.Deadline = &deadline
	}
	for _, s := range p.Steps {
		rendered.Steps = append(rendered.Steps, booking.RefundStep{Until: s.Until.UTC(), Percent: s.Percent})
	}
	return rendered
}

// Preview returns the effect that a cancellation by the owner would have now.
func (of Sale) Preview(now time.Time) Preview {
	p := of.preview(now)
	if p.Allowed && of.declines() {
		all := refund.NewPart(of.Payment.Left, of.Payment.Amount)
		p.Refund, p.Percent, p.Until = all.Amount, all.Percent, time.Time{}
	}
	return p
}

// declines reports whether a cancellation by the owner declines
// the sale: it is paid, but the business has not confirmed it.
func (of Sale) declines() bool { return of.IsUnconfirmed && of.Payment.Left > 0 }

// preview returns the effect of a cancellation now, with the refund that the cancellation policy gives.
func (of Sale) preview(now time.Time) Preview {
	p := Preview{Currency: of.Currency}
	if !of.IsCancellable {
		p.Reason = of.Status
		return p
	}
	p.Allowed = true
	if of.Payment.Left > 0 {
		part := of.computeByPolicy(now)
		p.Refund, p.Percent = part.Amount, part.Percent
		if !of.Withdrawn {
			p.Until = of.Payment.Policy.Until(of.MadeAt, of.StartsAt, now, of.FormerStarts...)
		}
	}
	return p
}

// PreviewForCustomer returns the effect that a cancellation by the
// customer would have now, according to the rules of the business's offer.
func (of Sale) PreviewForCustomer(offer *catalog.Snapshot, now time.Time) Preview {
	p := of.preview(now)
	if !p.Allowed {
		return p
	}
	hours := offer.SelfService.CancelUntilHours
	if of.Withdrawn || len(of.FormerStarts) > 0 {
		// The business rescheduled or withdrew the sale, so the customer may cancel until the start.
		hours = new(int)
	}
	if hours == nil {
		return Preview{Reason: booking.CancelNotOffered, Currency: of.Currency}
	}
	deadline := of.StartsAt.Add(-time.Duration(*hours) * time.Hour)
	if now.After(deadline) {
		return Preview{Reason: booking.CancelTooLate, Currency: of.Currency}
	}
	p.Deadline = deadline
	if p.Until.IsZero() || deadline.Before(p.Until) {
		p.Until = deadline
	}
	p.Steps = of.listSteps(now, deadline)
	return p
}

// listSteps returns the refunds by the cancellation policy from now until the instant `deadline`, the last instant at
// which the customer may cancel. It returns nil if no payment is left, or if the refund does not depend on the policy.
func (of Sale) listSteps(now, deadline time.Time) []refund.Step {
	if of.Payment.Left == 0 || of.Withdrawn {
		return nil
	}
	steps := of.Payment.Policy.Steps(of.MadeAt, of.StartsAt, now, of.FormerStarts...)
	for i := range steps {
		if !steps[i].Until.Before(deadline) {
			steps[i].Until = deadline
			return steps[:i+1]
		}
	}
	return steps
}

// RefundForCustomer returns the refund for a customer who cancels the sale now. The argument
// `shownRefund` is the refund that the page showed to the customer, in the currency of the sale.
//
// Faults: invalid_parameter if `shownRefund` is not a valid amount of that currency; conflict if
// customers cannot cancel the sale now, or if the refund is no longer the amount `shownRefund`.
func (of Sale) RefundForCustomer(offer *catalog.Snapshot, shownRefund decimal.Decimal,
	now time.Time) (refund.Part, error) {
	seen, err := of.Currency.Minor(shownRefund)
	if err != nil {
		return refund.Part{}, fault.Newf(fault.InvalidParameter, "refund: %s.", err)
	}
	switch p := of.PreviewForCustomer(offer, now); {
	case p.Reason == booking.CancelNotOffered:
		return refund.Part{}, fault.New(fault.Conflict, "Bookings of this business cannot be cancelled online; ask "+
			"the business.")
	case p.Reason == booking.CancelTooLate:
		return refund.Part{}, fault.Newf(fault.Conflict, "It is too late to cancel this %s online; ask the business.",
			of.Noun)
	case !p.Allowed:
		return refund.Part{}, fault.Newf(fault.Conflict, "The %s is %s; it cannot be cancelled any more.", of.Noun,
			of.Status)
	case p.Refund != seen:
		return refund.Part{}, fault.New(fault.Conflict, "The refund has changed; look at it before you "+
			"cancel.")
	default:
		return refund.Part{Amount: p.Refund, Percent: p.Percent}, nil
	}
}

// RefundAfterEnd returns the refund that an owner requests for a sale that has ended or was
// cancelled. If the argument `requested` is "", the refund is all of the payment that is left.
//
// Faults: conflict if the sale can still be cancelled, if a refund is pending, if no payment is left,
// or if `requested` exceeds the amount that is left; invalid_parameter if `requested` is not a valid amount.
func (of Sale) RefundAfterEnd(requested booking.RefundAmount, now time.Time) (refund.Part, error) {
	if requested == "" {
		requested = booking.RefundFull
	}
	switch {
	case of.IsCancellable || of.IsUnderway:
		return refund.Part{}, fault.Newf(fault.Conflict, "The %s is %s; cancel it, which refunds it.", of.Noun,
			of.Status)
	case requested == booking.RefundPolicy || requested == booking.RefundNone:
		return refund.Part{}, fault.New(fault.InvalidParameter, `refund: send "full" or an amount such as 12.50.`)
	case of.Payment.HasPendingRefund:
		return refund.Part{}, fault.Newf(fault.Conflict,
			"A refund of this %s is on its way; ask again when the provider has answered.", of.Noun)
	case of.Payment.Left == 0:
		return refund.Part{},
			fault.Newf(fault.Conflict, "Nothing is left to refund of what was paid online for this %s.", of.Noun)
	}
	return of.refund(requested, now)
}

// Refund returns the refund for an owner who cancels the sale now. If the argument
// `requested` is "", the cancellation policy determines the refund. If the business has
// not confirmed a paid sale, the refund is all of the payment that is left.
//
// Faults: conflict if a refund is pending or if `requested` exceeds the amount that
// is left of the payment; conflict if `requested` is less than the full refund of
// an unconfirmed sale; invalid_parameter if `requested` is not a valid amount.
func (of Sale) Refund(requested booking.RefundAmount, now time.Time) (refund.Part, error) {
	if !of.declines() {
		return of.refund(requested, now)
	}
	all := refund.NewPart(of.Payment.Left, of.Payment.Amount)
	if requested == "" || requested == booking.RefundPolicy {
		return all, nil
	}
	part, err := of.refund(requested, now)
	if err == nil && part.Amount != all.Amount {
		return refund.Part{}, fault.Newf(fault.Conflict,
			"refund: this %s was paid and never confirmed, so that declining it refunds all; leave refund out.",
			of.Noun)
	}
	return part, err
}

func (of Sale) refund(requested booking.RefundAmount, now time.Time) (refund.Part, error) {
	part, err := of.computeRequested(requested, now)
	if err == nil && part.Amount > 0 && of.Payment.HasPendingRefund {
		return refund.Part{}, fault.Newf(fault.Conflict,
			"A refund of this %s is on its way; ask again when the provider has answered.", of.Noun)
	}
	return part, err
}

// computeRequested returns the refund that an owner requests. The
// refund never exceeds the amount that is left of the payment.
func (of Sale) computeRequested(requested booking.RefundAmount, now time.Time) (refund.Part, error) {
	left := of.Payment.Left
	switch requested {
	case booking.RefundNone:
		return refund.Part{}, nil
	case booking.RefundFull:
		return refund.NewPart(left, of.Payment.Amount), nil
	case booking.RefundPolicy, "":
		return of.computeByPolicy(now), nil
	}
	d, err := decimal.NewFromString(string(requested))
	if err != nil {
		return refund.Part{},
			fault.New(fault.InvalidParameter, `refund: send "policy", "full", "none" or an amount such as 12.50.`)
	}
	amount, err := of.Currency.Minor(d)
	switch {
	case err != nil:
		return refund.Part{}, fault.Newf(fault.InvalidParameter, "refund: %s.", err)
	case amount < 0:
		return refund.Part{}, fault.New(fault.InvalidParameter, "refund: send an amount of 0 or more.")
	case amount > left:
		return refund.Part{}, fault.Newf(fault.Conflict, "refund: only %s %s is left of what was paid online.",
			of.Currency.JSON(left), of.Currency.Code)
	case of.Payment.roundRefundable(amount) != amount:
		return refund.Part{}, fault.Newf(fault.InvalidParameter,
			"refund: the payment provider cannot refund this amount of %s; %s is the nearest below.",
			of.Currency.Code, of.Currency.JSON(of.Payment.roundRefundable(amount)))
	}
	return refund.NewPart(amount, of.Payment.Amount), nil
}

// computeByPolicy returns the refund that the cancellation policy gives for a cancellation now.
func (of Sale) computeByPolicy(now time.Time) refund.Part {
	if of.Payment.Left == 0 {
		return refund.Part{}
	}
	percent := of.Payment.Policy.Percent(of.MadeAt, of.StartsAt, now, of.FormerStarts...)
	if of.Withdrawn {
		percent = 100
	}
	amount := min(max(0,
		of.Payment.roundRefundable(refund.Share(of.Payment.Amount, percent)-of.Payment.RefundedExternally)),
		of.Payment.Left)
	return refund.Part{Amount: amount, Percent: percent}
}
