package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/server"
)

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
	status, err := query.Text("status")
	if err != nil {
		return err
	}
	payment, err := bookingclient.ReadPayment(query)
	if err != nil {
		return err
	}
	page, err := query.Page()
	if err != nil {
		return err
	}
	filter := rental.Filter{From: from, To: to, Status: status, Payment: payment}
	list, err := a.Rooms.Sales.ListReservations(c.UserContext(), principal(c), slug, filter, page)
	if err != nil {
		return err
	}
	return c.JSON(list)
}
