package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/server"
)

// book hands the booking on as it is written: the booking service reads its fields and says what is wrong with them.
func (a *Admin) book(c *fiber.Ctx) error {
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	var wanted booking.NewBooking
	if err := decode(c, &wanted); err != nil {
		return err
	}
	booked, err := a.Owner.Book(c.UserContext(), principal(c), slug, wanted)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusCreated).JSON(booked)
}

// reschedule hands on where a booking is to be moved.
func (a *Admin) reschedule(c *fiber.Ctx) error {
	slug, id, err := idOf(c, "Booking")
	if err != nil {
		return err
	}
	var to booking.Reschedule
	if err := decode(c, &to); err != nil {
		return err
	}
	moved, err := a.Owner.Reschedule(c.UserContext(), principal(c), slug, id, to)
	if err != nil {
		return err
	}
	return c.JSON(moved)
}
