package usecase

import (
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/peer/availability"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/services/rental/internal/occupancy"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
)

// Outside says which reservations an offer could not hold (docs/decisions/009). A reservation keeps its time and its units; where more are
// held at a moment than there are, all that hold some then are outside.
type Outside struct {
	offer    *catalog.Offer
	calendar *occupancy.Calendar
	short    map[uuid.UUID][]occupancy.Shortage
}

// NewOutside holds all reservations that hold units against an offer.
func NewOutside(offer *catalog.Offer, live []store.Reservation, now time.Time) *Outside {
	today := offer.Today(now)
	dates := occupancy.Dates{From: today, To: today}
	held := map[uuid.UUID][]occupancy.Reservation{}
	for i := range live {
		// A zone that is changed moves hours by a date or two.
		dates.From, dates.To = min(dates.From, live[i].Dates.From-2), max(dates.To, live[i].Dates.To+2)
		for _, l := range heldBy(&live[i]) {
			held[l.rental] = append(held[l.rental], l.Reservation)
		}
	}
	o := &Outside{offer: offer, calendar: occupancy.NewCalendar(offer.Location(), now, dates), short: map[uuid.UUID][]occupancy.Shortage{}}
	for id, reservations := range held {
		if r := offer.Rental(id); r != nil {
			o.short[id] = o.calendar.Shortages(occupancy.StockOf(r), reservations)
		}
	}
	return o
}

// heldLine is what a reservation holds of one rental.
type heldLine struct {
	rental uuid.UUID
	name   string
	occupancy.Reservation
}

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

// IsHandedOver reports whether what lies ahead of a reservation, pick-up and return, is within opening hours. A rental that the offer no
// longer has has no such rule.
func IsHandedOver(offer *catalog.Offer, r store.Reservation) bool {
	rented, isOut := offer.Rental(r.RentalID), r.Status == state.PickedUp
	switch {
	case rented == nil:
		return true
	case r.Hours != nil:
		return (isOut || offer.HandsOver(rented, r.Hours.During.Start, false)) && offer.HandsOver(rented, r.Hours.During.End, true)
	}
	return (isOut || offer.HandsOverOn(rented, r.Dates.From)) && offer.HandsOverOn(rented, r.Dates.To)
}

// Reason is why the offer could not hold a reservation; nil where it could.
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
			return &availability.Reason{Rule: availability.RuleTooFew, Name: rented.Name, Booked: worst.Booked, Offered: worst.Units}
		}
	}
	return nil
}
