package api

import (
	"errors"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/event"
	"github.com/slotmesh/slotmesh/libs/link"
	"github.com/slotmesh/slotmesh/libs/request"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
)

// linkTo answers with the customer's link to a reservation, for whoever writes to them. Unlike the other paths of a business it names
// it by its id, as who follows events knows it.
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
