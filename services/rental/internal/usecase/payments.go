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
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/sale"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/rental/internal/payment"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
)

// Payments is the part of the booking service's internal API for the payments of reservations.
// [bookingclient.ReservationPayments] documents its methods.
type Payments interface {
	Open(ctx context.Context, businessID, id uuid.UUID,
		payment booking.NewReservationPayment) (*booking.ReservationCheckout, error)
	List(ctx context.Context, ids []booking.ReservationID) ([]booking.ReservationPayment, error)
	ListReports(ctx context.Context) ([]booking.ReservationPayment, error)
	AcknowledgeReports(ctx context.Context, noted []booking.ReportAcknowledgement) error
	FindCheckout(ctx context.Context, businessID, id uuid.UUID) (*booking.ReservationCheckout, error)
	Close(ctx context.Context, businessID, id uuid.UUID, request booking.ClosePayment) (*booking.PaymentState, error)
	CountReservation(ctx context.Context, businessID, id uuid.UUID, reservation booking.OpenReservation) error
	UncountReservation(ctx context.Context, businessID, id uuid.UUID) error
}

var _ Payments = (*bookingclient.ReservationPayments)(nil)

// ReserveResult is the result of a request that made a reservation. CheckoutURL is the URL of the provider's
// page on which the customer pays, or "" if nothing is to be paid now. Only the customer may get this URL.
type ReserveResult struct {
	store.Reservation
	CheckoutURL string
}

// addPayment sets `r.Payment` if the customer must pay online now (semantics.md §3). The reservation
// then waits for its payment. The argument `due` is the amount to pay now, in minor units: the
// result of [Owner.price]. The argument `choice` is the customer's payment choice, or "".
//
// Fault: payment_unavailable if the URL of the customers' pages (PAGES_URL)
// is not set. The provider's page needs this URL to send the customer back.
func (o *Owner) addPayment(offer *catalog.Snapshot, choice string, due int64, r *store.NewReservation) error {
	if due == 0 || !offer.PaysOnline(offer.Payments.Modes.Rentals, choice, r.Price.Total) {
		return nil
	}
	if o.links.URL(event.Reservation, r.ID, r.LinkHash) == "" {
		return fault.New(fault.PaymentUnavailable,
			"This must be paid online, and there are no customers' pages to come back to (PAGES_URL); nothing was "+
				"reserved.")
	}
	r.Payment = payment.New(due, r.Now.Add(o.openTimeout))
	return nil
}

// openPayment asks the booking service to open the payment of a written reservation, and then stores that the payment
// is open. The caller gets the provider's page only after the open payment is stored. If a step fails, openPayment
// cancels the reservation with [store.Store.Abandon] (see [sale.Opening]).
//
// Faults: payment_unavailable; payment_not_offered; outcome_unknown if it is unknown whether the payment was
// stored as open. After outcome_unknown, a retry of the caller or [Reconciliation] determines the result.
func (o *Owner) openPayment(ctx context.Context, offer *catalog.Snapshot,
	r store.NewReservation) (ReserveResult, error) {
	var (
		stored store.Reservation
		write  = postgres.RequestWriteID(ctx, r.BusinessID)
	)
	checkout, err := sale.Opening[*booking.ReservationCheckout]{
		Kind: event.Reservation, ID: r.ID, CancelTimeout: o.AbandonTimeout, Log: o.log,
		Create: func(ctx context.Context) (*booking.ReservationCheckout, error) {
			return o.payments.Open(ctx, r.BusinessID, r.ID, booking.NewReservationPayment{
				Slug: offer.Slug, Name: describe(r), Amount: r.Payment.Amount, Currency: r.Price.Currency.Code,
				Manage: o.links.URL(event.Reservation, r.ID, r.LinkHash),
			})
		},
		Store: func(ctx context.Context, checkout *booking.ReservationCheckout) error {
			var err error
			stored, err = o.reservations.MarkPaymentOpen(ctx, r.BusinessID, r.ID, checkout.Payment, o.clock.Now())
			if err != nil && !errors.Is(err, store.ErrPaymentOver) {
				err = fault.Unknown(err)
			}
			return err
		},
		Cancel: func(ctx context.Context, _ *booking.ReservationCheckout, _ error) error {
			return o.reservations.Abandon(ctx, r.BusinessID, r.ID, write, o.clock.Now())
		},
	}.Open(ctx)
	var failed *sale.NotOpenedError
	switch {
	case err == nil:
		return ReserveResult{stored, checkout.CheckoutURL}, nil
	case !errors.As(err, &failed):
		return ReserveResult{}, err
	case fault.Is(failed.Cause, fault.PaymentUnavailable) || fault.Is(failed.Cause, fault.PaymentNotOffered):
		return ReserveResult{}, failed.Cause
	}
	f := fault.New(fault.PaymentUnavailable,
		"The payment could not be started just now, so nothing was reserved; try again shortly.")
	f.RetryAfter = time.Second
	return ReserveResult{}, f
}

// describe returns the number of units and the name of each reserved rental, as
// in "2 × Tent, 1 × Stove". The provider shows this text on its payment page.
func describe(r store.NewReservation) string {
	names := []string{fmt.Sprintf("%d × %s", r.Quantity, r.RentalName)}
	for _, extra := range r.Extras {
		names = append(names, fmt.Sprintf("%d × %s", extra.Quantity, extra.Name))
	}
	return strings.Join(names, ", ")
}

// AnswerRetry answers a repeated request that has an idempotency result. It returns the reservation that
// the first request made. For a pending reservation, it reads the current state. If the payment is
// open, the answer includes the provider's page, which the stored first answer does not have.
//
// Faults: outcome_unknown if the database cannot be read; idempotency_in_progress while the first
// request is opening the payment, or if the reservation was cancelled before any answer contained it.
func (o *Owner) AnswerRetry(ctx context.Context, by actor.Actor, businessID uuid.UUID,
	reservation store.Reservation) (ReserveResult, error) {
	if reservation.Status != state.Pending {
		return ReserveResult{Reservation: reservation}, nil
	}
	current, err := o.answerPaidRetry(actor.With(ctx, by), businessID, reservation)
	if errors.Is(err, sale.ErrChanged) {
		return ReserveResult{}, idempotency.NewInProgressFault()
	}
	return current, err
}

// answerPaidRetry answers a repeated request for a reservation that is paid online.
// If the payment is open, the answer includes the provider's page.
//
// If the reservation was cancelled before any answer contained it, answerPaidRetry deletes the idempotency result
// and returns [sale.ErrChanged]. The caller must then make a new reservation. Faults: idempotency_in_progress
// while the first request is opening the payment; outcome_unknown if the database cannot be read.
func (o *Owner) answerPaidRetry(ctx context.Context, businessID uuid.UUID,
	reservation store.Reservation) (ReserveResult, error) {
	r, err := o.reservations.Reservation(ctx, businessID, reservation.ID)
	switch {
	case err != nil:
		return ReserveResult{}, fault.Unknown(err)
	case r.Status == state.Cancelled && r.Sequence == 0:
		if err := o.reservations.DeleteIdempotencyResult(ctx, businessID, postgres.RequestWriteID(ctx, businessID),
			reservation.ID); err != nil {
			return ReserveResult{}, fault.Unknown(err)
		}
		return ReserveResult{}, sale.ErrChanged
	case r.Payment != nil && r.Payment.Status == booking.PaymentStateCreating:
		return ReserveResult{}, idempotency.NewInProgressFault()
	case !r.Payment.CanPay(o.clock.Now()):
		return ReserveResult{Reservation: r}, nil
	}
	page, err := o.payments.FindCheckout(ctx, businessID, r.ID)
	if err != nil {
		// The answer then has no URL of the provider's page. The customer can still pay through the customer's link.
		return ReserveResult{Reservation: r}, nil
	}
	return ReserveResult{r, page.CheckoutURL}, nil
}
