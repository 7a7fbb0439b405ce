// Package api is the HTTP API of availability. It serves the calendars /slots and /available-dates to the
// public (interface.md §4). On the internal port, it also answers booking whether a start time can be booked.
//
// Each handler reads the offer and the occupied time, calls the slot engine and renders its result.
package api

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
)

// Offers returns the offers of businesses. Fault: business_not_found.
// Any other error means that the offer could not be read.
type Offers interface {
	// Get returns an offer that may be some seconds old. If catalog does
	// not answer, Get returns the last offer that it received from catalog.
	Get(ctx context.Context, slug string) (*catalog.Snapshot, error)
	// AtLeast returns the offer with this version, or with a newer version.
	AtLeast(ctx context.Context, slug string, version int64) (*catalog.Snapshot, error)
}

// OccupiedReader returns the time that bookings of a business occupy in a window of time. The window includes the
// instant `from`, but not the instant `to`. It must not be longer than [booking.MaxOccupiedWindow]. The argument
// `asked` selects further data, and a booking that is ignored. An error means that the occupied time could not be read.
type OccupiedReader interface {
	Occupied(ctx context.Context, businessID uuid.UUID, from, to time.Time,
		asked booking.OccupiedQuery) (*booking.Occupied, error)
}
