package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/server"
)

func (a *Admin) listBookings(c *fiber.Ctx) error {
	query := server.Query(c)
	from, to, err := query.OptionalDates("from", "to")
	if err != nil {
		return err
	}
	page, err := query.Page()
	if err != nil {
		return err
	}
	business, err := a.business(c)
	if err != nil {
		return err
	}
	filter := booking.Filter{From: from, To: to, Status: c.Query("status")}
	list, err := a.Owner.Bookings.Bookings(c.UserContext(), business.ID, filter, page)
	if err != nil {
		return err
	}
	return c.JSON(list)
}
