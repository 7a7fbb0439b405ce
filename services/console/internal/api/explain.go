package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
)

func (a *Admin) explain(c *fiber.Ctx) error {
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	start, err := readStart(server.Query(c))
	if err != nil {
		return err
	}
	explanation, err := a.Rooms.Sales.Explain(c.UserContext(), slug, start)
	if err != nil {
		return err
	}
	return c.JSON(explanation)
}

// readStart reads from the query the start that the request asks about: services, date, time and member. The parameters
// have the same form as the parameters of GET /slots and POST /book.
func readStart(query request.Query) (availability.Question, error) {
	var q availability.Question
	var err error
	if q.ServiceIDs, err = query.IDs("service_id", "a service"); err != nil {
		return q, err
	}
	if q.Date, err = query.Date("date"); err != nil {
		return q, err
	}
	at, err := query.Required("time", "HH:MM, such as 10:15")
	if err != nil {
		return q, err
	}
	if q.Time, err = request.Time("time", at); err != nil {
		return q, err
	}
	q.StaffID, err = query.OptionalID("staff_id")
	return q, err
}
