package usecase

import (
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/request"
	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/services/rental/internal/occupancy"
)

// Rental returns an active rental of a business that uses the module. It
// returns nil for all others, which count as not found (semantics.md §4).
func Rental(offer *catalog.Offer, id uuid.UUID) *catalog.Rental {
	r := offer.Rental(id)
	if r == nil || !r.Active || !offer.Modules.Rentals {
		return nil
	}
	return r
}

// NotFound returns the fault rental_not_found, in the English words of the interface.
func NotFound() error { return fault.New(fault.RentalNotFound, "Rental not found") }

// Stretch is the time for which units are requested, as the caller states it. Without Start and End it is whole dates.
type Stretch struct {
	Dates      occupancy.Dates
	Start, End *timespan.TimeOfDay
	Quantity   int
}

// HandedOver reports whether a rental is picked up and returned within opening hours. A stretch
// of hours is checked at both of its ends, one of whole dates on its first and last date.
func (s Stretch) HandedOver(r *catalog.Rental, offer *catalog.Offer, during timespan.Span, isHours bool) bool {
	if isHours {
		return offer.HandsOver(r, during.Start, false) && offer.HandsOver(r, during.End, true)
	}
	return offer.HandsOverOn(r, s.Dates.From) && offer.HandsOverOn(r, s.Dates.To)
}

// Hours returns the instants of a stretch of hours. It returns false for whole dates, which all stretches of a rental
// by the day are. names are the caller's names of the two times. Fault: invalid_parameter if one time is missing or
// if the end is not after the start. The check compares instants, so it also refuses hours that a clock change skips.
func (s Stretch) Hours(r *catalog.Rental, zone *time.Location, names [2]string) (timespan.Span, bool, error) {
	if r.PriceType != catalog.PriceHourly || s.Start == nil && s.End == nil {
		return timespan.Span{}, false, nil
	}
	if s.Start == nil {
		return timespan.Span{}, false, request.Invalid("%s: is missing beside %s; give both times or none.", names[0], names[1])
	}
	if s.End == nil {
		return timespan.Span{}, false, request.Invalid("%s: is missing beside %s; give both times or none.", names[1], names[0])
	}
	span := timespan.Span{
		Start: timespan.Instant(s.Dates.From, *s.Start, zone), End: timespan.Instant(s.Dates.To, *s.End, zone),
	}
	if span.End <= span.Start {
		return timespan.Span{}, false, request.Invalid("%s: does not lie after %s; end after the start.", names[1], names[0])
	}
	return span, true, nil
}
