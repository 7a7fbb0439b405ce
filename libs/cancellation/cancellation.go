// Package cancellation says what cancelling a booking, an order of tickets or a reservation would do, and how much an
// owner or a customer may have refunded of it (lifecycle.md §4), for the services that keep them. It is pure.
package cancellation

import (
	"time"

	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/money"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/refund"
)

// Purchase is what is cancelled, as far as refunds ask.
type Purchase struct {
	What        string // in the sentences of refusals
	Status      string
	Cancellable bool // it can be cancelled from this status
	Paid        Paid
	Currency    money.Currency
	MadeAt      time.Time
	StartsAt    time.Time
	// Unconfirmed says that the business has not confirmed it yet. To cancel it is then to decline it, which refunds
	// all.
	Unconfirmed bool
	// FormerStarts are those that the business has moved it from. Its customer may cancel it until it starts, by the
	// best of all starts.
	FormerStarts []time.Time
	// Withdrawn says that the business no longer offers what was sold. Its customer may cancel it, and all goes back.
	Withdrawn bool
}

// Paid is what of a purchase was paid online, in minor units of its currency; the zero value is nothing.
type Paid struct {
	Amount    int64
	Left      int64         // of Amount: neither refunded nor on its way back
	Elsewhere int64         // of what is not left: refunded at the provider, which the policy's share includes
	Refunding bool          // a refund is on its way
	Policy    refund.Policy // that it was sold under
	Step      int64         // the provider pays multiples of it; 0 is 1
}

// payable is the most that the provider can pay of an amount; some pay certain currencies in coarser steps than these
// have.
func (p Paid) payable(amount int64) int64 { return amount - amount%max(p.Step, 1) }

// Preview is what a cancellation would do now.
type Preview struct {
	Allowed bool
	Reason  string // why it is not allowed: one of booking's Cancel… reasons, or the status of what it is of
	// Refund is what the policy gives back, in minor units of Currency; Percent is its share of what was paid online.
	Refund   int64
	Percent  int
	Currency money.Currency
	Until    time.Time // the last instant at which this holds; zero where it is not allowed or does not end
	Deadline time.Time // the last instant at which the customer may cancel; zero for the owner
}

// Shown is a preview as the internal APIs tell of it.
func (p Preview) Shown() booking.Cancellation {
	shown := booking.Cancellation{Allowed: p.Allowed, Reason: p.Reason, Refund: booking.CancellationRefund{
		Amount: p.Currency.JSON(p.Refund), Percent: p.Percent, Currency: p.Currency.Code,
	}}
	if !p.Until.IsZero() {
		until := p.Until.UTC()
		shown.Until = &until
	}
	if !p.Deadline.IsZero() {
		deadline := p.Deadline.UTC()
		shown.Deadline = &deadline
	}
	return shown
}

// Preview says what a cancellation by the owner would do now.
func (of Purchase) Preview(now time.Time) Preview {
	p := of.preview(now)
	if p.Allowed && of.declines() {
		all := refund.Of(of.Paid.Left, of.Paid.Amount)
		p.Refund, p.Percent, p.Until = all.Amount, all.Percent, time.Time{}
	}
	return p
}

// declines reports whether a cancellation by the owner declines what was paid and not confirmed.
func (of Purchase) declines() bool { return of.Unconfirmed && of.Paid.Left > 0 }

// preview says what a cancellation by the policy would do now.
func (of Purchase) preview(now time.Time) Preview {
	p := Preview{Currency: of.Currency}
	if !of.Cancellable {
		p.Reason = of.Status
		return p
	}
	p.Allowed = true
	if of.Paid.Left > 0 {
		owed := of.byPolicy(now)
		p.Refund, p.Percent = owed.Amount, owed.Percent
		if !of.Withdrawn {
			p.Until = of.Paid.Policy.Until(of.MadeAt, of.StartsAt, now, of.FormerStarts...)
		}
	}
	return p
}

// ForCustomer says what a cancellation by the customer would do now, under the offer of the business.
func (of Purchase) ForCustomer(offer *catalog.Offer, now time.Time) Preview {
	p := of.preview(now)
	if !p.Allowed {
		return p
	}
	within := offer.SelfService.CancelUntilHours
	if of.Withdrawn || len(of.FormerStarts) > 0 {
		within = new(int) // the business has changed it
	}
	if within == nil {
		return Preview{Reason: booking.CancelNotOffered, Currency: of.Currency}
	}
	closes := of.StartsAt.Add(-time.Duration(*within) * time.Hour)
	if now.After(closes) {
		return Preview{Reason: booking.CancelTooLate, Currency: of.Currency}
	}
	p.Deadline = closes
	if p.Until.IsZero() || closes.Before(p.Until) {
		p.Until = closes
	}
	return p
}

// Agreed is what goes back to a customer who cancels now, having agreed to this much in the currency of the purchase.
// Faults: invalid_parameter for what is no amount of it; conflict where it cannot be cancelled by customers, or the
// refund has become another one.
func (of Purchase) Agreed(offer *catalog.Offer, agreed decimal.Decimal, now time.Time) (refund.Owed, error) {
	seen, err := of.Currency.Minor(agreed)
	if err != nil {
		return refund.Owed{}, fault.Newf(fault.InvalidParameter, "refund: %s.", err)
	}
	switch p := of.ForCustomer(offer, now); {
	case p.Reason == booking.CancelNotOffered:
		return refund.Owed{}, fault.New(fault.Conflict, "Bookings of this business cannot be cancelled online; ask the business.")
	case p.Reason == booking.CancelTooLate:
		return refund.Owed{}, fault.Newf(fault.Conflict, "It is too late to cancel this %s online; ask the business.", of.What)
	case !p.Allowed:
		return refund.Owed{}, fault.Newf(fault.Conflict, "The %s is %s; it cannot be cancelled any more.", of.What, of.Status)
	case p.Refund != seen:
		return refund.Owed{}, fault.New(fault.Conflict, "The refund is another one by now; look at it before you cancel.")
	default:
		return refund.Owed{Amount: p.Refund, Percent: p.Percent}, nil
	}
}

// Afterwards is what is to be given back of what is over, all that is left where wanted is "". Faults: conflict where
// it is still ahead, a refund is on its way, or more is wanted than is left; invalid_parameter for what is no amount.
func (of Purchase) Afterwards(wanted booking.RefundAmount, now time.Time) (refund.Owed, error) {
	if wanted == "" {
		wanted = booking.RefundFull
	}
	switch {
	case of.Cancellable:
		return refund.Owed{}, fault.Newf(fault.Conflict, "The %s is %s; cancel it, which refunds it.", of.What, of.Status)
	case wanted == booking.RefundPolicy || wanted == booking.RefundNone:
		return refund.Owed{}, fault.New(fault.InvalidParameter, `refund: send "full" or an amount such as 12.50.`)
	case of.Paid.Refunding:
		return refund.Owed{}, fault.Newf(fault.Conflict, "A refund of this %s is on its way; ask again when the provider has answered.", of.What)
	case of.Paid.Left == 0:
		return refund.Owed{}, fault.Newf(fault.Conflict, "Nothing is left to refund of what was paid online for this %s.", of.What)
	}
	return of.owed(wanted, now)
}

// Owed is what is to be given back by an owner who cancels now, by the policy where wanted is "". What was paid and
// never confirmed goes back whole. Faults: conflict where more is wanted than is left, or less of what was never
// confirmed; invalid_parameter for what is no amount.
func (of Purchase) Owed(wanted booking.RefundAmount, now time.Time) (refund.Owed, error) {
	if !of.declines() {
		return of.owed(wanted, now)
	}
	all := refund.Of(of.Paid.Left, of.Paid.Amount)
	if wanted == "" || wanted == booking.RefundPolicy {
		return all, nil
	}
	owed, err := of.owed(wanted, now)
	if err == nil && owed.Amount != all.Amount {
		return refund.Owed{}, fault.Newf(fault.Conflict,
			"refund: this %s was paid and never confirmed, so that declining it refunds all; leave refund out.", of.What)
	}
	return owed, err
}

func (of Purchase) owed(wanted booking.RefundAmount, now time.Time) (refund.Owed, error) {
	owed, err := of.wanted(wanted, now)
	if err == nil && owed.Amount > 0 && of.Paid.Refunding {
		return refund.Owed{}, fault.Newf(fault.Conflict,
			"A refund of this %s is on its way; ask again when the provider has answered.", of.What)
	}
	return owed, err
}

// wanted returns the refund that an owner asks for, at most what is left.
func (of Purchase) wanted(wanted booking.RefundAmount, now time.Time) (refund.Owed, error) {
	left := of.Paid.Left
	switch wanted {
	case booking.RefundNone:
		return refund.Owed{}, nil
	case booking.RefundFull:
		return refund.Of(left, of.Paid.Amount), nil
	case booking.RefundPolicy, "":
		return of.byPolicy(now), nil
	}
	d, err := decimal.NewFromString(string(wanted))
	if err != nil {
		return refund.Owed{}, fault.New(fault.InvalidParameter, `refund: send "policy", "full", "none" or an amount such as 12.50.`)
	}
	amount, err := of.Currency.Minor(d)
	switch {
	case err != nil:
		return refund.Owed{}, fault.Newf(fault.InvalidParameter, "refund: %s.", err)
	case amount < 0:
		return refund.Owed{}, fault.New(fault.InvalidParameter, "refund: send an amount of 0 or more.")
	case amount > left:
		return refund.Owed{}, fault.Newf(fault.Conflict, "refund: only %s %s is left of what was paid online.", of.Currency.JSON(left), of.Currency.Code)
	case of.Paid.payable(amount) != amount:
		return refund.Owed{}, fault.Newf(fault.InvalidParameter, "refund: the payment provider cannot refund this amount of %s; %s is the nearest below.",
			of.Currency.Code, of.Currency.JSON(of.Paid.payable(amount)))
	}
	return refund.Of(amount, of.Paid.Amount), nil
}

// byPolicy is what the policy gives back of what is cancelled now.
func (of Purchase) byPolicy(now time.Time) refund.Owed {
	if of.Paid.Left == 0 {
		return refund.Owed{}
	}
	percent := of.Paid.Policy.Percent(of.MadeAt, of.StartsAt, now, of.FormerStarts...)
	if of.Withdrawn {
		percent = 100
	}
	amount := min(max(0, of.Paid.payable(refund.Share(of.Paid.Amount, percent)-of.Paid.Elsewhere)), of.Paid.Left)
	return refund.Owed{Amount: amount, Percent: percent}
}
