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

// Outside finds the bookings that conflict with an unpublished offer (docs/decisions/008). A booking keeps its
// start, its length and its member. Other bookings matter only if together they exceed the capacity in the offer.
type Outside struct {
	offer   *catalog.Offer
	seats   map[booking.Occurrence]int    // booked seats of each class session
	uses    map[uuid.UUID][]laneUse       // of services without staff
	crowded map[uuid.UUID][]timespan.Span // when more of them are in use than there are
}

// NewOutside compares all future bookings with an offer.
func NewOutside(offer *catalog.Offer, held []availability.Held) *Outside {
	o := &Outside{
		offer: offer, seats: map[booking.Occurrence]int{}, uses: map[uuid.UUID][]laneUse{},
		crowded: map[uuid.UUID][]timespan.Span{},
	}
	for i := range held {
		o.add(&held[i])
	}
	for id, uses := range o.uses {
		o.crowded[id] = full(uses, offer.Service(id).Capacity+1)
	}
	return o
}

// add counts the seats or capacity units of a booking.
func (o *Outside) add(h *availability.Held) {
	if h.SessionID != nil {
		o.seats[booking.Occurrence{SessionID: *h.SessionID, StartsAt: h.StartsAt}] += max(1, h.PartySize)
		return
	}
	o.eachLane(h, func(s *catalog.Service, during timespan.Span) bool {
		o.uses[s.ID] = append(o.uses[s.ID], laneUse{Span: during})
		return true
	})
}

// eachLane calls yield for each service of the booking that needs no
// staff, with the time of that service. It stops when yield returns false.
func (o *Outside) eachLane(h *availability.Held, yield func(*catalog.Service, timespan.Span) bool) {
	at := h.StartsAt
	for _, part := range h.Services {
		during := timespan.Span{Start: at, End: at + int64(part.DurationMinutes)*minute}
		if s := o.offer.Service(part.ID); s != nil && len(s.StaffIDs) == 0 && !s.Class() && !yield(s, during) {
			return
		}
		at = during.End
	}
}

// Reason returns the first rule of the offer with which a booking conflicts, or nil if there is no
// conflict. Notice, advance limit, grid and pause are not checked, because they restrict new bookings only.
func (o *Outside) Reason(h *availability.Held) *availability.Reason {
	services, reason := o.services(h)
	if reason != nil {
		return reason
	}
	start := time.Unix(h.StartsAt, 0)
	q := Question{
		Services: services, Package: h.PerService, PerService: h.PerService, SessionID: h.SessionID,
		Override: true, Now: start.AddDate(0, 0, -2), // so that no part is in the past, whatever the clock skips
	}
	if h.SessionID == nil { // the member of a session may change
		if h.StaffID != nil && o.offer.StaffMember(*h.StaffID) == nil {
			return &availability.Reason{Rule: availability.RuleRemoved, Whose: availability.OfStaff, StaffID: h.StaffID}
		}
		q.StaffID = h.StaffID
	}
	date := timespan.DateOf(start, o.offer.Location())
	q.From, q.To = date-1, date
	e := explanation{offer: o.offer, question: q, date: date, start: h.StartsAt}
	if reason := e.reason(); reason != nil {
		return reason
	}
	if h.SessionID != nil {
		return o.tooFewSeats(h, services[0])
	}
	return o.tooFewLanes(h)
}

// services returns the services of a booking as the offer now defines them, but with
// their booked lengths. If the offer no longer has one of them, it returns the reason.
func (o *Outside) services(h *availability.Held) ([]*catalog.Service, *availability.Reason) {
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
		case s.Class() != (h.SessionID != nil):
			return nil, &availability.Reason{Rule: availability.RuleNoSession}
		}
		asBooked := *s
		asBooked.DurationMinutes = part.DurationMinutes
		services[i] = &asBooked
	}
	return services, nil
}

func (o *Outside) tooFewSeats(h *availability.Held, class *catalog.Service) *availability.Reason {
	booked := o.seats[booking.Occurrence{SessionID: *h.SessionID, StartsAt: h.StartsAt}]
	for _, c := range class.Classes {
		if c.ID == *h.SessionID && booked > c.Capacity {
			return &availability.Reason{Rule: availability.RuleTooFew, Booked: booked, Offered: c.Capacity}
		}
	}
	return nil
}

func (o *Outside) tooFewLanes(h *availability.Held) *availability.Reason {
	var reason *availability.Reason
	o.eachLane(h, func(s *catalog.Service, during timespan.Span) bool {
		if overlapsAny(o.crowded[s.ID], during) {
			reason = &availability.Reason{Rule: availability.RuleTooFew, Booked: o.busiest(s.ID, during),
				Offered: s.Capacity}
		}
		return reason == nil
	})
	return reason
}

// busiest returns the number of booked capacity units at the busiest moment of a span.
func (o *Outside) busiest(service uuid.UUID, during timespan.Span) int {
	var within []laneUse
	for _, u := range o.uses[service] {
		if u.Overlaps(during) {
			within = append(within,
				laneUse{Span: timespan.Span{Start: max(u.Start, during.Start), End: min(u.End, during.End)}})
		}
	}
	running, most := 0, 0
	for _, c := range changesOf(within) {
		running += c.by
		most = max(most, running)
	}
	return most
}
