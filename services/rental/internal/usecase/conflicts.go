package usecase

import (
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/services/rental/internal/occupancy"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
)

// Conflicts finds the reservations that conflict with an unpublished offer (docs/decisions/009). It
// assumes that every reservation keeps its time and its units. If more units are reserved at a moment
// than the offer has, all reservations that occupy these units at that moment are in conflict.
type Conflicts struct {
	offer     *catalog.Snapshot
	calendar  *occupancy.Calendar
	shortages map[uuid.UUID][]occupancy.Shortage
}

// NewConflicts returns a Conflicts for the given offer. A comparison with the published offer shows which conflicts
// are new. The argument `occupying` contains all reservations of the business that occupy units now or later.
func NewConflicts(offer *catalog.Snapshot, occupying []store.Reservation, now time.Time) *Conflicts {
	today := offer.Today(now)
	dates := occupancy.Dates{From: today, To: today}
	occupied := map[uuid.UUID][]occupancy.Reservation{}
	for i := range occupying {
		// If the offer has another time zone, the dates of reservations for hours can shift by up to two dates.
		dates.From, dates.To = min(dates.From, occupying[i].Dates.From-2), max(dates.To, occupying[i].Dates.To+2)
		for _, l := range occupiedLines(&occupying[i]) {
			occupied[l.rental] = append(occupied[l.rental], l.Reservation)
		}
	}
	o := &Conflicts{offer: offer, calendar: occupancy.NewCalendar(offer.Location(), now, dates),
		shortages: map[uuid.UUID][]occupancy.Shortage{}}
	for id, reservations := range occupied {
		if r := offer.Rental(id); r != nil {
			o.shortages[id] = o.calendar.FindShortages(occupancy.NewStock(r), reservations)
		}
	}
	return o
}

// occupiedLine describes the units of one rental that a reservation occupies.
type occupiedLine struct {
	rental uuid.UUID
	name   string
	occupancy.Reservation
}

// occupiedLines returns the units that a reservation occupies:
// first those of the main rental, then those of each extra.
func occupiedLines(r *store.Reservation) []occupiedLine {
	own := occupancy.Reservation{Units: r.Quantity, Dates: r.Dates, IsOut: r.Status == state.PickedUp}
	byDay := own
	if r.Hours != nil {
		own.Span = r.Hours.Span
	}
	lines := []occupiedLine{{r.RentalID, r.RentalName, own}}
	for _, extra := range r.Extras {
		held := own
		if extra.ByDay {
			held = byDay
		}
		held.Units = extra.Quantity
		lines = append(lines, occupiedLine{extra.RentalID, extra.Name, held})
	}
	return lines
}

// IsHandedOver reports whether the pick-up and the return of a reservation are within opening hours. A
// pick-up that is already done is not checked. If the offer no longer has the rental, the result is true.
func IsHandedOver(offer *catalog.Snapshot, r store.Reservation) bool {
	item, isOut := offer.Rental(r.RentalID), r.Status == state.PickedUp
	switch {
	case item == nil:
		return true
	case r.Hours != nil:
		return (isOut || offer.HandsOver(item, r.Hours.Span.Start, false)) && offer.HandsOver(item,
			r.Hours.Span.End, true)
	}
	return (isOut || offer.HandsOverOn(item, r.Dates.From)) && offer.HandsOverOn(item, r.Dates.To)
}

// FindReason returns the first rule of the offer that the reservation `r` breaks, or nil if there is no conflict.
func (o *Conflicts) FindReason(r *store.Reservation) *availability.Reason {
	for _, l := range occupiedLines(r) {
		item := o.offer.Rental(l.rental)
		switch {
		case item == nil || !o.offer.Modules.Rentals:
			return &availability.Reason{Rule: availability.RuleRemoved, Name: l.name}
		case !item.Active:
			return &availability.Reason{Rule: availability.RuleInactive, Name: item.Name}
		}
		if l.rental == r.RentalID && !IsHandedOver(o.offer, *r) {
			return &availability.Reason{Rule: availability.RuleClosed, Whose: availability.OfBusiness}
		}
		if worst := o.calendar.FindWorstShortage(l.Reservation, o.shortages[l.rental]); worst.Booked > worst.Units {
			return &availability.Reason{Rule: availability.RuleTooFew, Name: item.Name, Booked: worst.Booked,
				Offered: worst.Units}
		}
	}
	return nil
}
