package rental

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/peer/availability"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/peer/typed"
)

// MaxHeld bounds the reservations that [Client.Outside] looks at, the nearest first.
const MaxHeld = 10_000

// OutsideRequest asks which reservations could not be held under an offer that is not published yet.
type OutsideRequest struct {
	OfferVersion int64         `json:"offer_version"` // of the published offer that it is compared with, or a newer one
	Offer        catalog.Offer `json:"offer"`         // that would be published
}

// OutsideResponse lists the reservations that would be outside, by start.
type OutsideResponse struct {
	Outside []Outside `json:"outside"`
	// More says that there are more reservations than MaxHeld, of which the later were not looked at.
	More bool `json:"more"`
}

// Outside is a reservation that could not be held.
type Outside struct {
	Reservation Reservation         `json:"reservation"`
	Reason      availability.Reason `json:"reason"` // removed, inactive or too_few
	// Already says that it is outside the published offer, too: what is changed is not to blame.
	Already bool `json:"already"`
}

// Outside asks which reservations an offer that is not published yet would leave outside. Faults: invalid_parameter.
func (c *Client) Outside(ctx context.Context, slug string, request OutsideRequest) (*OutsideResponse, error) {
	return typed.Ask[OutsideResponse](ctx, c.peer, path(slug, "reservations/outside"), &request)
}
