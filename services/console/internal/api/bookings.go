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

// moveBooking returns the handler of one of the moves that an owner can make.
func (a *Admin) moveBooking(move string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		slug, id, err := idOf(c, "Booking")
		if err != nil {
			return err
		}
		moved, err := a.Owner.MoveBooking(c.UserContext(), principal(c), slug, id, move)
		if err != nil {
			return err
		}
		return c.JSON(moved)
	}
}
