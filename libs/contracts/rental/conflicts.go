package rental

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
)

// MaxCheckedReservations is the maximal number of reservations that [Client.FindConflicts] checks.
// If there are more reservations, FindConflicts checks those with the earliest starts.
const MaxCheckedReservations = 10_000

// ConflictsRequest asks which reservations could not be fulfilled under an offer that is not published yet.
type ConflictsRequest struct {
	// version of the published offer to compare with, or a newer one
	OfferVersion int64            `json:"offer_version"`
	Offer        catalog.Snapshot `json:"offer"` // the offer that is not published yet
}

// ConflictsResponse lists the reservations that could not be fulfilled under the new offer, in the order of their
// starts.
type ConflictsResponse struct {
	Conflicts []Conflict `json:"outside"`
	// More reports that there are more reservations than MaxCheckedReservations. The later ones were not checked.
	More bool `json:"more"`
}

// Conflict is one of the reservations that could not be fulfilled under the new offer.
type Conflict struct {
	Reservation Reservation         `json:"reservation"`
	Reason      availability.Reason `json:"reason"` // its field Rule is "removed", "inactive" or "too_few"
	// Already reports that the reservation could not be fulfilled under
	// the published offer either. The new offer is then not the cause.
	Already bool `json:"already"`
}

// FindConflicts returns the reservations that could not be fulfilled under
// an offer that is not published yet. Faults: invalid_parameter.
func (c *Client) FindConflicts(ctx context.Context, slug string, request ConflictsRequest) (*ConflictsResponse, error) {
	return FindConflicts.Call(ctx, c.peer, endpoints.Request(OfSlug{Slug: slug}, request))
}
