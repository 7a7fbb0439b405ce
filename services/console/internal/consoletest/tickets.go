package consoletest

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
)

// sellTickets sells at most ten tickets at once, of any event.
func (s *Booking) sellTickets(r *http.Request) (*reply, error) {
	var order booking.NewTicket
	if err := json.NewDecoder(r.Body).Decode(&order); err != nil {
		return nil, err
	}
	if order.Quantity < 1 {
		return nil, fault.New(fault.InvalidParameter, "quantity: send a whole number from 1 on.")
	}
	if order.Quantity > 10 {
		return nil, fault.New(fault.Conflict, "Sold out: 10 tickets are left.")
	}
	sold := booking.Ticket{
		ID: uuid.New(), Status: booking.StatusSold, EventID: order.EventID, EventName: "Gala of " + order.Slug, TierID: order.TierID, TierName: "VIP", Currency: "EUR",
		Tiers: []booking.SoldTier{{TierID: order.TierID, TierName: "VIP", Quantity: order.Quantity}},
		Date:  "2026-12-31", StartTime: "20:00:00", Quantity: order.Quantity, CustomerName: order.CustomerName,
		CustomerEmail: order.CustomerEmail, Locale: order.Locale, CreatedAt: Epoch,
	}
	if s.tickets == nil {
		s.tickets = map[string][]booking.Ticket{}
	}
	business := r.PathValue("business")
	s.tickets[business] = append(s.tickets[business], sold)
	return &reply{status: http.StatusCreated, value: sold}, nil
}

func (s *Booking) listTickets(r *http.Request) (*reply, error) {
	event := r.URL.Query().Get("event_id")
	var found []booking.Ticket
	for _, t := range s.tickets[r.PathValue("business")] {
		if event == "" || t.EventID.String() == event {
			found = append(found, t)
		}
	}
	entries, next := page(r, found)
	return ok(booking.TicketList{Tickets: entries, NextCursor: next})
}

func (s *Booking) ticketsAhead(r *http.Request) (*reply, error) {
	ahead := 0
	for _, t := range s.tickets[r.PathValue("business")] {
		if t.Status == booking.StatusSold {
			ahead += t.Quantity
		}
	}
	return ok(booking.AheadCount{Count: ahead})
}

func (s *Booking) order(r *http.Request) (*booking.Ticket, error) {
	tickets := s.tickets[r.PathValue("business")]
	i := slices.IndexFunc(tickets, func(t booking.Ticket) bool { return t.ID.String() == r.PathValue("id") })
	if i < 0 {
		return nil, fault.New(fault.NotFound, "Tickets not found")
	}
	return &tickets[i], nil
}

func (s *Booking) ticketCancellation(r *http.Request) (*reply, error) {
	order, err := s.order(r)
	if err != nil {
		return nil, err
	}
	return ok(booking.Cancellation{
		Allowed: order.Status == booking.StatusSold, Refund: booking.CancellationRefund{Amount: "60.00", Percent: 50, Currency: order.Currency},
	})
}

func (s *Booking) cancelTickets(r *http.Request) (*reply, error) {
	order, err := s.order(r)
	if err != nil {
		return nil, err
	}
	if order.Status != booking.StatusSold {
		return nil, fault.New(fault.Conflict, "The tickets are cancelled already.")
	}
	at := Epoch
	order.Status, order.CancelledAt = booking.StatusCancelled, &at
	return ok(*order)
}

func (s *Booking) refundTickets(r *http.Request) (*reply, error) {
	order, err := s.order(r)
	if err != nil {
		return nil, err
	}
	if order.Status == booking.StatusSold {
		return nil, fault.New(fault.Conflict, "The order of tickets is sold; cancel it, which refunds it.")
	}
	return ok(*order)
}
