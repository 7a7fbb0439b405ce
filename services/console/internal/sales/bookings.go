package sales

import (
	"context"
	"log/slog"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

// TransitionBooking changes the status of a booking. The argument `transition` is the name of the transition, for
// example "confirm". To cancel a booking, call [Orders.Cancel] instead. Fault: not_found if there is no such
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
