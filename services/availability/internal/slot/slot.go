// Package slot is the slot engine: from what a business offers and what is already taken, it computes at which starts
// an appointment can be booked, and by whom (semantics.md §1–§3). It is pure: values in, values out.
//
// One function, [Find], answers for /slots, /available-dates and POST /book alike, so that what is listed can be booked
// and nothing else can. It plans the question, which says what occupied time matters ([Plan.Reach]), and takes that
// time away ([Plan.Find]).
//
// The engine works on instants in whole seconds, in sorted spans. For each candidate (a staff member, or nobody where
// no service needs one) it computes the set of admissible starts by intersecting and subtracting whole span sets:
// a service that must lie in working time shrinks that time, a busy span that must not be touched grows. What is left
// of each working window is a run of starts at equal distance, found by division: a run is counted without visiting
// its starts. The zone's offsets are looked up once per question.
//
// An appointment is a sequence of legs, each served by one provider: one member for all that staff perform, or, in a
// package by service, any member for each. A variant is its service with another length. A class is asked for alone: its
// sessions are starts of their own, and occupy their members for everything else.
package slot

import (
	"math"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// The instants of all questions lie within these; sums with durations do not overflow.
const (
	minInstant = math.MinInt64 / 4
	maxInstant = math.MaxInt64 / 4
)

// Question asks for the bookable starts of one appointment.
type Question struct {
	Services []*catalog.Service // at least one, active, in the order they are performed, as their variants; a class alone
	StaffID  *uuid.UUID         // only this member, in a package by service for its first service; nil: whoever can
	From, To timespan.Date      // the dates whose windows are asked for, both included
	Now      time.Time

	Package    bool       // each start once, by the first member in Auto-Assign order
	PerService bool       // a package whose services have members of their own
	SessionID  *uuid.UUID // only this class session; nil: any
	PartySize  int        // only class sessions with so many seats left; 0 is 1

	// Override asks as the owner does: on any minute of the working time instead of the grid's starts, without notice and advance
	// limit, from the beginning of the business's today on. What is taken or blocked, and who works when, holds as ever.
	Override bool
	// OutsideHours lets [Bookable] serve a start that nobody can serve within working time outside of it. What is taken or blocked holds.
	OutsideHours bool
}

// byService reports whether each service may have a member of its own.
func (q Question) byService() bool { return q.Package && q.PerService }

// clamp narrows the dates to those that can hold a bookable start: not beyond the advance limit, and not before
// yesterday, whose overnight windows may reach into today. The result is false when none is left.
func (q Question) clamp(offer *catalog.Offer) (timespan.Date, timespan.Date, bool) {
	today := offer.Today(q.Now)
	from, to := max(q.From, today-1), q.To
	if !q.Override {
		to = min(to, today+timespan.Date(offer.Bookings.AdvanceDays))
	}
	return from, to, from <= to
}

// staffFor returns the members who may serve the question. Without a staffed service nobody does, and a member named
// yields nothing.
func staffFor(offer *catalog.Offer, a appointment, q Question) []*catalog.Staff {
	if !a.staffed {
		return nil
	}
	services := q.Services
	if q.byService() {
		services = services[:1]
	}
	return candidates(offer, services, q.StaffID)
}

// Find computes the bookable starts of a question. occupied holds at least the time taken within [Plan.Reach], and for a
// class the seats of sessions that start there.
func Find(offer *catalog.Offer, q Question, occupied booking.Occupied) *Openings {
	return NewPlan(offer, q).Find(occupied)
}

// earliest is the first instant at which anything may start.
func (q Question) earliest(offer *catalog.Offer) int64 {
	if q.Override {
		return timespan.Instant(offer.Today(q.Now), 0, offer.Location())
	}
	at := q.Now.Unix() + int64(offer.Bookings.MinNoticeMinutes)*minute
	if q.Now.Nanosecond() > 0 {
		at++ // a start must not lie before now
	}
	return at
}
