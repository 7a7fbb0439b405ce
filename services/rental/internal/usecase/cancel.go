package usecase

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/sale"
	"github.com/slotmesh/slotmesh/libs/sale/cancellation"
	"github.com/slotmesh/slotmesh/libs/sale/refund"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
)

// newSale returns the data of a reservation that determine the refund at a cancellation (lifecycle.md §4).
func newSale(r store.Reservation, offer *catalog.Snapshot) cancellation.Sale {
	cancel, _ := state.FindTransition(state.Cancel)
	s := cancellation.Sale{
		Noun: "reservation", Status: string(r.Status), IsCancellable: cancel.Allows(r.Status),
		IsUnderway: r.Status == state.PickedUp, Currency: offer.Money(),
		MadeAt: r.CreatedAt, StartsAt: startOf(r, findZone(r, offer)), Withdrawn: r.Withdrawn,
	}
	if r.Price != nil {
		s.Currency = r.Price.Currency
	}
	if p := r.Payment; p != nil {
		s.Payment = cancellation.Payment{Amount: p.Amount, Left: p.RefundableRest(),
			HasPendingRefund: p.RefundStatus == booking.RefundPending, Policy: p.Policy, Step: p.Step,
			RefundedExternally: p.RefundedElsewhere}
	}
	return s
}

// CancellableReservations is the part of the store that reads, cancels
// and refunds reservations; [store.Store] documents its methods.
type CancellableReservations interface {
	Reservation(ctx context.Context, businessID, id uuid.UUID) (store.Reservation, error)
	Cancel(ctx context.Context, businessID, id uuid.UUID, now time.Time,
		part func(store.Reservation) (refund.Part, error)) (store.Reservation, error)
	Refund(ctx context.Context, businessID, id uuid.UUID, now time.Time,
		part func(store.Reservation) (refund.Part, error)) (store.Reservation, error)
}

// newCancellations returns a [sale.Cancellations] for the reservations of one
// business. The argument `newFault` converts an error of the store to a fault.
func newCancellations(records CancellableReservations, offer *catalog.Snapshot, newFault func(error) error,
	c clock.Clock) sale.Cancellations[store.Reservation] {
	return sale.Cancellations[store.Reservation]{
		Store:   sale.Store[store.Reservation]{Find: records.Reservation, Cancel: records.Cancel, Refund: records.Refund},
		NewSale: func(r store.Reservation) cancellation.Sale { return newSale(r, offer) },
		ToFault: newFault, Clock: c,
	}
}

// Cancellations returns a [sale.Cancellations] with which the owner of
// a business cancels and refunds reservations, with immediate effect.
func (o *Owner) Cancellations(offer *catalog.Snapshot) sale.Cancellations[store.Reservation] {
	return newCancellations(o.reservations, offer, func(err error) error {
		return newStatusFault(err, "cancel takes one that is pending or reserved")
	}, o.clock)
}

// newStatusFault converts an error of the store into a fault: not_found for an unknown reservation, conflict if
// the status of the reservation does not allow the transition. The argument `action` is the end of the message of
// the conflict; it names the transition and the required status. newStatusFault returns any other error unchanged.
func newStatusFault(err error, action string) error {
	var notAllowed *store.NotAllowedError
	switch {
	case errors.Is(err, store.ErrNotFound):
		return fault.New(fault.NotFound, "Reservation not found")
	case errors.As(err, &notAllowed):
		return fault.Newf(fault.Conflict, "The reservation is %s; %s.", notAllowed.Status, action)
	}
	return err
}
