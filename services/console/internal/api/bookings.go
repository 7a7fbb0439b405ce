package api

import (
	"log/slog"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/server"
)

func (a *Admin) listBookings(c *fiber.Ctx) error {
	filter, err := filterOf(c)
	if err != nil {
		return err
	}
	page, err := server.Query(c).Page()
	if err != nil {
		return err
	}
	business, err := a.business(c)
	if err != nil {
		return err
	}
	list, err := a.Bookings.Bookings(c.UserContext(), business.ID, *filter, page)
	if err != nil {
		return err
	}
	return c.JSON(list)
}

func filterOf(c *fiber.Ctx) (*booking.Filter, error) {
	from, to, err := server.Query(c).OptionalDates("from", "to")
	if err != nil {
		return nil, err
	}
	return &booking.Filter{From: from, To: to, Status: c.Query("status")}, nil
}

// move returns the handler of one of the moves that an owner can make.
func (a *Admin) move(move string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		id, err := idOf(c, "Booking")
		if err != nil {
			return err
		}
		business, err := a.business(c)
		if err != nil {
			return err
		}
		moved, err := a.Bookings.Move(c.UserContext(), business.ID, id, move)
		if err != nil {
			return err
		}
		a.changed(c, move+" booking", business.Slug,
			slog.String("booking_id", id.String()), slog.String("status", moved.Status))
		return c.JSON(moved)
	}
}
