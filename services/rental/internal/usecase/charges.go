package usecase

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/sale"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/rental/internal/charge"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
)

// Charges is the part of booking's internal API for the charges
// of reservations. [bookingclient.Charges] documents its methods.
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

// Made is the result of a request that made a reservation. CheckoutURL is the provider's page on which
// the customer pays, or "" if nothing is to be paid now. Only the customer may get this address.
type Made struct {
	store.Reservation
	CheckoutURL string
}

// charged sets `r.Payment` if the customer must pay online now (semantics.md §3). The reservation then waits for
// its charge. The argument `due` is the amount to pay now, in minor units: the sum of the payments that the
// rentals require for all units and the whole time. The argument `choice` is the customer's payment choice, or "".
//
// Fault: payment_unavailable if the service does not know the address of the customers'
// pages (PAGES_URL). The provider's page needs this address to send the customer back.
func (o *Owner) charged(offer *catalog.Snapshot, choice string, due int64, r *store.NewReservation) error {
	if due == 0 || !offer.PaysOnline(offer.Payments.Modes.Rentals, choice, r.Price.Total) {
		return nil
	}
	if o.links.URL(event.Reservation, r.ID, r.LinkHash) == "" {
		return fault.New(fault.PaymentUnavailable,
			"This must be paid online, and there are no customers' pages to come back to (PAGES_URL); nothing was "+
				"reserved.")
	}
	r.Payment = charge.New(due, r.Now.Add(o.openWithin))
	return nil
}

// open asks booking to open the charge of a written reservation, and then stores that
// the charge is open. Only after that does the caller get the provider's page. If a step
// fails, open cancels the reservation with [store.Store.Abandon] (see [sale.Opening]).
//
// Faults: payment_unavailable; payment_not_offered; outcome_unknown if it is unknown whether the charge was
// stored as open. After outcome_unknown, a retry of the caller or [Reconciliation] determines the result.
func (o *Owner) open(ctx context.Context, offer *catalog.Snapshot, r store.NewReservation) (Made, error) {
	var (
		stored store.Reservation
		write  = postgres.RequestWriteID(ctx, r.BusinessID)
	)
	opened, err := sale.Opening[*booking.OpenedCharge]{
		Kind: event.Reservation, ID: r.ID, Within: o.TakeBackWithin, Log: o.log,
		Create: func(ctx context.Context) (*booking.OpenedCharge, error) {
			return o.charges.Open(ctx, r.BusinessID, r.ID, booking.NewCharge{
				Slug: offer.Slug, Name: named(r), Amount: r.Payment.Amount, Currency: r.Price.Currency.Code,
				Manage: o.links.URL(event.Reservation, r.ID, r.LinkHash),
			})
		},
		Store: func(ctx context.Context, opened *booking.OpenedCharge) error {
			var err error
			stored, err = o.reservations.Opened(ctx, r.BusinessID, r.ID, opened.Charge, o.clock.Now())
			if err != nil && !errors.Is(err, store.ErrPaymentOver) {
				err = fault.Unknown(err)
			}
			return err
		},
		TakeBack: func(ctx context.Context, _ *booking.OpenedCharge, _ error) error {
			return o.reservations.Abandon(ctx, r.BusinessID, r.ID, write, o.clock.Now())
		},
	}.Open(ctx)
	var failed *sale.NotOpenedError
	switch {
	case err == nil:
		return Made{stored, opened.CheckoutURL}, nil
	case !errors.As(err, &failed):
		return Made{}, err
	case fault.Is(failed.Cause, fault.PaymentUnavailable) || fault.Is(failed.Cause, fault.PaymentNotOffered):
		return Made{}, failed.Cause
	}
	f := fault.New(fault.PaymentUnavailable,
		"The payment could not be started just now, so nothing was reserved; try again shortly.")
	f.RetryAfter = time.Second
	return Made{}, f
}

// named returns the names of the reserved rentals and their numbers of units, as
// in "2 × Tent, 1 × Stove". The provider shows this text on its payment page.
func named(r store.NewReservation) string {
	names := []string{fmt.Sprintf("%d × %s", r.Quantity, r.RentalName)}
	for _, extra := range r.Extras {
		names = append(names, fmt.Sprintf("%d × %s", extra.Quantity, extra.Name))
	}
	return strings.Join(names, ", ")
}

// Again answers a repeated request that has an idempotency result. It returns the reservation that
// the first request made. For a pending reservation, it reads the current state. If the charge is
// open, the answer includes the provider's page, which the stored first answer does not have.
//
// Faults: outcome_unknown if the database cannot be read; idempotency_in_progress while the first
// request is opening the charge, or if the reservation was cancelled before any answer contained it.
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
	return fault.New(fault.IdempotencyInProgress,
		"Idempotency-Key: a request with this key is still in flight; try again shortly.")
}

// again answers a repeated request for a reservation that is paid online.
// If the charge is open, the answer includes the provider's page.
//
// If the reservation was cancelled before any answer contained it, again deletes the idempotency result
// and returns [errAgain]. The caller must then make a new reservation. Faults: idempotency_in_progress
// while the first request is opening the charge; outcome_unknown if the database cannot be read.
func (o *Owner) again(ctx context.Context, businessID uuid.UUID, made store.Reservation) (Made, error) {
	r, err := o.reservations.Reservation(ctx, businessID, made.ID)
	switch {
	case err != nil:
		return Made{}, fault.Unknown(err)
	case r.Status == state.Cancelled && r.Sequence == 0:
		if err := o.reservations.UnmakeWrite(ctx, businessID, postgres.RequestWriteID(ctx, businessID),
			made.ID); err != nil {
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
