package api

import (
	"context"
	"log/slog"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/peer/rental"
	"github.com/slotmesh/slotmesh/libs/request"
	"github.com/slotmesh/slotmesh/libs/server"
)

// Reservations keeps rental reservations; *rental.Client is the one outside tests. Errors are faults,
// business_not_found among them.
type Reservations interface {
	Reserve(ctx context.Context, slug string, reservation rental.NewReservation) (*rental.Reservation, error)
	Reservations(ctx context.Context, slug string, filter rental.Filter, page request.Page) (*rental.ReservationList, error)
	Ahead(ctx context.Context, slug string) (int, error)
	Move(ctx context.Context, slug string, id uuid.UUID, move string) (*rental.Reservation, error)
}

var _ Reservations = (*rental.Client)(nil)

func (a *Admin) mountReservations(business fiber.Router) {
	business.Post("/reservations", a.reserve)
	business.Get("/reservations", a.listReservations)
	for _, move := range []string{rental.MovePickup, rental.MoveReturn, rental.MoveCancel} {
		business.Post("/reservations/:id/"+move, a.moveReservation(move))
	}
}

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
	made, err := a.Rentals.Reserve(c.UserContext(), slug, wanted)
	if err != nil {
		return err
	}
	a.changed(c, "create reservation", slug, slog.String("reservation_id", made.ID.String()))
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.Status(fiber.StatusCreated).JSON(made)
}

func (a *Admin) listReservations(c *fiber.Ctx) error {
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	from, to, err := server.Query(c).OptionalDates("from", "to")
	if err != nil {
		return err
	}
	page, err := server.Query(c).Page()
	if err != nil {
		return err
	}
	list, err := a.Rentals.Reservations(c.UserContext(), slug,
		rental.Filter{From: from, To: to}, page)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(list)
}

// moveReservation returns the handler of one of the moves that an owner can make.
func (a *Admin) moveReservation(move string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		slug, err := server.Slug(c)
		if err != nil {
			return err
		}
		id, err := idOf(c, "Reservation")
		if err != nil {
			return err
		}
		moved, err := a.Rentals.Move(c.UserContext(), slug, id, move)
		if err != nil {
			return err
		}
		a.changed(c, move+" reservation", slug,
			slog.String("reservation_id", id.String()), slog.String("status", moved.Status))
		c.Set(fiber.HeaderCacheControl, "no-store")
		return c.JSON(moved)
	}
}
