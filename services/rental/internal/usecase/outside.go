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

// Outside finds the reservations that conflict with an unpublished offer (docs/decisions/009).
// It assumes that every reservation keeps its time and its units. If more units are reserved
// at a moment than the offer has, all reservations of that moment are in conflict.
type Outside struct {
	offer    *catalog.Snapshot
	calendar *occupancy.Calendar
	short    map[uuid.UUID][]occupancy.Shortage
}

// NewOutside returns an Outside for an offer. The argument `live` contains all reservations that occupy units.
func NewOutside(offer *catalog.Snapshot, live []store.Reservation, now time.Time) *Outside {
	today := offer.Today(now)
	dates := occupancy.Dates{From: today, To: today}
	held := map[uuid.UUID][]occupancy.Reservation{}
	for i := range live {
		// If the offer changes the time zone, reservations for hours can shift by up to two dates.
		dates.From, dates.To = min(dates.From, live[i].Dates.From-2), max(dates.To, live[i].Dates.To+2)
		for _, l := range heldBy(&live[i]) {
			held[l.rental] = append(held[l.rental], l.Reservation)
		}
	}
	o := &Outside{offer: offer, calendar: occupancy.NewCalendar(offer.Location(), now, dates),
		short: map[uuid.UUID][]occupancy.Shortage{}}
	for id, reservations := range held {
		if r := offer.Rental(id); r != nil {
			o.short[id] = o.calendar.Shortages(occupancy.StockOf(r), reservations)
		}
	}
	return o
}

// heldLine describes the units of one rental that a reservation occupies.
type heldLine struct {
	rental uuid.UUID
	name   string
	occupancy.Reservation
}

// heldBy returns the units of the main rental that a reservation occupies, followed by those of each extra.
func heldBy(r *store.Reservation) []heldLine {
	own := occupancy.Reservation{Units: r.Quantity, Dates: r.Dates, Out: r.Status == state.PickedUp}
	byDay := own
	if r.Hours != nil {
		own.During = r.Hours.During
	}
	lines := []heldLine{{r.RentalID, r.RentalName, own}}
	for _, extra := range r.Extras {
		held := own
		if extra.ByDay {
			held = byDay
		}
		held.Units = extra.Quantity
		lines = append(lines, heldLine{extra.RentalID, extra.Name, held})
	}
	return lines
}

// IsHandedOver reports whether the pick-up and the return of a reservation are within opening hours. A
// pick-up that is already done is not checked. If the offer no longer has the rental, the result is true.
func IsHandedOver(offer *catalog.Snapshot, r store.Reservation) bool {
	rented, isOut := offer.Rental(r.RentalID), r.Status == state.PickedUp
	switch {
	case rented == nil:
		return true
	case r.Hours != nil:
		return (isOut || offer.HandsOver(rented, r.Hours.During.Start, false)) && offer.HandsOver(rented,
			r.Hours.During.End, true)
	}
	return (isOut || offer.HandsOverOn(rented, r.Dates.From)) && offer.HandsOverOn(rented, r.Dates.To)
}

// Reason returns the rule of the offer with which the reservation `r` conflicts, or nil if there is no conflict.
func (o *Outside) Reason(r *store.Reservation) *availability.Reason {
	for _, l := range heldBy(r) {
		rented := o.offer.Rental(l.rental)
		switch {
		case rented == nil || !o.offer.Modules.Rentals:
			return &availability.Reason{Rule: availability.RuleRemoved, Name: l.name}
		case !rented.Active:
			return &availability.Reason{Rule: availability.RuleInactive, Name: rented.Name}
		}
		if l.rental == r.RentalID && !IsHandedOver(o.offer, *r) {
			return &availability.Reason{Rule: availability.RuleClosed, Whose: availability.OfBusiness}
		}
		if worst := o.calendar.Worst(l.Reservation, o.short[l.rental]); worst.Booked > worst.Units {
			return &availability.Reason{Rule: availability.RuleTooFew, Name: rented.Name, Booked: worst.Booked,
				Offered: worst.Units}
		}
	}
	return nil
}
