package availability

import (
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// MaxFutureBookings is the maximal number of bookings in one [ConflictsRequest].
const MaxFutureBookings = 10_000

// MaxFutureServices is the maximal number of services of one booking in a [ConflictsRequest].
const MaxFutureServices = 20

// FutureBooking is a future booking that is checked against an offer. It has the start, services
// and staff member that were booked, even if the offer has changed since the sale.
type FutureBooking struct {
	StartsAt  int64           `json:"starts_at"` // seconds since the epoch
	Services  []FutureService `json:"services"`  // in the order of their performance; 1 to MaxFutureServices
	StaffID   *uuid.UUID      `json:"staff_id,omitempty"`
	StaffName string          `json:"staff_name,omitempty"`
	SessionID *uuid.UUID      `json:"session_id,omitempty"` // set for a class booking
	PartySize int             `json:"party_size,omitempty"` // number of seats of a class booking
	// PerService reports that each service has its own staff member.
	// StaffID is then the staff member of the first service.
	PerService bool `json:"per_service,omitempty"`
	// LocationID is the location of the booking. It is omitted if the booking was made without a location; the new
	// offer then permits the booking at any location. LocationName is the name of the location at the time of the sale.
	LocationID   *uuid.UUID `json:"location_id,omitempty"`
	LocationName string     `json:"location_name,omitempty"`
}

// FutureService is one service of a booking, as it was at the time of the sale.
type FutureService struct {
	ID              uuid.UUID `json:"id"`
	Name            string    `json:"name"`
	VariantID       uuid.UUID `json:"variant_id,omitzero"` // omitted, like variant_name, without a variant
	VariantName     string    `json:"variant_name,omitempty"`
	DurationMinutes int       `json:"duration_minutes"`
}

// Minutes returns the duration of the booking without buffers.
func (h *FutureBooking) Minutes() int {
	total := 0
	for _, s := range h.Services {
		total += s.DurationMinutes
	}
	return total
}

// ConflictsRequest requests those of the given bookings that a new offer would not permit. The new
// offer is not published yet ([FindConflicts]).
type ConflictsRequest struct {
	Slug string `json:"slug"`
	// OfferVersion is a version of the published offer. The new offer is compared with this version or a newer one.
	OfferVersion int64            `json:"offer_version"`
	Offer        catalog.Snapshot `json:"offer"` // the offer that is not published yet
	Bookings     []FutureBooking  `json:"held"`  // the bookings to check, at most MaxFutureBookings
}

// Tenant returns the slug of the business.
func (r *ConflictsRequest) Tenant() string { return r.Slug }

// Check validates the number of bookings, and the number of services of each booking. Fault: invalid_parameter.
func (r *ConflictsRequest) Check() error {
	if len(r.Bookings) > MaxFutureBookings {
		return fault.Newf(fault.InvalidParameter, "held: there are %d bookings; send at most %d.", len(r.Bookings),
			MaxFutureBookings)
	}
	for i, h := range r.Bookings {
		if n := len(h.Services); n == 0 || n > MaxFutureServices {
			return fault.Newf(fault.InvalidParameter, "held[%d].services: there are %d; send 1 to %d.", i, n,
				MaxFutureServices)
		}
	}
	return nil
}

// ConflictsResponse lists the bookings that the new offer would not permit, in the order of the request.
type ConflictsResponse struct {
	Conflicts []Conflict `json:"outside"`
}

// Conflict is one of the bookings that the new offer would not permit.
type Conflict struct {
	Index  int    `json:"index"` // index of the booking in the list Bookings of the request
	Reason Reason `json:"reason"`
	// Already reports that the published offer would not permit
	// the booking either. The new offer is then not the cause.
	Already bool `json:"already"`
}
