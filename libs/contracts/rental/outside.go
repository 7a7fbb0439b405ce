package rental

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
)

// MaxHeld is the maximal number of reservations that [Client.Outside] checks.
// If there are more reservations, Outside checks those with the earliest starts.
const MaxHeld = 10_000

// OutsideRequest asks which reservations could not be fulfilled under an offer that is not published yet.
type OutsideRequest struct {
	OfferVersion int64            `json:"offer_version"` // version of the published offer to compare with, or a newer one
	Offer        catalog.Snapshot `json:"offer"`         // the offer that is not published yet
}

// OutsideResponse lists the reservations that could not be fulfilled under the new offer, in the order of their starts.
type OutsideResponse struct {
	Outside []Outside `json:"outside"`
	// More reports that there are more than MaxHeld reservations. The later ones were not checked.
	More bool `json:"more"`
}

// Outside is one of the reservations that could not be fulfilled under the new offer.
type Outside struct {
	Reservation Reservation         `json:"reservation"`
	Reason      availability.Reason `json:"reason"` // its field Rule is "removed", "inactive" or "too_few"
	// Already reports that the reservation could not be fulfilled under
	// the published offer either. The new offer is then not the cause.
	Already bool `json:"already"`
}

// Outside returns the reservations that could not be fulfilled under
// an offer that is not published yet. Faults: invalid_parameter.
func (c *Client) Outside(ctx context.Context, slug string, request OutsideRequest) (*OutsideResponse, error) {
	return FindOutside.Call(ctx, c.peer, endpoints.Request(OfSlug{Slug: slug}, request))
}
