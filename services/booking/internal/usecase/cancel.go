package usecase

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/money"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/refund"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// Cancellations cancels bookings and refunds them (lifecycle.md §4). What is owed is written with the cancellation; [Payments] has the
// provider give it back.
type Cancellations struct {
	records   *store.Store
	providers payment.Providers
	clock     clock.Clock
}

// NewCancellations returns cancellations of bookings that were charged by these providers.
func NewCancellations(records *store.Store, providers payment.Providers, c clock.Clock) *Cancellations {
	return &Cancellations{records: records, providers: providers, clock: c}
}

// Cancellation is what cancelling a booking would do now.
type Cancellation struct {
	Allowed bool
	Reason  string // why it is not allowed: one of booking's Cancel… reasons, or the booking's status
	// Refund is what the policy gives back, in minor units of Currency; Percent is its share of what was paid online.
	Refund   int64
	Percent  int
	Currency money.Currency
	Until    time.Time // the last instant at which this holds; zero where it is not allowed or does not end
}

// Preview says what a cancellation by the owner would do now. Faults: not_found.
func (c *Cancellations) Preview(ctx context.Context, businessID, id uuid.UUID) (Cancellation, error) {
	b, err := c.find(ctx, businessID, id)
	if err != nil {
		return Cancellation{}, err
	}
	return c.preview(b, c.clock.Now()), nil
}

// PreviewForCustomer says what a cancellation by the customer would do now, under the offer of the business. Faults: not_found.
func (c *Cancellations) PreviewForCustomer(ctx context.Context, offer *catalog.Offer, id uuid.UUID) (Cancellation, error) {
	b, err := c.find(ctx, offer.ID, id)
	if err != nil {
		return Cancellation{}, err
	}
	return c.previewForCustomer(offer, b, c.clock.Now()), nil
}

func (c *Cancellations) find(ctx context.Context, businessID, id uuid.UUID) (store.Booking, error) {
	b, err := c.records.Booking(ctx, businessID, id)
	return b, noBooking(err)
}

// noBooking says that there is no such booking, and passes any other error on.
func noBooking(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return fault.New(fault.NotFound, "This business has no such booking.")
	}
	return err
}

func (c *Cancellations) preview(b store.Booking, now time.Time) Cancellation {
	p := Cancellation{Currency: b.Currency}
	if cancel, _ := state.Of(state.Cancel); !cancel.Allows(b.Status) {
		p.Reason = string(b.Status)
		return p
	}
	p.Allowed = true
	if b.Payment.Left() > 0 {
		owed := c.byPolicy(b, now)
		p.Refund, p.Percent = owed.Amount, owed.Percent
		p.Until = b.Payment.Policy.Until(b.CreatedAt, b.StartsAt, now)
	}
	return p
}

func (c *Cancellations) previewForCustomer(offer *catalog.Offer, b store.Booking, now time.Time) Cancellation {
	p := c.preview(b, now)
	if !p.Allowed {
		return p
	}
	within := offer.SelfService.CancelUntilHours
	if within == nil {
		return Cancellation{Reason: booking.CancelNotOffered, Currency: b.Currency}
	}
	closes := b.StartsAt.Add(-time.Duration(*within) * time.Hour)
	if now.After(closes) {
		return Cancellation{Reason: booking.CancelTooLate, Currency: b.Currency}
	}
	if p.Until.IsZero() || closes.Before(p.Until) {
		p.Until = closes
	}
	return p
}

// Cancel cancels a booking for the owner, at once, and refunds as much as is wanted: by the policy the booking was made under where
// wanted is "". Faults: not_found; conflict where the booking's status does not allow it or more is wanted than is left to refund;
// invalid_parameter for what is no amount.
func (c *Cancellations) Cancel(ctx context.Context, businessID, id uuid.UUID, wanted booking.RefundAmount) (store.Booking, error) {
	now := c.clock.Now()
	return c.cancel(ctx, businessID, id, now, func(b store.Booking) (store.Owed, error) { return c.owed(b, wanted, now) })
}

// CancelForCustomer cancels a booking for its customer, by the policy it was made under, where the offer of the business lets
// customers cancel now. seen is the refund in minor units that the customer has agreed to. Faults: not_found; conflict where it
// cannot be cancelled now, or the refund has become another one.
func (c *Cancellations) CancelForCustomer(ctx context.Context, offer *catalog.Offer, id uuid.UUID, seen int64) (store.Booking, error) {
	now := c.clock.Now()
	return c.cancel(ctx, offer.ID, id, now, func(b store.Booking) (store.Owed, error) {
		switch p := c.previewForCustomer(offer, b, now); {
		case p.Reason == booking.CancelNotOffered:
			return store.Owed{}, fault.New(fault.Conflict, "Bookings of this business cannot be cancelled online; ask the business.")
		case p.Reason == booking.CancelTooLate:
			return store.Owed{}, fault.New(fault.Conflict, "It is too late to cancel this booking online; ask the business.")
		case p.Refund != seen:
			return store.Owed{}, fault.New(fault.Conflict, "The refund is another one by now; look at it before you cancel.")
		default:
			return store.Owed{Amount: p.Refund, Percent: p.Percent}, nil
		}
	})
}

func (c *Cancellations) cancel(ctx context.Context, businessID, id uuid.UUID, now time.Time, owed func(store.Booking) (store.Owed, error)) (store.Booking, error) {
	transition, _ := state.Of(state.Cancel)
	cancelled, err := c.records.Cancel(ctx, businessID, id, now, owed)
	var refused *store.NotAllowedError
	if errors.As(err, &refused) {
		err = fault.Newf(fault.Conflict, "The booking is %s; cancel takes one that is %s.", refused.Status, either(transition.From))
	}
	return cancelled, noBooking(err)
}

// Refund refunds a booking that is over, all that is left where wanted is "": what a provider refused is tried again so, and an
// owner gives back more than was owed. Faults: not_found; conflict where the booking is still ahead, a refund is on its way, or
// more is wanted than is left; invalid_parameter for what is no amount.
func (c *Cancellations) Refund(ctx context.Context, businessID, id uuid.UUID, wanted booking.RefundAmount) (store.Booking, error) {
	now := c.clock.Now()
	if wanted == "" {
		wanted = booking.RefundFull
	}
	refunded, err := c.records.Refund(ctx, businessID, id, now, func(b store.Booking) (store.Owed, error) {
		cancel, _ := state.Of(state.Cancel)
		switch {
		case cancel.Allows(b.Status):
			return store.Owed{}, fault.Newf(fault.Conflict, "The booking is %s; cancel it, which refunds it.", b.Status)
		case wanted == booking.RefundPolicy || wanted == booking.RefundNone:
			return store.Owed{}, fault.New(fault.InvalidParameter, `refund: send "full" or an amount such as 12.50.`)
		case b.Payment != nil && b.Payment.RefundStatus == payment.RefundPending:
			return store.Owed{}, fault.New(fault.Conflict, "A refund of this booking is on its way; ask again when the provider has answered.")
		case b.Payment.Left() == 0:
			return store.Owed{}, fault.New(fault.Conflict, "Nothing is left to refund of what was paid online for this booking.")
		}
		return c.owed(b, wanted, now)
	})
	return refunded, noBooking(err)
}

// owed is what is to be given back now.
func (c *Cancellations) owed(b store.Booking, wanted booking.RefundAmount, now time.Time) (store.Owed, error) {
	left := b.Payment.Left()
	switch wanted {
	case booking.RefundNone:
		return store.Owed{}, nil
	case booking.RefundFull:
		return b.Payment.Owed(left), nil
	case booking.RefundPolicy, "":
		return c.byPolicy(b, now), nil
	}
	d, err := decimal.NewFromString(string(wanted))
	if err != nil {
		return store.Owed{}, fault.New(fault.InvalidParameter, `refund: send "policy", "full", "none" or an amount such as 12.50.`)
	}
	amount, err := b.Currency.Minor(d)
	switch {
	case err != nil:
		return store.Owed{}, fault.Newf(fault.InvalidParameter, "refund: %s.", err)
	case amount < 0:
		return store.Owed{}, fault.New(fault.InvalidParameter, "refund: send an amount of 0 or more.")
	case amount > left:
		return store.Owed{}, fault.Newf(fault.Conflict, "refund: only %s %s is left of what was paid online.", b.Currency.JSON(left), b.Currency.Code)
	case amount > 0 && c.payable(b, amount) != amount:
		return store.Owed{}, fault.Newf(fault.InvalidParameter, "refund: the payment provider cannot refund this amount of %s; %s is the nearest below.",
			b.Currency.Code, b.Currency.JSON(c.payable(b, amount)))
	}
	return b.Payment.Owed(amount), nil
}

// byPolicy is what the policy gives back of a booking that is cancelled now.
func (c *Cancellations) byPolicy(b store.Booking, now time.Time) store.Owed {
	if b.Payment.Left() == 0 {
		return store.Owed{}
	}
	percent := b.Payment.Policy.Percent(b.CreatedAt, b.StartsAt, now)
	amount := min(c.payable(b, refund.Share(b.Payment.Amount, percent)), b.Payment.Left())
	return store.Owed{Amount: amount, Percent: percent}
}

// payable is the most that the provider can pay of an amount; some pay certain currencies in coarser steps than these have.
func (c *Cancellations) payable(b store.Booking, amount int64) int64 {
	provider, connected := c.providers[b.Payment.Provider]
	if !connected {
		return amount
	}
	payable, err := provider.Chargeable(amount, b.Currency)
	if err != nil {
		return 0 // less than the smallest coin
	}
	return payable
}
