// Package api is availability's HTTP API. It serves /slots and /available-dates to the
// public (interface.md §4). It also answers other services whether a start can be booked.
//
// Each handler reads the offer and the occupied time, calls the slot engine and renders the engine's result.
package api

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
)

// Offers returns the offers of businesses. Faults: business_not_found.
// Any other error means that the offer could not be read.
type Offers interface {
	// Get returns an offer that may be some seconds old. While catalog does not answer, it returns the last offer that
	// catalog has sent.
	Get(ctx context.Context, slug string) (*catalog.Offer, error)
	// AtLeast returns the offer of this version or a newer one.
	AtLeast(ctx context.Context, slug string, version int64) (*catalog.Offer, error)
}

// OccupiedReader returns the time that the bookings of a business occupy within [from, to). The window
// must not be longer than [booking.MaxOccupiedWindow]. If the argument moving is not nil, it is the
// id of a booking whose time is left out. An error means that the occupied time could not be read.
type OccupiedReader interface {
	Occupied(ctx context.Context, businessID uuid.UUID, from, to time.Time, seats bool,
		moving *uuid.UUID) (*booking.Occupied, error)
}
