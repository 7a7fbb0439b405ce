package usecase

import (
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/rental/internal/occupancy"
)

// FindRental returns a rental of the offer by its id. It returns nil if the rental is unknown
// or inactive, or if the business does not use the rentals module (semantics.md §4).
func FindRental(offer *catalog.Snapshot, id uuid.UUID) *catalog.Rental {
	r := offer.Rental(id)
	if r == nil || !r.Active || !offer.Modules.Rentals {
		return nil
	}
	return r
}

// NewNotFoundFault returns a fault with code rental_not_found and the message that interface.md defines.
func NewNotFoundFault() error { return fault.New(fault.RentalNotFound, "Rental not found") }

// Period is the requested time of a reservation. If Start and End are nil,
// the reservation is for whole dates. Quantity is the number of units.
type Period struct {
	Dates      occupancy.Dates
	Start, End *timespan.TimeOfDay
	Quantity   int
}

// IsWithinOpeningHours reports whether pick-up and return are within opening
// hours. If `isHours` is true, IsWithinOpeningHours checks the start and the
// end of the span `span`. Otherwise it checks the first and the last date.
func (s Period) IsWithinOpeningHours(r *catalog.Rental, offer *catalog.Snapshot, span timespan.Span,
	isHours bool) bool {
	if isHours {
		return offer.HandsOver(r, span.Start, false) && offer.HandsOver(r, span.End, true)
	}
	return offer.HandsOverOn(r, s.Dates.From) && offer.HandsOverOn(r, s.Dates.To)
}

// ResolveHours returns the instants of the requested start and end times. The second result is false if the
// reservation is for whole dates; this is always the case for a rental with a price per day. The
// argument `names` contains the caller's names of the start and the end time, for the text of the fault.
//
// Fault: invalid_parameter if only one of the two times is given, or if the end is not after the start.
// The check compares instants. Therefore it also refuses hours that a clock change skips completely.
func (s Period) ResolveHours(r *catalog.Rental, zone *time.Location, names [2]string) (timespan.Span, bool, error) {
	if r.PriceType != catalog.PriceHourly || s.Start == nil && s.End == nil {
		return timespan.Span{}, false, nil
	}
	if s.Start == nil {
		return timespan.Span{}, false, request.Invalid("%s: is missing beside %s; give both times or none.", names[0],
			names[1])
	}
	if s.End == nil {
		return timespan.Span{}, false, request.Invalid("%s: is missing beside %s; give both times or none.", names[1],
			names[0])
	}
	span := timespan.Span{
		Start: timespan.Instant(s.Dates.From, *s.Start, zone), End: timespan.Instant(s.Dates.To, *s.End, zone),
	}
	if span.End <= span.Start {
		return timespan.Span{}, false, request.Invalid("%s: does not lie after %s; end after the start.", names[1],
			names[0])
	}
	return span, true, nil
}
