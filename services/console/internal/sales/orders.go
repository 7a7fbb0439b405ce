package sales

import (
	"context"
	"log/slog"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

// Orders has the use cases that cancel and refund the orders of one kind. T is the type of an order: a booking, a ticket
// order or a reservation.
type Orders[T any] struct {
	useCases *UseCases
	name     string // name of the kind in the log
	calls    orderCalls[T]
}

// orderCalls has the calls of the service that owns the orders of one kind.
type orderCalls[T any] struct {
	preview func(context.Context, orderBusiness, uuid.UUID) (*booking.Cancellation, error)
	cancel  func(context.Context, orderBusiness, uuid.UUID, booking.Cancel) (*T, error)
	refund  func(context.Context, orderBusiness, uuid.UUID, booking.NewRefund) (*T, error)
	payment func(*T) *booking.Payment
	// findsBySlug is true if the service finds the business by its slug. An operator can then cancel and refund even
	// while catalog is unavailable.
	findsBySlug bool
}

// orderBusiness is the business of an order. The id is zero if only the slug is known.
type orderBusiness struct {
	id   uuid.UUID
	slug string
}

// BookingOrders returns the use cases that cancel and refund bookings.
func (o *UseCases) BookingOrders() *Orders[booking.Booking] {
	return &Orders[booking.Booking]{o, "booking", orderCalls[booking.Booking]{
		preview: func(ctx context.Context, of orderBusiness, id uuid.UUID) (*booking.Cancellation, error) {
			return o.Bookings.Cancellation(ctx, of.id, id)
		},
		cancel: func(ctx context.Context, of orderBusiness, id uuid.UUID, c booking.Cancel) (*booking.Booking, error) {
			return o.Bookings.Cancel(ctx, of.id, id, c)
		},
		refund: func(ctx context.Context, of orderBusiness, id uuid.UUID, r booking.NewRefund) (*booking.Booking, error) {
			return o.Bookings.Refund(ctx, of.id, id, r)
		},
		payment: func(b *booking.Booking) *booking.Payment { return b.Payment },
	}}
}

// TicketOrders returns the use cases that cancel and refund ticket orders. The business can sell cancelled tickets again
// at once.
func (o *UseCases) TicketOrders() *Orders[booking.Ticket] {
	return &Orders[booking.Ticket]{o, "tickets", orderCalls[booking.Ticket]{
		preview: func(ctx context.Context, of orderBusiness, id uuid.UUID) (*booking.Cancellation, error) {
			return o.Bookings.TicketCancellation(ctx, of.id, id)
		},
		cancel: func(ctx context.Context, of orderBusiness, id uuid.UUID, c booking.Cancel) (*booking.Ticket, error) {
			return o.Bookings.CancelTicket(ctx, of.id, id, c)
		},
		refund: func(ctx context.Context, of orderBusiness, id uuid.UUID, r booking.NewRefund) (*booking.Ticket, error) {
			return o.Bookings.RefundTicket(ctx, of.id, id, r)
		},
		payment: func(t *booking.Ticket) *booking.Payment { return t.Payment },
	}}
}

// ReservationOrders returns the use cases that cancel and refund reservations. Customers can reserve the units of a
// cancelled reservation again at once.
func (o *UseCases) ReservationOrders() *Orders[rental.Reservation] {
	return &Orders[rental.Reservation]{o, "reservation", orderCalls[rental.Reservation]{
		preview: func(ctx context.Context, of orderBusiness, id uuid.UUID) (*booking.Cancellation, error) {
			return o.Rentals.ForBusiness(of.id).Cancellation(ctx, of.slug, id)
		},
		cancel: func(ctx context.Context, of orderBusiness, id uuid.UUID, c booking.Cancel) (*rental.Reservation, error) {
			return o.Rentals.ForBusiness(of.id).Cancel(ctx, of.slug, id, c)
		},
		refund: func(ctx context.Context, of orderBusiness, id uuid.UUID,
			r booking.NewRefund) (*rental.Reservation, error) {
			return o.Rentals.ForBusiness(of.id).Refund(ctx, of.slug, id, r)
		},
		payment:     func(r *rental.Reservation) *booking.Payment { return r.Payment },
		findsBySlug: true,
	}}
}

// Preview returns the effect that a cancellation of the order would have now, with the refundable amount. Fault:
// not_found.
func (s *Orders[T]) Preview(ctx context.Context, by peers.Principal, slug string,
	id uuid.UUID) (*booking.Cancellation, error) {
	of, err := s.findBusiness(ctx, by, slug)
	if err != nil {
		return nil, err
	}
	return s.calls.preview(ctx, of, id)
}

// Cancel cancels an order. The field `cancel.Refund` is the part of the online payment that Cancel refunds. The values ""
// and "policy" leave the amount to the cancellation policy. For any other value, the principal needs the permission to
// refund.
func (s *Orders[T]) Cancel(ctx context.Context, by peers.Principal, slug string, id uuid.UUID,
	cancel booking.Cancel) (*T, error) {
	of, err := s.findBusiness(ctx, by, slug)
	if err == nil && cancel.Refund != "" && cancel.Refund != booking.RefundPolicy {
		err = by.Require(of.id, access.Refund)
	}
	if err != nil {
		return nil, err
	}
	cancelled, err := s.calls.cancel(ctx, of, id, cancel)
	s.log(ctx, by, "cancel ", slug, id, cancelled, err)
	return cancelled, err
}

// Refund refunds an order that is cancelled. It also refunds a booking or reservation that has ended.
func (s *Orders[T]) Refund(ctx context.Context, by peers.Principal, slug string, id uuid.UUID,
	newRefund booking.NewRefund) (*T, error) {
	of, err := s.findBusiness(ctx, by, slug)
	if err != nil {
		return nil, err
	}
	refunded, err := s.calls.refund(ctx, of, id, newRefund)
	s.log(ctx, by, "refund ", slug, id, refunded, err)
	return refunded, err
}

func (s *Orders[T]) findBusiness(ctx context.Context, by peers.Principal, slug string) (orderBusiness, error) {
	if s.calls.findsBySlug && by.IsOperator {
		return orderBusiness{slug: slug}, nil
	}
	business, err := s.useCases.FindBusiness(ctx, slug)
	if err != nil {
		return orderBusiness{}, err
	}
	return orderBusiness{business.ID, slug}, nil
}

// log logs a change with the amount of the refund, unless the change has failed.
func (s *Orders[T]) log(ctx context.Context, by peers.Principal, verb, slug string, id uuid.UUID, order *T, err error) {
	if err != nil {
		return
	}
	amount := "0"
	if pay := s.calls.payment(order); pay != nil && pay.Refund != nil {
		amount = pay.Refund.Amount.String()
	}
	s.useCases.LogChange(ctx, by, verb+s.name, slug, slog.String(s.name+"_id", id.String()),
		slog.String("refund", amount))
}
