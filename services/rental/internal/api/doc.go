// Package api is rental's HTTP: /rental-availability for everyone, /rental-available-dates for availability, which is its
// public side (interface.md §4), and reservations and ceilings for peers (libs/peer/rental is their client). It reads the
// offer and what is held, asks the occupancy core, and renders its answer.
package api

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/message"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/peer/catalogclient"
	"github.com/slotmesh/slotmesh/libs/peer/rental"
	"github.com/slotmesh/slotmesh/libs/request"
	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/services/rental/internal/occupancy"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
)

// Offers gives what a business offers. Errors: fault.BusinessNotFound; any other says that it could not be read.
type Offers interface {
	// Get returns the offer, a moment old at most while catalog answers, else the last good one.
	Get(ctx context.Context, slug string) (*catalog.Offer, error)
	// Fresh returns the offer as it is now.
	Fresh(ctx context.Context, slug string) (*catalog.Offer, error)
	// AtLeast returns the offer of this version or a newer one.
	AtLeast(ctx context.Context, slug string, version int64) (*catalog.Offer, error)
}

// Records are the tables; [store.Store] says what its methods do and return.
type Records interface {
	Holding(ctx context.Context, businessID uuid.UUID, rentalIDs []uuid.UUID, dates occupancy.Dates) (map[uuid.UUID][]occupancy.Reservation, error)
	Reserve(ctx context.Context, r store.NewReservation, fits func([]occupancy.Reservation) bool) (store.Reservation, error)
	Reservations(ctx context.Context, businessID uuid.UUID, filter rental.Filter, page request.Page) ([]store.Reservation, string, error)
	Ahead(ctx context.Context, businessID uuid.UUID, today timespan.Date) (int, error)
	Move(ctx context.Context, businessID, id uuid.UUID, t state.Transition, now time.Time) (store.Reservation, error)
	Outcome(ctx context.Context, businessID uuid.UUID) ([]byte, error)
}

var (
	_ Offers  = (*catalogclient.Client)(nil)
	_ Records = (*store.Store)(nil)
)

// rentalOf finds an active rental of a business that uses the module, or nil: all others count as not found
// (semantics.md §4).
func rentalOf(offer *catalog.Offer, id uuid.UUID) *catalog.Rental {
	r := offer.Rental(id)
	if r == nil || !r.Active || !offer.Modules.Rentals {
		return nil
	}
	return r
}

// stretch is a stretch of time for which units are asked, as the caller states it.
type stretch struct {
	Dates      occupancy.Dates
	Start, End *timespan.TimeOfDay
	Quantity   int
}

// hours returns the instants of a request for hours; false where it is for whole dates, as all of a rental by the day
// are. Fault: invalid_parameter for one of the times alone or an end not after the start, judged in instants, so that
// hours that a clock change skips are refused too. names are what the caller calls the two times.
func (q stretch) hours(r *catalog.Rental, zone *time.Location, names [2]string) (timespan.Span, bool, error) {
	if r.PriceType != catalog.PriceHourly || q.Start == nil && q.End == nil {
		return timespan.Span{}, false, nil
	}
	if q.Start == nil {
		return timespan.Span{}, false, request.Invalid("%s: is missing beside %s; give both times or none.", names[0], names[1])
	}
	if q.End == nil {
		return timespan.Span{}, false, request.Invalid("%s: is missing beside %s; give both times or none.", names[1], names[0])
	}
	span := timespan.Span{
		Start: timespan.Instant(q.Dates.From, *q.Start, zone), End: timespan.Instant(q.Dates.To, *q.End, zone),
	}
	if span.End <= span.Start {
		return timespan.Span{}, false, request.Invalid("%s: does not lie after %s; end after the start.", names[1], names[0])
	}
	return span, true, nil
}

// maxRangeDays bounds one question or reservation, both ends counted (interface.md §8).
const maxRangeDays = 730

// maxQuantity bounds the units of one question or reservation (interface.md §8).
const maxQuantity = 1000

// notFound is the sentence of the interface in English.
func notFound() error { return fault.New(fault.RentalNotFound, "Rental not found") }

// Sentences says why something cannot be had; [message.Catalog] says what its methods do.
type Sentences interface {
	Choose(wanted ...string) string
	Say(code string, id message.ID) (string, error)
	SayCount(code string, id message.ID, count int) (string, error)
}

var _ Sentences = (*message.Catalog)(nil)
