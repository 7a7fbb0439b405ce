package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/availability/internal/slot"
)

// serveNoStarts responds, for each date of a window, with the rule that leaves no bookable start time.
// It computes without bookings. If start times remain then, bookings are the cause, and the rule is
// [availability.RuleBooking]. Faults: the faults of the calendars and of catalog.
func (p *Public) serveNoStarts(c *fiber.Ctx) error {
	q, err := parseDates(server.Query(c))
	if err != nil {
		return err
	}
	offer, err := p.offers.Get(c.UserContext(), c.Params("slug"))
	if err != nil {
		return err
	}
	services, err := offer.Appointment(q.Services, q.Variants)
	if err != nil {
		return err
	}
	locationID, err := q.chooseLocation(offer, services)
	if err != nil {
		return err
	}
	leave, err := p.places.Enter(c.UserContext(), c.Params("slug"))
	if err != nil {
		return err
	}
	defer leave()
	answer := availability.NoStarts{Rules: map[timespan.Date]string{}}
	question := slot.Question{
		Services: services, StaffID: q.StaffID, LocationID: locationID, From: q.From, To: q.To, Now: p.clock.Now(), IsPackage: q.IsPackage,
		IsPerService: q.IsPerService,
	}
	slot.ExplainNoStarts(offer, question, func(d timespan.Date, rule string) { answer.Rules[d] = rule })
	return c.JSON(answer)
}
