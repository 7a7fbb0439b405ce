package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/request"
	"github.com/slotmesh/slotmesh/libs/server"
)

// newCalendar is the body that asks for a calendar feed.
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
	made, err := a.Owner.CreateCalendar(c.UserContext(), principal(c), wanted)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusCreated).JSON(made)
}

func (a *Admin) listCalendars(c *fiber.Ctx) error {
	page, err := server.Query(c).Page()
	if err != nil {
		return err
	}
	business, err := a.business(c)
	if err != nil {
		return err
	}
	list, err := a.Owner.Bookings.Calendars(c.UserContext(), business.ID, page)
	if err != nil {
		return err
	}
	return c.JSON(list)
}

func (a *Admin) revokeCalendar(c *fiber.Ctx) error {
	slug, id, err := idOf(c, "Calendar")
	if err != nil {
		return err
	}
	if err := a.Owner.RevokeCalendar(c.UserContext(), principal(c), slug, id); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}
