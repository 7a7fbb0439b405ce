package api

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/availability/internal/slot"
)

// computeAgenda returns the times at which staff members work, are occupied and are free.
// The calendar of the owner and the lists of classes show this agenda. If the occupied time
// cannot be read, the field "computed" of the agenda is false, and the agenda contains only the
// data of the offer.
func (p *Public) computeAgenda(ctx context.Context, req availability.AgendaRequest) (*availability.Agenda, error) {
	if err := req.Check(); err != nil {
		return nil, err
	}
	offer, err := p.offers.AtLeast(ctx, req.Slug, req.OfferVersion)
	if err != nil {
		return nil, err
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
		return nil, err
	}
	defer leave()
	found := slot.NewAgenda(offer, req.From, req.To, occupied)
	if unknown != nil {
		found.Computed = false
		for i := range found.Members {
			found.Members[i].Free = []timespan.Span{}
		}
	}
	return found, nil
}
