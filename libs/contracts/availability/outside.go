package availability

import (
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// MaxHeld bounds the bookings of one [OutsideRequest].
const MaxHeld = 10_000

// MaxHeldServices bounds the services of one booking.
const MaxHeldServices = 20

// Held is a future booking that is checked against an offer. Its
// start, length and staff member are those at the time of booking.
type Held struct {
	StartsAt  int64         `json:"starts_at"` // seconds since the epoch
	Services  []HeldService `json:"services"`  // in the order in which they are performed; 1 to MaxHeldServices
	StaffID   *uuid.UUID    `json:"staff_id,omitempty"`
	StaffName string        `json:"staff_name,omitempty"`
	SessionID *uuid.UUID    `json:"session_id,omitempty"` // of a class booking
	PartySize int           `json:"party_size,omitempty"` // the seats of a class booking
	// PerService reports that each service has its own member; StaffID is the member of the first service.
	PerService bool `json:"per_service,omitempty"`
}

// HeldService is one service of a booking as it was sold.
type HeldService struct {
	ID              uuid.UUID `json:"id"`
	Name            string    `json:"name"`
	VariantID       uuid.UUID `json:"variant_id,omitzero"` // omitted, like variant_name, if no variant was booked
	VariantName     string    `json:"variant_name,omitempty"`
	DurationMinutes int       `json:"duration_minutes"`
}

// Minutes returns the length of the booking without buffers.
func (h *Held) Minutes() int {
	total := 0
	for _, s := range h.Services {
		total += s.DurationMinutes
	}
	return total
}

// OutsideRequest requests the bookings that would violate an
// offer that is not published yet (POST /internal/outside).
type OutsideRequest struct {
	Slug string `json:"slug"`
	// OfferVersion is the version of the published offer with which
	// the new offer is compared. A newer version may be used.
	OfferVersion int64         `json:"offer_version"`
	Offer        catalog.Offer `json:"offer"` // the offer that would be published
	Held         []Held        `json:"held"`  // at most MaxHeld
}

// Tenant returns the business's slug.
func (r *OutsideRequest) Tenant() string { return r.Slug }

// Check validates the number of bookings and of services per booking. Fault: invalid_parameter.
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

// OutsideResponse lists the bookings that would violate the offer, in the order of the request.
type OutsideResponse struct {
	Outside []Outside `json:"outside"`
}

// Outside is a booking that could not be booked as it is under the new offer.
type Outside struct {
	Index  int    `json:"index"` // in the request's list
	Reason Reason `json:"reason"`
	// Already reports that the booking violates the published offer, too, so that the change is not the cause.
	Already bool `json:"already"`
}
