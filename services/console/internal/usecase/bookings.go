package usecase

import (
	"context"
	"log/slog"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

// CreateKey makes an API key. Only this answer contains the key's secret.
func (o *Owner) CreateKey(ctx context.Context, by Principal, slug string, wanted booking.NewKey) (*booking.Key, error) {
	business, err := o.Business(ctx, slug)
	if err != nil {
		return nil, err
	}
	key, err := o.Bookings.CreateKey(ctx, business.ID, wanted)
	if err == nil {
		o.changed(ctx, by, "create key", slug, slog.String("key_id", key.ID.String()), slog.String("scope", key.Scope))
	}
	return key, err
}

// RevokeKey ends a key at once.
func (o *Owner) RevokeKey(ctx context.Context, by Principal, slug string, id uuid.UUID) error {
	business, err := o.Business(ctx, slug)
	if err != nil {
		return err
	}
	if err := o.Bookings.RevokeKey(ctx, business.ID, id); err != nil {
		return err
	}
	o.changed(ctx, by, "revoke key", slug, slog.String("key_id", id.String()))
	return nil
}

// MoveBooking changes the status of a booking; move is the name of the change, such as confirm. An owner can make every
// change except a cancellation here. A member of the staff can change only their own bookings; the others are
// not_found.
func (o *Owner) MoveBooking(ctx context.Context, by Principal, slug string, id uuid.UUID,
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
		o.changed(ctx, by, move+" booking", slug, slog.String("booking_id", id.String()),
			slog.String("status", moved.Status))
	}
	return moved, err
}

// PreviewCancellation returns what cancelling a booking would do now.
func (o *Owner) PreviewCancellation(ctx context.Context, slug string, id uuid.UUID) (*booking.Cancellation, error) {
	business, err := o.Business(ctx, slug)
	if err != nil {
		return nil, err
	}
	return o.Bookings.Cancellation(ctx, business.ID, id)
}

// CancelBooking cancels a booking and refunds the amount in wanted of what was paid online. An amount that differs from
// the cancellation policy's needs the permission to refund.
func (o *Owner) CancelBooking(ctx context.Context, by Principal, slug string, id uuid.UUID,
	wanted booking.Cancel) (*booking.Booking, error) {
	business, err := o.mayRefund(ctx, by, slug, wanted.Refund)
	if err != nil {
		return nil, err
	}
	cancelled, err := o.Bookings.Cancel(ctx, business.ID, id, wanted)
	if err == nil {
		o.changed(ctx, by, "cancel booking", slug, slog.String("booking_id", id.String()),
			slog.String("status", cancelled.Status), refundAttr(cancelled.Payment))
	}
	return cancelled, err
}

// RefundBooking refunds a booking that has ended or is cancelled.
func (o *Owner) RefundBooking(ctx context.Context, by Principal, slug string, id uuid.UUID,
	wanted booking.NewRefund) (*booking.Booking, error) {
	business, err := o.Business(ctx, slug)
	if err != nil {
		return nil, err
	}
	refunded, err := o.Bookings.Refund(ctx, business.ID, id, wanted)
	if err == nil {
		o.changed(ctx, by, "refund booking", slug, slog.String("booking_id", id.String()), refundAttr(refunded.Payment))
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
func (o *Owner) mayRefund(ctx context.Context, by Principal, slug string,
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
func (o *Owner) SellTickets(ctx context.Context, by Principal, order booking.NewTicket) (*booking.Ticket, error) {
	business, err := o.Business(ctx, order.Slug)
	if err != nil {
		return nil, err
	}
	sold, err := o.Bookings.SellTicket(ctx, business.ID, order)
	if err == nil {
		o.changed(ctx, by, "sell tickets", order.Slug, slog.String("tickets_id", sold.ID.String()),
			slog.Int("quantity", sold.Quantity))
	}
	return sold, err
}

// PreviewTicketCancellation returns what cancelling an order of tickets would do now.
func (o *Owner) PreviewTicketCancellation(ctx context.Context, slug string,
	id uuid.UUID) (*booking.Cancellation, error) {
	business, err := o.Business(ctx, slug)
	if err != nil {
		return nil, err
	}
	return o.Bookings.TicketCancellation(ctx, business.ID, id)
}

// CancelTickets cancels an order of tickets and refunds it as [Owner.CancelBooking] does. The tickets can be sold again
// at once.
func (o *Owner) CancelTickets(ctx context.Context, by Principal, slug string, id uuid.UUID,
	wanted booking.Cancel) (*booking.Ticket, error) {
	business, err := o.mayRefund(ctx, by, slug, wanted.Refund)
	if err != nil {
		return nil, err
	}
	cancelled, err := o.Bookings.CancelTicket(ctx, business.ID, id, wanted)
	if err == nil {
		o.changed(ctx, by, "cancel tickets", slug, slog.String("tickets_id", id.String()),
			refundAttr(cancelled.Payment))
	}
	return cancelled, err
}

// RefundTickets refunds a cancelled order of tickets.
func (o *Owner) RefundTickets(ctx context.Context, by Principal, slug string, id uuid.UUID,
	wanted booking.NewRefund) (*booking.Ticket, error) {
	business, err := o.Business(ctx, slug)
	if err != nil {
		return nil, err
	}
	refunded, err := o.Bookings.RefundTicket(ctx, business.ID, id, wanted)
	if err == nil {
		o.changed(ctx, by, "refund tickets", slug, slog.String("tickets_id", id.String()), refundAttr(refunded.Payment))
	}
	return refunded, err
}
