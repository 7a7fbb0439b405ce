package api

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/availability/internal/slot"
)

// outside answers which future bookings would conflict with an offer that is not published yet (docs/decisions/008).
func (p *Public) outside(c *fiber.Ctx) error {
	var asked availability.OutsideRequest
	if err := server.JSON(c, &asked); err != nil {
		return err
	}
	if err := asked.Check(); err != nil {
		return err
	}
	if err := asked.Offer.Prepare(); err != nil {
		return fault.Wrap(fault.InvalidParameter, err, "offer: its time zone or currency is not known here.")
	}
	published, err := p.offers.AtLeast(c.UserContext(), asked.Slug, asked.OfferVersion)
	if err != nil {
		return err
	}
	leave, err := p.places.Enter(c.UserContext(), asked.Slug)
	if err != nil {
		return err
	}
	defer leave()
	answer, err := outsideOf(c.UserContext(), published, &asked)
	if err != nil {
		return err
	}
	return c.JSON(answer)
}

// outsideOf checks each booking of the request against the unpublished offer. It stops when the request ends.
func outsideOf(ctx context.Context, published *catalog.Offer,
	asked *availability.OutsideRequest) (*availability.OutsideResponse, error) {
	answer := &availability.OutsideResponse{Outside: []availability.Outside{}}
	wanted, now := slot.NewOutside(&asked.Offer, asked.Held), slot.NewOutside(published, asked.Held)
	for i := range asked.Held {
		if ctx.Err() != nil {
			return nil, fault.Wrap(fault.PeerUnavailable, context.Cause(ctx),
				"The bookings could not be compared in time; try again shortly.")
		}
		h := &asked.Held[i]
		reason := wanted.Reason(h)
		if reason == nil {
			continue
		}
		if reason.StaffID != nil && reason.StaffName == "" {
			reason.StaffName = nameOf(&asked.Offer, h, reason)
		}
		reason.Explain()
		answer.Outside = append(answer.Outside, availability.Outside{Index: i, Reason: *reason,
			Already: now.Reason(h) != nil})
	}
	return answer, nil
}

// nameOf returns the name of the member that a reason names. If the offer
// no longer has the member, it returns the name that the booking contains.
func nameOf(offer *catalog.Offer, h *availability.Held, r *availability.Reason) string {
	if m := offer.StaffMember(*r.StaffID); m != nil {
		return m.Name
	}
	return h.StaffName
}
