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

// TransitionBooking changes the status of a booking. The argument `transition` is the name of the transition, for
// example "confirm". To cancel a booking, call [UseCases.CancelBooking] instead. Fault: not_found if there is no such
// booking, or if the principal is a member of the staff and the booking is with another member.
func (o *UseCases) TransitionBooking(ctx context.Context, by peers.Principal, slug string, id uuid.UUID,
	transition string) (*booking.Booking, error) {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	if self, _ := by.MembershipIn(business.ID); self.Role == access.Staff {
		served, err := o.Bookings.Booking(ctx, business.ID, id)
		if err != nil {
			return nil, err
		}
		if _, _, performs := served.PerformedBy(self.StaffID); !performs {
			return nil, fault.New(fault.NotFound, "Booking not found")
		}
	}
	moved, err := o.Bookings.Transition(ctx, business.ID, id, transition)
	if err == nil {
		o.LogChange(ctx, by, transition+" booking", slug, slog.String("booking_id", id.String()),
			slog.String("status", moved.Status))
	}
	return moved, err
}

// PreviewCancellation returns the effect that a cancellation of the booking would have now, with the refundable amount.
func (o *UseCases) PreviewCancellation(ctx context.Context, slug string, id uuid.UUID) (*booking.Cancellation, error) {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	return o.Bookings.Cancellation(ctx, business.ID, id)
}

// CancelBooking cancels a booking. The field `cancel.Refund` is the part of the online payment that CancelBooking
// refunds. The values "" and "policy" leave the amount to the cancellation policy. For any other value, the principal
// needs the permission to refund.
func (o *UseCases) CancelBooking(ctx context.Context, by peers.Principal, slug string, id uuid.UUID,
	cancel booking.Cancel) (*booking.Booking, error) {
	business, err := o.authorizeRefund(ctx, by, slug, cancel.Refund)
	if err != nil {
		return nil, err
	}
	cancelled, err := o.Bookings.Cancel(ctx, business.ID, id, cancel)
	if err == nil {
		o.LogChange(ctx, by, "cancel booking", slug, slog.String("booking_id", id.String()),
			slog.String("status", cancelled.Status), newRefundAttr(cancelled.Payment))
	}
	return cancelled, err
}

// RefundBooking refunds a booking that has ended or is cancelled.
func (o *UseCases) RefundBooking(ctx context.Context, by peers.Principal, slug string, id uuid.UUID,
	newRefund booking.NewRefund) (*booking.Booking, error) {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	refunded, err := o.Bookings.Refund(ctx, business.ID, id, newRefund)
	if err == nil {
		o.LogChange(ctx, by, "refund booking", slug, slog.String("booking_id", id.String()),
			newRefundAttr(refunded.Payment))
	}
	return refunded, err
}

// newRefundAttr returns the log attribute with the amount of the refund in `p`. The amount is 0 without a refund.
func newRefundAttr(p *booking.Payment) slog.Attr {
	if p == nil || p.Refund == nil {
		return slog.String("refund", "0")
	}
	return slog.String("refund", p.Refund.Amount.String())
}

// authorizeRefund returns the business for a cancellation. If `refund` has any other value than "" and "policy", the
// principal needs the permission to refund. Without this permission, authorizeRefund returns a fault with code
// forbidden.
func (o *UseCases) authorizeRefund(ctx context.Context, by peers.Principal, slug string,
	refund booking.RefundAmount) (*catalog.Snapshot, error) {
	business, err := o.FindBusiness(ctx, slug)
	if err == nil && !isByPolicy(refund) {
		err = by.Require(business.ID, access.Refund)
	}
	return business, err
}

func isByPolicy(refund booking.RefundAmount) bool {
	return refund == "" || refund == booking.RefundPolicy
}

// SellTickets sells tickets of an event. The field `order.Slug` is the slug of the business that sells the tickets.
func (o *UseCases) SellTickets(ctx context.Context, by peers.Principal, order booking.NewTicket) (*booking.Ticket,
	error) {
	business, err := o.FindBusiness(ctx, order.Slug)
	if err != nil {
		return nil, err
	}
	ticket, err := o.Bookings.SellTicket(ctx, business.ID, order)
	if err == nil {
		o.LogChange(ctx, by, "sell tickets", order.Slug, slog.String("tickets_id", ticket.ID.String()),
			slog.Int("quantity", ticket.Quantity))
	}
	return ticket, err
}

// PreviewTicketCancellation returns the effect that a cancellation of the ticket order would have now, with the
// refundable amount.
func (o *UseCases) PreviewTicketCancellation(ctx context.Context, slug string,
	id uuid.UUID) (*booking.Cancellation, error) {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	return o.Bookings.TicketCancellation(ctx, business.ID, id)
}

// CancelTickets cancels a ticket order, and refunds the payment by the rules of [UseCases.CancelBooking]. The business
// can sell the tickets again at once.
func (o *UseCases) CancelTickets(ctx context.Context, by peers.Principal, slug string, id uuid.UUID,
	cancel booking.Cancel) (*booking.Ticket, error) {
	business, err := o.authorizeRefund(ctx, by, slug, cancel.Refund)
	if err != nil {
		return nil, err
	}
	ticket, err := o.Bookings.CancelTicket(ctx, business.ID, id, cancel)
	if err == nil {
		o.LogChange(ctx, by, "cancel tickets", slug, slog.String("tickets_id", id.String()),
			newRefundAttr(ticket.Payment))
	}
	return ticket, err
}

// RefundTickets refunds a cancelled ticket order.
func (o *UseCases) RefundTickets(ctx context.Context, by peers.Principal, slug string, id uuid.UUID,
	newRefund booking.NewRefund) (*booking.Ticket, error) {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	ticket, err := o.Bookings.RefundTicket(ctx, business.ID, id, newRefund)
	if err == nil {
		o.LogChange(ctx, by, "refund tickets", slug, slog.String("tickets_id", id.String()),
			newRefundAttr(ticket.Payment))
	}
	return ticket, err
}
