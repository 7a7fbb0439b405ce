package usecase

import (
	"errors"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/sale"
	"github.com/slotmesh/slotmesh/libs/sale/cancellation"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// Cancellations cancels and refunds bookings and orders of tickets (lifecycle.md §4). One database statement
// writes both the cancellation and the refund that is due. [Payments] then makes the refund at the provider.
type Cancellations struct {
	Bookings sale.Cancellations[store.Booking]
	Tickets  sale.Cancellations[store.Ticket] // a cancelled order frees its tickets immediately
}

// NewCancellations returns a Cancellations. The argument `providers` contains the connected payment providers.
func NewCancellations(records *store.Store, providers payment.Providers, c clock.Clock) *Cancellations {
	return &Cancellations{
		Bookings: sale.Cancellations[store.Booking]{
			Store:   sale.Store[store.Booking]{Find: records.Booking, Cancel: records.Cancel, Refund: records.Refund},
			NewSale: func(b store.Booking) cancellation.Sale { return newBookingSale(b, providers) },
			ToFault: refuseCancellation, Clock: c,
		},
		Tickets: sale.Cancellations[store.Ticket]{
			Store: sale.Store[store.Ticket]{Find: records.Ticket, Cancel: records.CancelTicket,
				Refund: records.RefundTicket},
			NewSale: func(t store.Ticket) cancellation.Sale { return newTicketSale(t, providers) },
			ToFault: toTicketFault, Clock: c,
		},
	}
}

// newBookingSale returns the data of a booking on which its refund depends.
func newBookingSale(b store.Booking, providers payment.Providers) cancellation.Sale {
	cancel, _ := state.FindTransition(state.Cancel)
	return cancellation.Sale{
		Noun: "booking", Status: string(b.Status), IsCancellable: cancel.Allows(b.Status),
		Payment: newSalePayment(b.Payment, b.Currency, providers), Currency: b.Currency,
		MadeAt: b.CreatedAt, StartsAt: b.StartsAt, IsUnconfirmed: b.Status == state.Pending, Withdrawn: b.Withdrawn,
	}
}

// newTicketSale returns the data of an order of tickets on which its refund depends.
func newTicketSale(t store.Ticket, providers payment.Providers) cancellation.Sale {
	return cancellation.Sale{
		Noun: "order of tickets", Status: t.Status, IsCancellable: t.Status != booking.StatusCancelled,
		Payment: newSalePayment(t.Payment, t.Currency, providers), Currency: t.Currency,
		MadeAt: t.CreatedAt, StartsAt: t.StartsAt, FormerStarts: t.FormerStarts, Withdrawn: t.Withdrawn,
	}
}

func newSalePayment(p *store.Payment, currency money.Currency, providers payment.Providers) cancellation.Payment {
	if p == nil {
		return cancellation.Payment{}
	}
	return cancellation.Payment{
		Amount: p.Amount, Left: p.RefundableRest(), HasPendingRefund: p.RefundStatus == payment.RefundPending,
		Policy:             p.Policy,
		RefundedExternally: p.RefundedElsewhere, Step: providers.Step(p.Provider, currency),
	}
}

// refuseCancellation converts an error of the store into a fault about a booking. Faults: not_found for an unknown
// booking; conflict if the status of the booking does not allow a cancellation. It returns any other error unchanged.
func refuseCancellation(err error) error {
	var notAllowed *store.NotAllowedError
	if errors.As(err, &notAllowed) {
		transition, _ := state.FindTransition(state.Cancel)
		return fault.Newf(fault.Conflict, "The booking is %s; cancel takes one that is %s.", notAllowed.Status,
			joinStates(transition.From))
	}
	return toBookingFault(err)
}

// toBookingFault converts [store.ErrNotFound] into a fault with code not_found. It returns any other error unchanged.
func toBookingFault(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return fault.New(fault.NotFound, "This business has no such booking.")
	}
	return err
}

// toTicketFault converts [store.ErrNotFound] into a fault with code not_found, and
// [store.ErrCancelled] into a fault with code conflict. It returns any other error unchanged.
func toTicketFault(err error) error {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return fault.New(fault.NotFound, "This business has no such tickets.")
	case errors.Is(err, store.ErrCancelled):
		return fault.New(fault.Conflict, "The tickets are cancelled already.")
	}
	return err
}
