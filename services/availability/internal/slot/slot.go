// Package slot is the slot engine. From the offer and the occupied time of a business, it computes at which starts
// an appointment can be booked, and by which members (semantics.md §1–§3). It is pure: it does no input or output.
//
// One function, [Find], serves /slots, /available-dates and POST /book, so exactly the listed starts
// can be booked. Find works in two steps. The first makes a plan, which determines which occupied
// time can change the answer ([Plan.Reach]). The second subtracts the occupied time ([Plan.Find]).
//
// The engine works on instants in whole seconds, in sorted spans. A candidate is a staff member, or nil if no
// service needs staff. For each candidate, the engine computes the set of possible starts with operations on whole
// sets of spans. It shortens working time by the length of the service, and extends occupied time by that length.
//
// The rest of each working window is a run of starts at equal distances. The engine computes their number
// by division, without a loop over the starts. It looks up the UTC offsets of the zone once per question.
//
// An appointment is a sequence of legs. One provider serves each leg: one member for all services with staff
// or, in a package with staff per service, any member for each. A variant is its service with another length.
//
// A class is requested alone; each of its sessions is a start. A
// session occupies its member for everything except other sessions.
package slot

import (
	"math"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// The instants of all questions lie between these bounds, so that an instant plus a duration does not overflow.
const (
	minInstant = math.MinInt64 / 4
	maxInstant = math.MaxInt64 / 4
)

// Question asks for the bookable starts of one appointment.
type Question struct {
	Services []*catalog.Service // at least one, active, in order of performance, as their variants; a class alone
	StaffID  *uuid.UUID         // only this member, in a package by service for its first service; nil: any member
	From, To timespan.Date      // the dates whose windows count, both included
	Now      time.Time

	IsPackage    bool       // each start once, with the first member in Auto-Assign order
	IsPerService bool       // a package whose services may have different members
	SessionID    *uuid.UUID // only this class session; nil: any
	PartySize    int        // only class sessions with at least this many free seats; 0 means 1

	// IsOverride applies the rules for the owner: a start may be on any minute of the working
	// time, without grid, notice and advance limit. The earliest start is the beginning of the
	// current date of the business. Occupied time, blocked time and working time still apply.
	IsOverride bool
	// AllowsOutsideHours allows [FindAssignments] to return starts outside working time, if no member
	// can serve the start within working time. Occupied and blocked time still apply.
	AllowsOutsideHours bool
}

// hasStaffPerService reports whether each service may have its own member.
func (q Question) hasStaffPerService() bool { return q.IsPackage && q.IsPerService }

// clamp limits the dates to those that can have a bookable start. They begin with yesterday, because an overnight
// window of yesterday can last into today. They end with the advance limit. The result is false if no date remains.
func (q Question) clamp(offer *catalog.Offer) (timespan.Date, timespan.Date, bool) {
	today := offer.Today(q.Now)
	from, to := max(q.From, today-1), q.To
	if !q.IsOverride {
		to = min(to, today+timespan.Date(offer.Bookings.AdvanceDays))
	}
	return from, to, from <= to
}

// findStaff returns the members who may serve the question. If no service
// needs staff, it returns none, even if the question names a member.
func findStaff(offer *catalog.Offer, a appointment, q Question) []*catalog.Staff {
	if !a.isStaffed {
		return nil
	}
	services := q.Services
	if q.hasStaffPerService() {
		services = services[:1]
	}
	return findCandidates(offer, services, q.StaffID)
}

// Find returns the bookable starts of a question. The argument occupied must contain the time occupied
// within [Plan.Reach]. For a class, it must also contain the booked seats of the sessions that start there.
func Find(offer *catalog.Offer, q Question, occupied booking.Occupied) *Openings {
	return NewPlan(offer, q).Find(occupied)
}

// earliest returns the first instant at which a start is allowed.
func (q Question) earliest(offer *catalog.Offer) int64 {
	if q.IsOverride {
		return timespan.Instant(offer.Today(q.Now), 0, offer.Location())
	}
	at := q.Now.Unix() + int64(offer.Bookings.MinNoticeMinutes)*minute
	if q.Now.Nanosecond() > 0 {
		at++ // a start must not lie before now
	}
	return at
}
