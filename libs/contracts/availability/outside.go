package availability

import (
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// MaxHeld is the maximal number of bookings in one [OutsideRequest].
const MaxHeld = 10_000

// MaxHeldServices is the maximal number of services of one booking in an [OutsideRequest].
const MaxHeldServices = 20

// Held is a future booking that is checked against an offer. It has the start, services
// and staff member that were booked, even if the offer has changed since the sale.
type Held struct {
	StartsAt  int64         `json:"starts_at"` // seconds since the epoch
	Services  []HeldService `json:"services"`  // in the order of their performance; 1 to MaxHeldServices
	StaffID   *uuid.UUID    `json:"staff_id,omitempty"`
	StaffName string        `json:"staff_name,omitempty"`
	SessionID *uuid.UUID    `json:"session_id,omitempty"` // set for a class booking
	PartySize int           `json:"party_size,omitempty"` // number of seats of a class booking
	// PerService reports that each service has its own staff member.
	// StaffID is then the staff member of the first service.
	PerService bool `json:"per_service,omitempty"`
}

// HeldService is one service of a booking, as it was at the time of the sale.
type HeldService struct {
	ID              uuid.UUID `json:"id"`
	Name            string    `json:"name"`
	VariantID       uuid.UUID `json:"variant_id,omitzero"` // omitted, like variant_name, without a variant
	VariantName     string    `json:"variant_name,omitempty"`
	DurationMinutes int       `json:"duration_minutes"`
}

// Minutes returns the duration of the booking without buffers.
func (h *Held) Minutes() int {
	total := 0
	for _, s := range h.Services {
		total += s.DurationMinutes
	}
	return total
}

// OutsideRequest requests those of the given bookings that a new offer would not permit. The new
// offer is not published yet (POST /internal/outside).
type OutsideRequest struct {
	Slug string `json:"slug"`
	// OfferVersion is a version of the published offer. The new offer is compared with this version or a newer one.
	OfferVersion int64            `json:"offer_version"`
	Offer        catalog.Snapshot `json:"offer"` // the offer that is not published yet
	Held         []Held           `json:"held"`  // the bookings to check, at most MaxHeld
}

// Tenant returns the slug of the business.
func (r *OutsideRequest) Tenant() string { return r.Slug }

// Check validates the number of bookings, and the number of services of each booking. Fault: invalid_parameter.
func (r *OutsideRequest) Check() error {
	if len(r.Held) > MaxHeld {
		return fault.Newf(fault.InvalidParameter, "held: there are %d bookings; send at most %d.", len(r.Held), MaxHeld)
	}
	for i, h := range r.Held {
		if n := len(h.Services); n == 0 || n > MaxHeldServices {
			return fault.Newf(fault.InvalidParameter, "held[%d].services: there are %d; send 1 to %d.", i, n,
				MaxHeldServices)
		}
	}
	return nil
}

// OutsideResponse lists the bookings that the new offer would not permit, in the order of the request.
type OutsideResponse struct {
	Outside []Outside `json:"outside"`
}

// Outside is one of the bookings that the new offer would not permit.
type Outside struct {
	Index  int    `json:"index"` // index of the booking in the list Held of the request
	Reason Reason `json:"reason"`
	// Already reports that the published offer would not permit
	// the booking either. The new offer is then not the cause.
	Already bool `json:"already"`
}
