package api

import (
	"context"
	"errors"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// newLinkReader returns a function that returns the customer's link to a booking or an order of
// tickets. The services that send messages to customers call it. Fault of this function: not_found
// if the business does not have the booking or order.
func (in *Internal) newLinkReader(kind event.SubjectKind) func(context.Context,
	bookingclient.SaleID) (*link.Response, error) {
	return func(ctx context.Context, r bookingclient.SaleID) (*link.Response, error) {
		hash, err := in.records.LinkHash(ctx, r.Business, kind, r.ID)
		if errors.Is(err, store.ErrNotFound) {
			return nil, fault.Newf(fault.NotFound, "This business has no such %s.", kind)
		}
		if err != nil {
			return nil, err
		}
		return &link.Response{URL: in.links.URL(kind, r.ID, hash)}, nil
	}
}

// showNewOrder converts an order of tickets into the JSON form of the answer to a sale, with the customer's link.
func (in *Internal) showNewOrder(t store.Ticket) booking.Ticket {
	order := showTicket(t)
	order.ManageURL = in.links.URL(event.Ticket, t.ID, t.LinkHash)
	return order
}
