package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/rental/internal/usecase"
)

// starts answers with the times of a date at which a reservation of a customer can begin.
// If data cannot be read, the answer has computed false, as in the public calendars.
func (p *Public) starts(c *fiber.Ctx) error {
	asked, err := parseStarts(server.Query(c))
	if err != nil {
		return err
	}
	found, err := usecase.Starts(c.UserContext(), p.offers, p.records, p.clock, c.Params("slug"), asked)
	switch {
	case fault.Is(err, fault.BusinessNotFound), fault.Is(err, fault.RentalNotFound),
		fault.Is(err, fault.InvalidParameter):
		return err
	case err != nil:
		p.note(c.UserContext(), "starts", err)
		return send(c, rental.Starts{Starts: []rental.Start{}})
	}
	answer := rental.Starts{Computed: true, Starts: make([]rental.Start, len(found))}
	for i, s := range found {
		answer.Starts[i] = rental.Start{Time: s.Time, Shortest: s.Shortest, Longest: s.Longest}
	}
	return send(c, answer)
}

// parseStarts reads the parameters. Fault: invalid_parameter, which names the parameter.
func parseStarts(get request.Query) (usecase.Request, error) {
	var asked usecase.Request
	id, err := get.Required("rental_id", "a rental's id")
	if err != nil {
		return asked, err
	}
	if asked.RentalID, err = request.ID("rental_id", id); err != nil {
		return asked, err
	}
	if asked.Dates.From, err = get.Date("date"); err != nil {
		return asked, err
	}
	asked.Dates.To = asked.Dates.From
	if asked.Quantity, err = get.OptionalNumber("quantity", maxQuantity, 1); err != nil {
		return asked, err
	}
	extras := get("extra_id")
	if len(extras) > rental.MaxExtras {
		return asked, request.TooMany("extra_id", rental.MaxExtras)
	}
	for _, text := range extras {
		extra, err := request.ID("extra_id", text)
		if err != nil {
			return asked, err
		}
		asked.Extras = append(asked.Extras, usecase.Extra{RentalID: extra, Quantity: asked.Quantity})
	}
	return asked, nil
}
