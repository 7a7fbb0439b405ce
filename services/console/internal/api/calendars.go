package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
)

// newCalendar is the body of a request that creates a calendar feed.
type newCalendar struct {
	StaffID *string `json:"staff_id"`
	Shows   string  `json:"shows"`
}

func (a *Admin) createCalendar(c *fiber.Ctx) error {
	var body newCalendar
	if err := decode(c, &body); err != nil {
		return err
	}
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	wanted := booking.NewCalendar{Slug: slug, Shows: body.Shows}
	if body.StaffID != nil {
		id, err := request.ID("staff_id", *body.StaffID)
		if err != nil {
			return err
		}
		wanted.StaffID = &id
	}
	calendar, err := a.Rooms.Integrations.CreateCalendar(c.UserContext(), principal(c), wanted)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusCreated).JSON(calendar)
}
