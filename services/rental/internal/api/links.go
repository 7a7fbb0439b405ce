package api

import (
	"errors"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
)

// linkTo answers with the customer's link to a reservation, for messages to the customer. Unlike the
// other paths, this one has the id of the business instead of its slug, because events contain the id.
func (in *Internal) linkTo(c *fiber.Ctx) error {
	businessID, err := request.ID("business", c.Params("slug"))
	if err != nil {
		return err
	}
	id, err := reservationID(c)
	if err != nil {
		return err
	}
	kept, err := in.records.LinkHash(c.UserContext(), businessID, id)
	if errors.Is(err, store.ErrNotFound) {
		return errNoReservation()
	}
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(link.Shown{URL: in.links.URL(event.Reservation, id, kept)})
}
