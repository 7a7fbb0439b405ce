package api

import (
	"log/slog"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/peer/booking"
)

var statuses = []string{
	booking.StatusPending, booking.StatusConfirmed, booking.StatusCompleted, booking.StatusNoShow, booking.StatusCancelled,
}

func (a *Admin) listBookings(c *fiber.Ctx) error {
	filter, err := filterOf(c)
	if err != nil {
		return err
	}
	limit, cursor, err := pageOf(c)
	if err != nil {
		return err
	}
	business, err := a.business(c)
	if err != nil {
		return err
	}
	list, err := a.Bookings.Bookings(c.UserContext(), business.ID, *filter, booking.Page{Limit: limit, Cursor: cursor})
	if err != nil {
		return err
	}
	return c.JSON(list)
}

func filterOf(c *fiber.Ctx) (*booking.Filter, error) {
	from, to, err := datesOf(c)
	if err != nil {
		return nil, err
	}
	status := c.Query("status")
	if status != "" && !slices.Contains(statuses, status) {
		return nil, invalid("status: write one of %s, or leave it out.", strings.Join(statuses, ", "))
	}
	return &booking.Filter{From: from, To: to, Status: status}, nil
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
