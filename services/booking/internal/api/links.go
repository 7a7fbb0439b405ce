package api

import (
	"errors"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// serveLink returns a handler that answers with the customer's link to a booking
// or an order of tickets. The services that send messages to customers call this
// handler. Fault: not_found if the business does not have the booking or order.
func (in *Internal) serveLink(kind event.SubjectKind) fiber.Handler {
	return func(c *fiber.Ctx) error {
		businessID, err := parsePathID(c, "business")
		if err != nil {
			return err
		}
		id, err := parsePathID(c, "id")
		if err != nil {
			return err
		}
		hash, err := in.records.LinkHash(c.UserContext(), businessID, kind, id)
		if errors.Is(err, store.ErrNotFound) {
			return fault.Newf(fault.NotFound, "This business has no such %s.", kind)
		}
		if err != nil {
			return err
		}
		c.Set(fiber.HeaderCacheControl, "no-store")
		return c.JSON(link.Response{URL: in.links.URL(kind, id, hash)})
	}
}

// showNewOrder converts an order of tickets into the JSON form of the answer to a sale, with the customer's link.
func (in *Internal) showNewOrder(t store.Ticket) booking.Ticket {
	order := showTicket(t)
	order.ManageURL = in.links.URL(event.Ticket, t.ID, t.LinkHash)
	return order
}
