package slot

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// ConflictChecker finds the bookings that conflict with an unpublished offer (docs/decisions/008). It checks each
// booking with its present start, length and staff member. Other bookings matter only if all bookings together
// exceed the seats of a session or the capacity of a service in the offer.
type ConflictChecker struct {
	offer *catalog.Snapshot
	seats map[booking.Occurrence]int // number of booked seats of each class session
	uses  map[uuid.UUID][]unitUse    // booked times of each service without staff
	// overbooked holds, by service, the spans in which more capacity units are booked than the service has.
	overbooked map[uuid.UUID][]timespan.Span
}

// NewConflictChecker returns a checker for an offer. The argument `held` contains all future bookings.
func NewConflictChecker(offer *catalog.Snapshot, held []availability.FutureBooking) *ConflictChecker {
	o := &ConflictChecker{
		offer: offer, seats: map[booking.Occurrence]int{}, uses: map[uuid.UUID][]unitUse{},
		overbooked: map[uuid.UUID][]timespan.Span{},
	}
	for i := range held {
		o.add(&held[i])
	}
	for id, uses := range o.uses {
		o.overbooked[id] = findFullSpans(uses, offer.Service(id).Capacity+1)
	}
	return o
}

// add counts the seats or the capacity units of a booking.
func (o *ConflictChecker) add(h *availability.FutureBooking) {
	if h.SessionID != nil {
		o.seats[booking.Occurrence{SessionID: *h.SessionID, StartsAt: h.StartsAt}] += max(1, h.PartySize)
		return
	}
	o.eachUnitUse(h, func(s *catalog.Service, during timespan.Span) bool {
		o.uses[s.ID] = append(o.uses[s.ID], unitUse{Span: during})
		return true
	})
}

// eachUnitUse calls `yield` for each service of the booking that needs no staff,
// with the time of that service. eachUnitUse stops when `yield` returns false.
func (o *ConflictChecker) eachUnitUse(h *availability.FutureBooking, yield func(*catalog.Service, timespan.Span) bool) {
	at := h.StartsAt
	for _, part := range h.Services {
		during := timespan.Span{Start: at, End: at + int64(part.DurationMinutes)*minute}
		if s := o.offer.Service(part.ID); s != nil && len(s.StaffIDs) == 0 && !s.IsClass() && !yield(s, during) {
			return
		}
		at = during.End
	}
}

// FindReason returns the first rule of the offer with which a booking conflicts, or nil if there is no conflict.
// FindReason does not check minimum notice, advance limit, slot grid and pause, which restrict new bookings only.
func (o *ConflictChecker) FindReason(h *availability.FutureBooking) *availability.Reason {
	services, reason := o.findServices(h)
	if reason != nil {
		return reason
	}
	start := time.Unix(h.StartsAt, 0)
	q := Question{
		Services: services, IsPackage: h.PerService, IsPerService: h.PerService, SessionID: h.SessionID,
		// Now is two days before the booking. Therefore no part of the
		// booking is in the past, even if a clock change skips a date.
		IsOverride: true, Now: start.AddDate(0, 0, -2),
	}
	if h.LocationID != nil {
		if o.offer.FindLocation(*h.LocationID) == nil {
			return &availability.Reason{Rule: availability.RuleRemoved, Name: h.LocationName}
		}
		q.LocationID = h.LocationID
	}
	if h.SessionID == nil { // for a class session, another staff member is no conflict
		if h.StaffID != nil && o.offer.StaffMember(*h.StaffID) == nil {
			return &availability.Reason{Rule: availability.RuleRemoved, Whose: availability.OfStaff, StaffID: h.StaffID}
		}
		q.StaffID = h.StaffID
	}
	date := timespan.DateOf(start, o.offer.Location())
	q.From, q.To = date-1, date
	e := explanation{offer: o.offer, question: q, date: date, start: h.StartsAt}
	if reason := e.findReason(); reason != nil {
		return reason
	}
	if h.SessionID != nil {
		return o.checkSeats(h, services[0])
	}
	return o.checkUnits(h)
}

// findServices returns the services of a booking as the offer defines them, but with the durations that were
// booked. If the offer no longer has one of the services, findServices returns the reason of the conflict.
func (o *ConflictChecker) findServices(h *availability.FutureBooking) ([]*catalog.Service, *availability.Reason) {
	services := make([]*catalog.Service, len(h.Services))
	for i, part := range h.Services {
		s := o.offer.Service(part.ID)
		switch {
		case s == nil || !o.offer.Modules.Services:
			return nil, &availability.Reason{Rule: availability.RuleRemoved, Name: part.Name}
		case !s.Active:
			return nil, &availability.Reason{Rule: availability.RuleInactive, Name: s.Name}
		case part.VariantID != uuid.Nil && !slices.ContainsFunc(s.Variants, func(v catalog.Variant) bool {
			return v.ID == part.VariantID
		}):
			return nil, &availability.Reason{Rule: availability.RuleRemoved, Name: part.VariantName}
		case s.IsClass() != (h.SessionID != nil):
			return nil, &availability.Reason{Rule: availability.RuleNoSession}
		}
		booked := *s
		booked.DurationMinutes = part.DurationMinutes
		services[i] = &booked
	}
	return services, nil
}

func (o *ConflictChecker) checkSeats(h *availability.FutureBooking, class *catalog.Service) *availability.Reason {
	booked := o.seats[booking.Occurrence{SessionID: *h.SessionID, StartsAt: h.StartsAt}]
	for _, c := range class.Classes {
		if c.ID == *h.SessionID && booked > c.Capacity {
			return &availability.Reason{Rule: availability.RuleTooFew, Booked: booked, Offered: c.Capacity}
		}
	}
	return nil
}

func (o *ConflictChecker) checkUnits(h *availability.FutureBooking) *availability.Reason {
	var reason *availability.Reason
	o.eachUnitUse(h, func(s *catalog.Service, during timespan.Span) bool {
		if overlapsAny(o.overbooked[s.ID], during) {
			reason = &availability.Reason{Rule: availability.RuleTooFew, Booked: o.findPeakUse(s.ID, during),
				Offered: s.Capacity}
		}
		return reason == nil
	})
	return reason
}

// findPeakUse returns the largest number of capacity units of the
// service that are booked at the same moment of the span `during`.
func (o *ConflictChecker) findPeakUse(service uuid.UUID, during timespan.Span) int {
	var overlapping []unitUse
	for _, u := range o.uses[service] {
		if u.Overlaps(during) {
			overlapping = append(overlapping,
				unitUse{Span: timespan.Span{Start: max(u.Start, during.Start), End: min(u.End, during.End)}})
		}
	}
	running, most := 0, 0
	for _, c := range listChanges(overlapping) {
		running += c.by
		most = max(most, running)
	}
	return most
}
