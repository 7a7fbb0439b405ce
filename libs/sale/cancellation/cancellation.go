// Package cancellation computes what happens if a booking, an order of tickets or a reservation is
// cancelled. It also computes the amount that an owner or a customer can get refunded (lifecycle.md
// §4). The services that store bookings, orders and reservations call it. The package does no I/O.
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

// Purchase is the booking, order or reservation that is cancelled, with the data that refunds need.
type Purchase struct {
	What        string // noun for error sentences
	Status      string
	Cancellable bool // whether Status permits a cancellation
	Paid        Paid
	Currency    money.Currency
	MadeAt      time.Time
	StartsAt    time.Time
	// Unconfirmed reports that the business has not confirmed the purchase yet.
	// The owner's cancellation then declines it, which refunds everything.
	Unconfirmed bool
	// FormerStarts are the starts that the purchase had before the business rescheduled it. The customer may
	// cancel until the current start. The refund is the best one that the policy gives for any of the starts.
	FormerStarts []time.Time
	// Withdrawn reports that the business no longer offers the sold service, ticket
	// or rental. The customer may cancel the purchase and gets a full refund.
	Withdrawn bool
}

// Paid is the online payment of a purchase, in minor units of its currency. The zero value means nothing was paid.
type Paid struct {
	Amount    int64
	Left      int64         // part of Amount that is neither refunded nor in a pending refund
	Elsewhere int64         // part that was refunded at the provider; it counts towards the policy's share
	Refunding bool          // a refund is pending
	Policy    refund.Policy // at the time of the sale
	Step      int64         // refunds must be multiples of it; 0 means 1
}

// payable returns the largest amount up to the argument amount that the provider can refund. For certain
// currencies, some providers only refund multiples of a step that is larger than the minor unit.
func (p Paid) payable(amount int64) int64 { return amount - amount%max(p.Step, 1) }

// Preview is the effect of a cancellation now.
type Preview struct {
	Allowed bool
	Reason  string // if not allowed: one of booking's Cancel… reasons, or the status of the purchase
	// Refund is the refund by the policy, in minor units of Currency. Percent is its share of the online payment.
	Refund   int64
	Percent  int
	Currency money.Currency
	Until    time.Time // last instant at which this holds; zero if not allowed or if it never changes
	Deadline time.Time // last instant at which the customer may cancel; zero for the owner
}

// Shown returns the preview in the form of the internal APIs.
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

// Preview returns the effect of a cancellation by the owner now.
func (of Purchase) Preview(now time.Time) Preview {
	p := of.preview(now)
	if p.Allowed && of.declines() {
		all := refund.Of(of.Paid.Left, of.Paid.Amount)
		p.Refund, p.Percent, p.Until = all.Amount, all.Percent, time.Time{}
	}
	return p
}

// declines reports whether the owner's cancellation declines a purchase that was paid and not confirmed.
func (of Purchase) declines() bool { return of.Unconfirmed && of.Paid.Left > 0 }

// preview returns the effect of a cancellation by the policy now.
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

// ForCustomer returns the effect of a cancellation by the customer now, under the business's offer.
func (of Purchase) ForCustomer(offer *catalog.Offer, now time.Time) Preview {
	p := of.preview(now)
	if !p.Allowed {
		return p
	}
	within := offer.SelfService.CancelUntilHours
	if of.Withdrawn || len(of.FormerStarts) > 0 {
		within = new(int) // the business has changed the purchase: the customer may cancel until the start
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

// Agreed returns the refund for a customer who cancels now. The argument agreed is the
// amount that the customer was shown and accepted, in the currency of the purchase.
//
// Faults: invalid_parameter if the amount is invalid for the currency; conflict if
// customers cannot cancel the purchase, or if the refund is no longer the agreed amount.
func (of Purchase) Agreed(offer *catalog.Offer, agreed decimal.Decimal, now time.Time) (refund.Owed, error) {
	seen, err := of.Currency.Minor(agreed)
	if err != nil {
		return refund.Owed{}, fault.Newf(fault.InvalidParameter, "refund: %s.", err)
	}
	switch p := of.ForCustomer(offer, now); {
	case p.Reason == booking.CancelNotOffered:
		return refund.Owed{}, fault.New(fault.Conflict, "Bookings of this business cannot be cancelled online; ask "+
			"the business.")
	case p.Reason == booking.CancelTooLate:
		return refund.Owed{}, fault.Newf(fault.Conflict, "It is too late to cancel this %s online; ask the business.",
			of.What)
	case !p.Allowed:
		return refund.Owed{}, fault.Newf(fault.Conflict, "The %s is %s; it cannot be cancelled any more.", of.What,
			of.Status)
	case p.Refund != seen:
		return refund.Owed{}, fault.New(fault.Conflict, "The refund is another one by now; look at it before you "+
			"cancel.")
	default:
		return refund.Owed{Amount: p.Refund, Percent: p.Percent}, nil
	}
}

// Afterwards returns the refund that an owner requests after a purchase has ended
// or was cancelled. wanted "" refunds the whole amount that is left of the payment.
//
// Faults: conflict if the purchase can still be cancelled, if a refund is pending, or if
// wanted exceeds the amount that is left; invalid_parameter if wanted is not a valid amount.
func (of Purchase) Afterwards(wanted booking.RefundAmount, now time.Time) (refund.Owed, error) {
	if wanted == "" {
		wanted = booking.RefundFull
	}
	switch {
	case of.Cancellable:
		return refund.Owed{}, fault.Newf(fault.Conflict, "The %s is %s; cancel it, which refunds it.", of.What,
			of.Status)
	case wanted == booking.RefundPolicy || wanted == booking.RefundNone:
		return refund.Owed{}, fault.New(fault.InvalidParameter, `refund: send "full" or an amount such as 12.50.`)
	case of.Paid.Refunding:
		return refund.Owed{}, fault.Newf(fault.Conflict,
			"A refund of this %s is on its way; ask again when the provider has answered.", of.What)
	case of.Paid.Left == 0:
		return refund.Owed{},
			fault.Newf(fault.Conflict, "Nothing is left to refund of what was paid online for this %s.", of.What)
	}
	return of.owed(wanted, now)
}

// Owed returns the refund for an owner who cancels now. wanted "" refunds by the policy.
// If the business has not confirmed a paid purchase, the refund is the full payment.
//
// Faults: conflict if wanted exceeds the amount that is left of the payment, or is less than the full refund of
// an unconfirmed purchase; conflict if a refund is pending; invalid_parameter if wanted is not a valid amount.
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
			"refund: this %s was paid and never confirmed, so that declining it refunds all; leave refund out.",
			of.What)
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

// wanted returns the refund that an owner requests, at most the amount that is left of the payment.
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
		return refund.Owed{},
			fault.New(fault.InvalidParameter, `refund: send "policy", "full", "none" or an amount such as 12.50.`)
	}
	amount, err := of.Currency.Minor(d)
	switch {
	case err != nil:
		return refund.Owed{}, fault.Newf(fault.InvalidParameter, "refund: %s.", err)
	case amount < 0:
		return refund.Owed{}, fault.New(fault.InvalidParameter, "refund: send an amount of 0 or more.")
	case amount > left:
		return refund.Owed{}, fault.Newf(fault.Conflict, "refund: only %s %s is left of what was paid online.",
			of.Currency.JSON(left), of.Currency.Code)
	case of.Paid.payable(amount) != amount:
		return refund.Owed{}, fault.Newf(fault.InvalidParameter,
			"refund: the payment provider cannot refund this amount of %s; %s is the nearest below.",
			of.Currency.Code, of.Currency.JSON(of.Paid.payable(amount)))
	}
	return refund.Of(amount, of.Paid.Amount), nil
}

// byPolicy returns the refund by the policy for a cancellation now.
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
