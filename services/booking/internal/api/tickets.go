package api

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/sale"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
	"github.com/slotmesh/slotmesh/services/booking/internal/usecase"
)

func (in *Internal) sellTickets(ctx context.Context,
	r bookingclient.With[booking.NewTicket]) (*booking.Ticket, error) {
	return in.showOrder(in.tickets.Sell(ctx, actor.Of(ctx), r.At.Business, r.Body))
}

// answerRepeatedSale answers a repeated request to sell tickets with the order that the first request made.
func (in *Internal) answerRepeatedSale(ctx context.Context, r bookingclient.With[booking.NewTicket],
	answer []byte) (*booking.Ticket, error) {
	var order store.Ticket
	if err := json.Unmarshal(answer, &order); err != nil {
		return nil, err
	}
	return in.showOrder(in.tickets.AnswerRetry(ctx, actor.Of(ctx), r.At.Business, order))
}

func (in *Internal) showOrder(result usecase.Order, err error) (*booking.Ticket, error) {
	if err != nil {
		return nil, err
	}
	order := in.showNewOrder(result.Ticket)
	order.CheckoutURL = result.CheckoutURL
	return &order, nil
}

func decodeNewTicket(body []byte, r *bookingclient.With[booking.NewTicket]) error {
	var err error
	r.Body, err = parseNewTicket(body)
	return err
}

// parseNewTicket parses the body of a request to sell tickets. Fault: invalid_parameter.
func parseNewTicket(body []byte) (booking.NewTicket, error) {
	var wire struct {
		bookingclient.TicketOrder
		Slug          string `json:"slug"`
		PaymentChoice string `json:"payment_choice"`
	}
	if err := json.Unmarshal(body, &wire); err != nil {
		return booking.NewTicket{}, fault.Newf(fault.InvalidParameter,
			"The body must be {\"slug\", \"event_id\", \"tier_id\", \"quantity\", \"customer_name\"}, or \"tiers\" "+
				"of {\"tier_id\", \"quantity\"}, quantity a whole number and the rest text: %s.", describeJSONError(err))
	}
	order, err := wire.Read()
	order.Slug, order.PaymentChoice = wire.Slug, wire.PaymentChoice
	return order, err
}

func (in *Internal) listTickets(ctx context.Context, r bookingclient.TicketsRequest) (*booking.TicketList, error) {
	tickets, next, err := in.records.Tickets(ctx, r.Business, r.TicketFilter.TicketFilter, r.Page)
	if err != nil {
		return nil, err
	}
	return &booking.TicketList{Tickets: convertAll(tickets, showTicket), NextCursor: next}, nil
}

func (in *Internal) readTicket(ctx context.Context, r bookingclient.TicketID) (store.Ticket, error) {
	order, err := in.records.Ticket(ctx, r.Business, r.ID)
	if errors.Is(err, store.ErrNotFound) {
		return store.Ticket{}, fault.New(fault.NotFound, "This business has no such tickets.")
	}
	return order, err
}

func (in *Internal) countTicketsAhead(ctx context.Context,
	r bookingclient.AheadRequest) (*booking.AheadCount, error) {
	n, err := in.tickets.CountAhead(ctx, r.Business, r.Slug)
	return &booking.AheadCount{Count: n}, err
}

func (in *Internal) countSales(ctx context.Context,
	r bookingclient.With[booking.SalesRequest]) (*booking.Sales, error) {
	events, err := in.records.Sales(ctx, r.At.Business, r.Body.EventIDs)
	return &booking.Sales{Events: events}, err
}

func decodeSales(body []byte, r *bookingclient.With[booking.SalesRequest]) error {
	if err := json.Unmarshal(body, &r.Body); err != nil || len(r.Body.EventIDs) > booking.MaxSalesEvents {
		return fault.Newf(fault.InvalidParameter, "event_ids: send at most %d UUIDs of events.", booking.MaxSalesEvents)
	}
	return nil
}

func (in *Internal) previewTicketCancellation(ctx context.Context,
	r bookingclient.TicketID) (*booking.Cancellation, error) {
	preview, err := in.cancellations.Tickets.Preview(ctx, r.Business, r.ID)
	if err != nil {
		return nil, err
	}
	return new(preview.Render()), nil
}

func (in *Internal) cancelTickets(ctx context.Context,
	r bookingclient.TicketChange[booking.Cancel]) (store.Ticket, error) {
	ctx, err := sale.WithReason(ctx, r.Body.Reason)
	if err != nil {
		return store.Ticket{}, err
	}
	return in.cancellations.Tickets.Cancel(ctx, actor.Of(ctx), r.At.Business, r.At.ID, r.Body.Refund)
}

func (in *Internal) refundTickets(ctx context.Context,
	r bookingclient.TicketChange[booking.NewRefund]) (store.Ticket, error) {
	return in.cancellations.Tickets.Refund(ctx, actor.Of(ctx), r.At.Business, r.At.ID, r.Body.Refund)
}
