package sales

import (
	"context"
	"log/slog"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

// MoveBooking changes the status of a booking; move is the name of the change, such as confirm. An owner can make every
// change except a cancellation here. A member of the staff can change only their own bookings; the others are
// not_found.
func (o *UseCases) MoveBooking(ctx context.Context, by peers.Principal, slug string, id uuid.UUID,
	move string) (*booking.Booking, error) {
	business, err := o.Business(ctx, slug)
	if err != nil {
		return nil, err
	}
	if self, _ := by.In(business.ID); self.Role == access.Staff {
		served, err := o.Bookings.Booking(ctx, business.ID, id)
		if err != nil {
			return nil, err
		}
		if _, _, performs := served.PerformedBy(self.StaffID); !performs {
			return nil, fault.New(fault.NotFound, "Booking not found")
		}
	}
	moved, err := o.Bookings.Move(ctx, business.ID, id, move)
	if err == nil {
		o.LogChange(ctx, by, move+" booking", slug, slog.String("booking_id", id.String()),
			slog.String("status", moved.Status))
	}
	return moved, err
}

// PreviewCancellation returns what cancelling a booking would do now.
func (o *UseCases) PreviewCancellation(ctx context.Context, slug string, id uuid.UUID) (*booking.Cancellation, error) {
	business, err := o.Business(ctx, slug)
	if err != nil {
		return nil, err
	}
	return o.Bookings.Cancellation(ctx, business.ID, id)
}

// CancelBooking cancels a booking and refunds the amount in wanted of what was paid online. An amount that differs from
// the cancellation policy's needs the permission to refund.
func (o *UseCases) CancelBooking(ctx context.Context, by peers.Principal, slug string, id uuid.UUID,
	wanted booking.Cancel) (*booking.Booking, error) {
	business, err := o.mayRefund(ctx, by, slug, wanted.Refund)
	if err != nil {
		return nil, err
	}
	cancelled, err := o.Bookings.Cancel(ctx, business.ID, id, wanted)
	if err == nil {
		o.LogChange(ctx, by, "cancel booking", slug, slog.String("booking_id", id.String()),
			slog.String("status", cancelled.Status), refundAttr(cancelled.Payment))
	}
	return cancelled, err
}

// RefundBooking refunds a booking that has ended or is cancelled.
func (o *UseCases) RefundBooking(ctx context.Context, by peers.Principal, slug string, id uuid.UUID,
	wanted booking.NewRefund) (*booking.Booking, error) {
	business, err := o.Business(ctx, slug)
	if err != nil {
		return nil, err
	}
	refunded, err := o.Bookings.Refund(ctx, business.ID, id, wanted)
	if err == nil {
		o.LogChange(ctx, by, "refund booking", slug, slog.String("booking_id", id.String()), refundAttr(refunded.Payment))
	}
	return refunded, err
}

// refundAttr returns the log attribute of the amount that is being refunded.
func refundAttr(p *booking.Payment) slog.Attr {
	if p == nil || p.Refund == nil {
		return slog.String("refund", "0")
	}
	return slog.String("refund", p.Refund.Amount.String())
}

// mayRefund returns the business of a cancellation. It returns an error if the amount to refund differs from the
// cancellation policy's and the principal may not refund.
func (o *UseCases) mayRefund(ctx context.Context, by peers.Principal, slug string,
	refund booking.RefundAmount) (*catalog.Offer, error) {
	business, err := o.Business(ctx, slug)
	if err == nil && !byPolicy(refund) {
		err = by.Require(business.ID, access.Refund)
	}
	return business, err
}

func byPolicy(refund booking.RefundAmount) bool {
	return refund == "" || refund == booking.RefundPolicy
}

// SellTickets sells tickets of an event. The slug in the order is the slug of the business.
func (o *UseCases) SellTickets(ctx context.Context, by peers.Principal, order booking.NewTicket) (*booking.Ticket,
	error) {
	business, err := o.Business(ctx, order.Slug)
	if err != nil {
		return nil, err
	}
	sold, err := o.Bookings.SellTicket(ctx, business.ID, order)
	if err == nil {
		o.LogChange(ctx, by, "sell tickets", order.Slug, slog.String("tickets_id", sold.ID.String()),
			slog.Int("quantity", sold.Quantity))
	}
	return sold, err
}

// PreviewTicketCancellation returns what cancelling an order of tickets would do now.
func (o *UseCases) PreviewTicketCancellation(ctx context.Context, slug string,
	id uuid.UUID) (*booking.Cancellation, error) {
	business, err := o.Business(ctx, slug)
	if err != nil {
		return nil, err
	}
	return o.Bookings.TicketCancellation(ctx, business.ID, id)
}

// CancelTickets cancels an order of tickets and refunds it as [UseCases.CancelBooking] does. The tickets can be sold
// again at once.
func (o *UseCases) CancelTickets(ctx context.Context, by peers.Principal, slug string, id uuid.UUID,
	wanted booking.Cancel) (*booking.Ticket, error) {
	business, err := o.mayRefund(ctx, by, slug, wanted.Refund)
	if err != nil {
		return nil, err
	}
	cancelled, err := o.Bookings.CancelTicket(ctx, business.ID, id, wanted)
	if err == nil {
		o.LogChange(ctx, by, "cancel tickets", slug, slog.String("tickets_id", id.String()),
			refundAttr(cancelled.Payment))
	}
	return cancelled, err
}

// RefundTickets refunds a cancelled order of tickets.
func (o *UseCases) RefundTickets(ctx context.Context, by peers.Principal, slug string, id uuid.UUID,
	wanted booking.NewRefund) (*booking.Ticket, error) {
	business, err := o.Business(ctx, slug)
	if err != nil {
		return nil, err
	}
	refunded, err := o.Bookings.RefundTicket(ctx, business.ID, id, wanted)
	if err == nil {
		o.LogChange(ctx, by, "refund tickets", slug, slog.String("tickets_id", id.String()), refundAttr(refunded.Payment))
	}
	return refunded, err
}
