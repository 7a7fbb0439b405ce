package consoletest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// sellTickets sells tickets of any event. It refuses an order of more than ten tickets.
func (s *Booking) sellTickets(r *http.Request) (*reply, error) {
	var order booking.NewTicket
	if err := json.NewDecoder(r.Body).Decode(&order); err != nil {
		return nil, err
	}
	tiers := []booking.SoldTier{{TierID: order.TierID, TierName: "VIP", Quantity: order.Quantity}}
	if len(order.Tiers) > 0 {
		tiers, order.Quantity = nil, 0
	}
	for _, t := range order.Tiers {
		tiers = append(tiers, booking.SoldTier{TierID: t.TierID, TierName: "VIP", Quantity: t.Quantity})
		order.Quantity += t.Quantity
	}
	if order.Quantity < 1 {
		return nil, fault.New(fault.InvalidParameter, "quantity: send a whole number from 1 on.")
	}
	if order.Quantity > 10 {
		return nil, fault.New(fault.Conflict, "Sold out: 10 tickets are left.")
	}
	ticket := booking.Ticket{
		ID: uuid.New(), Status: booking.StatusSold, EventID: order.EventID, EventName: "Gala of " + order.Slug,
		TierID: order.TierID, TierName: "VIP", Currency: "EUR",
		Tiers: tiers, Date: "2026-12-31", StartTime: "20:00:00", Quantity: order.Quantity,
		CustomerName:  order.CustomerName,
		CustomerEmail: order.CustomerEmail, CustomerPhone: order.CustomerPhone, FormData: decodeForm(order.FormData),
		Locale: order.Locale, CreatedAt: Epoch,
	}
	if s.tickets == nil {
		s.tickets = map[string][]booking.Ticket{}
	}
	business := r.PathValue("business")
	s.tickets[business] = append(s.tickets[business], ticket)
	return &reply{status: http.StatusCreated, value: ticket}, nil
}

// listSales returns the number of sold tickets for each event that the request names.
func (s *Booking) listSales(r *http.Request) (*reply, error) {
	var salesRequest booking.SalesRequest
	if err := json.NewDecoder(r.Body).Decode(&salesRequest); err != nil {
		return nil, err
	}
	answer := booking.Sales{Events: []booking.EventSales{}}
	for _, id := range salesRequest.EventIDs {
		of := booking.EventSales{EventID: id}
		tiers := map[uuid.UUID]int{}
		for _, t := range s.tickets[r.PathValue("business")] {
			if t.EventID == id && t.CancelledAt == nil {
				of.Sold += t.Quantity
				tiers[t.TierID] += t.Quantity
			}
		}
		for tier, sold := range tiers {
			of.Tiers = append(of.Tiers, booking.TierSales{TierID: tier, Sold: sold})
		}
		answer.Events = append(answer.Events, of)
	}
	return newReply(answer)
}

func (s *Booking) listTickets(r *http.Request) (*reply, error) {
	event, query := r.URL.Query().Get("event_id"), r.URL.Query().Get("query")
	var found []booking.Ticket
	for _, t := range s.tickets[r.PathValue("business")] {
		if (event == "" || t.EventID.String() == event) && strings.Contains(t.CustomerName, query) &&
			hasPayment(t.Payment, r.URL.Query().Get("payment")) {
			found = append(found, t)
		}
	}
	entries, next := cutPage(r, found)
	return newReply(booking.TicketList{Tickets: entries, NextCursor: next})
}

func (s *Booking) listTicketsAhead(r *http.Request) (*reply, error) {
	ahead := 0
	for _, t := range s.tickets[r.PathValue("business")] {
		if t.Status == booking.StatusSold {
			ahead += t.Quantity
		}
	}
	return newReply(booking.AheadCount{Count: ahead})
}

func (s *Booking) findOrder(r *http.Request) (*booking.Ticket, error) {
	tickets := s.tickets[r.PathValue("business")]
	i := slices.IndexFunc(tickets, func(t booking.Ticket) bool { return t.ID.String() == r.PathValue("id") })
	if i < 0 {
		return nil, fault.New(fault.NotFound, "Tickets not found")
	}
	return &tickets[i], nil
}

func (s *Booking) showTickets(r *http.Request) (*reply, error) {
	order, err := s.findOrder(r)
	if err != nil {
		return nil, err
	}
	return newReply(order)
}

func (s *Booking) previewTicketCancellation(r *http.Request) (*reply, error) {
	order, err := s.findOrder(r)
	if err != nil {
		return nil, err
	}
	return newReply(booking.Cancellation{
		Allowed: order.Status == booking.StatusSold, Refund: booking.CancellationRefund{Amount: "60.00", Percent: 50,
			Currency: order.Currency},
	})
}

func (s *Booking) cancelTickets(r *http.Request) (*reply, error) {
	order, err := s.findOrder(r)
	if err != nil {
		return nil, err
	}
	if order.Status != booking.StatusSold {
		return nil, fault.New(fault.Conflict, "The tickets are cancelled already.")
	}
	at := Epoch
	order.Status, order.CancelledAt = booking.StatusCancelled, &at
	return refundTicket(r, order, "60.00")
}

func (s *Booking) refundTickets(r *http.Request) (*reply, error) {
	order, err := s.findOrder(r)
	if err != nil {
		return nil, err
	}
	if order.Status == booking.StatusSold {
		return nil, fault.New(fault.Conflict, "The order of tickets is sold; cancel it, which refunds it.")
	}
	return refundTicket(r, order, "120.00")
}

// refundTicket gives an order an online payment of 120.00, and refunds this payment as the request asks. The argument
// `defaultAmount` is the refund if the request names no amount.
func refundTicket(r *http.Request, order *booking.Ticket, defaultAmount json.Number) (*reply, error) {
	order.Payment = &booking.Payment{Provider: "stripe", Status: booking.PaymentPaid, Amount: "120.00",
		Refunded: "0.00"}
	var err error
	order.Payment.Refund, err = parseRefund(r, order.Payment.Amount, defaultAmount)
	if err != nil {
		return nil, err
	}
	return newReply(*order)
}

// decodeForm returns the customer's answers (form_data) as the booking service stores them. If the request has no
// answers, the result is {}.
func decodeForm(sent json.RawMessage) json.RawMessage {
	if len(sent) == 0 {
		return json.RawMessage("{}")
	}
	return sent
}
