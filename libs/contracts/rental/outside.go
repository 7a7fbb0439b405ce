package rental

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
)

// MaxHeld bounds the reservations that [Client.Outside] checks, the earliest first.
const MaxHeld = 10_000

// OutsideRequest requests the reservations that would violate an offer that is not published yet.
type OutsideRequest struct {
	OfferVersion int64         `json:"offer_version"` // the published offer's, to compare with, or a newer one
	Offer        catalog.Offer `json:"offer"`         // the offer that would be published
}

// OutsideResponse lists the reservations that would violate the offer, by start.
type OutsideResponse struct {
	Outside []Outside `json:"outside"`
	// More reports that there are more than MaxHeld reservations. The later ones were not checked.
	More bool `json:"more"`
}

// Outside is a reservation that could not be fulfilled under the new offer.
type Outside struct {
	Reservation Reservation         `json:"reservation"`
	Reason      availability.Reason `json:"reason"` // removed, inactive or too_few
	// Already reports that the reservation violates the published offer, too, so that the change is not the cause.
	Already bool `json:"already"`
}

// Outside returns the reservations that would violate an offer that is not published yet. Faults: invalid_parameter.
func (c *Client) Outside(ctx context.Context, slug string, request OutsideRequest) (*OutsideResponse, error) {
	return FindOutside.Call(ctx, c.peer, endpoints.Request(OfSlug{Slug: slug}, request))
}
