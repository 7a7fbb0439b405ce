package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/peer/rental"
	"github.com/slotmesh/slotmesh/libs/server"
)

// reserve hands the reservation on as it is written: rental reads its fields and says what is wrong with them.
func (a *Admin) reserve(c *fiber.Ctx) error {
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	var wanted rental.NewReservation
	if err := decode(c, &wanted); err != nil {
		return err
	}
	made, err := a.Owner.Reserve(c.UserContext(), principal(c), slug, wanted)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusCreated).JSON(made)
}

func (a *Admin) listReservations(c *fiber.Ctx) error {
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	query := server.Query(c)
	from, to, err := query.OptionalDates("from", "to")
	if err != nil {
		return err
	}
	page, err := query.Page()
	if err != nil {
		return err
	}
	list, err := a.Owner.Rentals.Reservations(c.UserContext(), slug, rental.Filter{From: from, To: to}, page)
	if err != nil {
		return err
	}
	return c.JSON(list)
}

// moveReservation returns the handler of one of the moves that an owner can make.
func (a *Admin) moveReservation(move string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		slug, id, err := idOf(c, "Reservation")
		if err != nil {
			return err
		}
		moved, err := a.Owner.MoveReservation(c.UserContext(), principal(c), slug, id, move)
		if err != nil {
			return err
		}
		return c.JSON(moved)
	}
}
