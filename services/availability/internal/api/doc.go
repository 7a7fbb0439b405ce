// Package api is availability's HTTP: /slots and /available-dates for everyone (interface.md §4), and the internal
// question whether one start can be booked. It reads the offer and the occupied time, asks the slot engine, and renders
// its answer.
package api

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
)

// Offers gives what a business offers. Errors: fault.BusinessNotFound; any other says that it could not be read.
type Offers interface {
	// Get returns the offer, a moment old at most while catalog answers, else the last good one.
	Get(ctx context.Context, slug string) (*catalog.Offer, error)
	// AtLeast returns the offer of this version or a newer one.
	AtLeast(ctx context.Context, slug string, version int64) (*catalog.Offer, error)
}

// Occupied gives the time that live bookings of a business take within [from, to), at most
// [booking.MaxOccupiedWindow] of it, without that of the booking moving where it is not nil. Any error says that it could not be read.
type Occupied interface {
	Occupied(ctx context.Context, businessID uuid.UUID, from, to time.Time, seats bool, moving *uuid.UUID) (*booking.Occupied, error)
}
