package usecase

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/sethvargo/go-retry"

	"github.com/slotmesh/slotmesh/libs/actor"
	"github.com/slotmesh/slotmesh/libs/event"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/bookingclient"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/postgres"
	"github.com/slotmesh/slotmesh/services/rental/internal/charge"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
)

// Charges is booking's API of charges. [bookingclient.Charges] documents its methods.
type Charges interface {
	Open(ctx context.Context, businessID, id uuid.UUID, asked booking.NewCharge) (*booking.OpenedCharge, error)
	Charges(ctx context.Context, asked []booking.ReservationID) ([]booking.ReservationCharge, error)
	News(ctx context.Context) ([]booking.ReservationCharge, error)
	Noted(ctx context.Context, noted []booking.NotedCharge) error
	Page(ctx context.Context, businessID, id uuid.UUID) (*booking.OpenedCharge, error)
	Close(ctx context.Context, businessID, id uuid.UUID, asked booking.CloseCharge) (*booking.Charge, error)
	Count(ctx context.Context, businessID, id uuid.UUID, asked booking.OpenReservation) error
	Uncount(ctx context.Context, businessID, id uuid.UUID) error
}

var _ Charges = (*bookingclient.Charges)(nil)

// Made is a reservation as its creator receives it. CheckoutURL is the provider's
// page to pay it on, for the customer only; it is "" if nothing is to be paid now.
type Made struct {
	store.Reservation
	CheckoutURL string
}

// charged makes a reservation wait for a charge, in r.Payment, if due must be paid online now (semantics.md §3). due
// is in minor units. It is the sum of the amounts that the payment requirements of the rentals demand for all units
// and the whole time. Fault: payment_unavailable if there are no customers' pages to return to from the provider.
func (o *Owner) charged(offer *catalog.Offer, choice string, due int64, r *store.NewReservation) error {
	if due == 0 || !offer.PaysOnline(offer.Payments.Modes.Rentals, choice, r.Price.Total) {
		return nil
	}
	if o.links.URL(event.Reservation, r.ID, r.LinkHash) == "" {
		return fault.New(fault.PaymentUnavailable, "This must be paid online, and there are no customers' pages to come back to (PAGES_URL); nothing was reserved.")
	}
	r.Payment = charge.New(due, r.Now.Add(o.openWithin))
	return nil
}

// open lets booking open the charge of a written reservation, outside any transaction, and then stores the charge
// as open. Only then does the caller get the page to pay on. If this fails, open takes the reservation back; if
// the process dies, the reconciliation does so. Faults: payment_unavailable; outcome_unknown if the charge may be
// stored as open. After outcome_unknown, a repeated request or the reconciliation finds the true state.
func (o *Owner) open(ctx context.Context, offer *catalog.Offer, r store.NewReservation) (Made, error) {
	opened, err := o.charges.Open(ctx, r.BusinessID, r.ID, booking.NewCharge{
		Slug: offer.Slug, Name: named(r), Amount: r.Payment.Amount, Currency: r.Price.Currency.Code, Manage: o.links.URL(event.Reservation, r.ID, r.LinkHash),
	})
	if err == nil {
		var noted store.Reservation
		if noted, err = o.reservations.Opened(ctx, r.BusinessID, r.ID, opened.Charge, o.clock.Now()); err == nil {
			return Made{noted, opened.CheckoutURL}, nil
		}
		// The charge may be stored as open, and a repeated request may have returned it already.
		if !errors.Is(err, store.ErrPaymentOver) {
			return Made{}, fault.Unknown(err)
		}
	}
	o.log.WarnContext(ctx, "a charge could not be opened; its reservation is taken back", "reservation", r.ID, "error", err)
	o.takeBack(ctx, r)
	if fault.Is(err, fault.PaymentUnavailable) || fault.Is(err, fault.PaymentNotOffered) {
		return Made{}, err
	}
	f := fault.New(fault.PaymentUnavailable, "The payment could not be started just now, so nothing was reserved; try again shortly.")
	f.RetryAfter = time.Second
	return Made{}, f
}

// named returns what is reserved as text for the customer on the provider's page, as in "2 × Tent, 1 × Stove".
func named(r store.NewReservation) string {
	names := []string{fmt.Sprintf("%d × %s", r.Quantity, r.RentalName)}
	for _, extra := range r.Extras {
		names = append(names, fmt.Sprintf("%d × %s", extra.Quantity, extra.Name))
	}
	return strings.Join(names, ", ")
}

// takeBackPause is the pause between two attempts to take a reservation back.
const takeBackPause = 50 * time.Millisecond

// takeBack takes a reservation back. A repetition changes nothing,
// so it retries until it succeeds or TakeBackWithin is up.
func (o *Owner) takeBack(ctx context.Context, r store.NewReservation) {
	write := postgres.OwnersWrite(ctx, r.BusinessID)
	ctx, cancel := context.WithTimeout(actor.AsSystem(context.WithoutCancel(ctx)), o.TakeBackWithin)
	defer cancel()
	err := retry.Constant(ctx, takeBackPause, func(ctx context.Context) error {
		try, stop := context.WithTimeout(ctx, o.TakeBackWithin/3)
		defer stop()
		return retry.RetryableError(o.reservations.Abandon(try, r.BusinessID, r.ID, write, o.clock.Now()))
	})
	if err != nil {
		o.log.WarnContext(ctx, "what was not paid stays until the reconciliation", "reservation", r.ID, "error", err)
	}
}

// Again answers a repeated request that would be refused now. It returns the reservation that the first request
// made, as it is now: the result that the first request stored has no page to pay on. Faults: those of a repeated
// request; idempotency_in_progress also if the reservation was taken back before any answer reported it.
func (o *Owner) Again(ctx context.Context, by actor.Actor, businessID uuid.UUID, made store.Reservation) (Made, error) {
	if made.Status != state.Pending {
		return Made{Reservation: made}, nil
	}
	now, err := o.again(actor.With(ctx, by), businessID, made)
	if errors.Is(err, errAgain) {
		return Made{}, inProgress()
	}
	return now, err
}

func inProgress() error {
	return fault.New(fault.IdempotencyInProgress, "Idempotency-Key: a request with this key is still in flight; try again shortly.")
}

// again answers a repeated request for a reservation that waits, or waited, for its payment. The answer has the
// page to pay on if the payment is open. If the reservation was taken back before any answer reported it, again
// deletes the idempotency result and returns [errAgain]; the caller then makes the reservation again. Faults:
// idempotency_in_progress while the first request opens the charge; outcome_unknown if the database cannot be read.
func (o *Owner) again(ctx context.Context, businessID uuid.UUID, made store.Reservation) (Made, error) {
	r, err := o.reservations.Reservation(ctx, businessID, made.ID)
	switch {
	case err != nil:
		return Made{}, fault.Unknown(err)
	case r.Status == state.Cancelled && r.Sequence == 0:
		if err := o.reservations.UnmakeWrite(ctx, businessID, postgres.OwnersWrite(ctx, businessID), made.ID); err != nil {
			return Made{}, fault.Unknown(err)
		}
		return Made{}, errAgain
	case r.Payment != nil && r.Payment.Status == booking.ChargeCreating:
		return Made{}, inProgress()
	case !r.Payment.CanPay(o.clock.Now()):
		return Made{Reservation: r}, nil
	}
	page, err := o.charges.Page(ctx, businessID, r.ID)
	if err != nil {
		return Made{Reservation: r}, nil // without the page, the customer can still pay through the link
	}
	return Made{r, page.CheckoutURL}, nil
}
