package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/availability/internal/slot"
)

// serveAgenda responds with the times at which staff members work, are occupied and are free.
// The calendar of the owner and the lists of classes show this response. If the occupied time
// cannot be read, the field "computed" of the response is false, and the response contains only the
// data of the offer.
func (p *Public) serveAgenda(c *fiber.Ctx) error {
	var req availability.AgendaRequest
	if err := server.JSON(c, &req); err != nil {
		return err
	}
	if err := req.Check(); err != nil {
		return err
	}
	ctx := c.UserContext()
	offer, err := p.offers.AtLeast(ctx, req.Slug, req.OfferVersion)
	if err != nil {
		return err
	}
	bounded, cancel := p.withReadTimeout(ctx)
	defer cancel()
	occupied, unknown := readOccupied(bounded, p.occupied, offer.ID, slot.AgendaReach(offer, req.From, req.To),
		booking.OccupiedQuery{Seats: true})
	if unknown != nil {
		p.recordDegraded(ctx, "occupied time", unknown)
		occupied = booking.Occupied{}
	}
	leave, err := p.places.Enter(ctx, req.Slug)
	if err != nil {
		return err
	}
	defer leave()
	found := slot.NewAgenda(offer, req.From, req.To, occupied)
	if unknown != nil {
		found.Computed = false
		for i := range found.Members {
			found.Members[i].Free = []timespan.Span{}
		}
	}
	return c.JSON(found)
}
