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

// Rental finds an active rental of a business that uses the module; nil: all others count as not found (semantics.md §4).
func Rental(offer *catalog.Offer, id uuid.UUID) *catalog.Rental {
	r := offer.Rental(id)
	if r == nil || !r.Active || !offer.Modules.Rentals {
		return nil
	}
	return r
}

// NotFound is the fault rental_not_found, in the words of the interface in English.
func NotFound() error { return fault.New(fault.RentalNotFound, "Rental not found") }

// Stretch is a stretch of time for which units are asked, as the caller states it.
type Stretch struct {
	Dates      occupancy.Dates
	Start, End *timespan.TimeOfDay
	Quantity   int
}

// HandedOver reports whether a rental is picked up and returned within opening hours: at both ends of a stretch of hours, otherwise on its
// first and last date.
func (s Stretch) HandedOver(r *catalog.Rental, offer *catalog.Offer, during timespan.Span, isHours bool) bool {
	if isHours {
		return offer.HandsOver(r, during.Start, false) && offer.HandsOver(r, during.End, true)
	}
	return offer.HandsOverOn(r, s.Dates.From) && offer.HandsOverOn(r, s.Dates.To)
}

// Hours returns the instants of a stretch of hours; false where it is of whole dates, as all of a rental by the day are. Fault:
// invalid_parameter for one of the times alone or an end not after the start, judged in instants, so that hours that a clock
// change skips are refused too. names are what the caller calls the two times.
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
