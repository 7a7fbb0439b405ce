// Package slot is the slot engine. From the offer and the occupied time of a business, it computes the starts at which
// an appointment can be booked (semantics.md §1–§3). It also computes which staff members can serve the appointment. A
// start is a time at which an appointment or a class session can begin. The package has no side effects.
//
// One function, [Find], serves /slots, /available-dates and POST /book. Therefore exactly the listed starts
// can be booked. Find works in two steps. The first step makes a plan, which determines the span in which occupied
// time can change the answer ([Plan.Reach]). The second step subtracts the occupied time ([Plan.Find]).
//
// The engine represents an instant in whole seconds, and a set of instants as a sorted list of spans. A candidate is a
// staff member, or nil if no service needs staff. For each candidate, the engine computes the set of possible starts
// with operations on sets of spans. It shortens working time by the length of the service, and extends occupied time by
// the same length.
//
// The starts in the remaining part of a working window are a run: a sequence at equal distances. The engine computes
// the number of starts by division, without a loop. It looks up the UTC offsets of the time zone once per question.
//
// An appointment is a sequence of legs. One provider serves each leg. Usually, one staff
// member serves all services with staff. In a package with staff per service, each service
// may have another staff member. A variant is a form of a service with another duration.
//
// A class is requested alone, without other services. Each session of the class is a start.
// During a class session, its staff member can serve nothing else, except other class sessions.
package slot

import (
	"math"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// All instants lie between these limits, so that the sum of an instant and a duration does not overflow.
const (
	minInstant = math.MinInt64 / 4
	maxInstant = math.MaxInt64 / 4
)

// Question is the request for the bookable starts of one appointment or one class.
type Question struct {
	// Services holds at least one active service, in the order of the appointment. A service that is booked
	// as a variant has the values of the variant. In a question about a class, the class is the only element.
	Services []*catalog.Service
	// StaffID is the requested staff member; nil allows any. In a package with staff per service, StaffID is for the
	// first service only.
	StaffID  *uuid.UUID
	From, To timespan.Date // the dates whose working windows are considered, both included
	Now      time.Time

	IsPackage    bool       // a package: list each start once, with the first staff member in Auto-Assign order
	IsPerService bool       // each service of a package may have another staff member
	SessionID    *uuid.UUID // the requested class session; nil for any
	PartySize    int        // number of class seats that must be free; 0 means 1
	// LocationID is the requested location. Nil allows all locations at which all services are offered.
	LocationID *uuid.UUID
	// ExcludedLocationIDs are locations at which the appointment must not take place.
	ExcludedLocationIDs []uuid.UUID

	// IsOverride applies the rules for the owner. A start may be at any minute of the working time,
	// without slot grid, minimum notice and advance limit. The earliest start is the beginning of
	// the current date of the business. Occupied time, blocked time and working time still apply.
	IsOverride bool
	// AllowsOutsideHours allows [FindAssignments] to return assignments outside working time, if no
	// staff member can serve the start within working time. Occupied and blocked time still apply.
	AllowsOutsideHours bool
}

// hasStaffPerService reports whether each service of a package may have another staff member.
func (q Question) hasStaffPerService() bool { return q.IsPackage && q.IsPerService }

// clamp limits the dates of the question to those that can have a bookable start. The first possible date
// is yesterday, because an overnight window of yesterday can last into today. The last possible date is
// the advance limit; it does not apply to the owner. The third result is false if no date remains.
func (q Question) clamp(offer *catalog.Snapshot) (timespan.Date, timespan.Date, bool) {
	today := offer.Today(q.Now)
	from, to := max(q.From, today-1), q.To
	if !q.IsOverride {
		to = min(to, today+timespan.Date(offer.Bookings.AdvanceDays))
	}
	return from, to, from <= to
}

// findStaff returns the candidates: the staff members who may serve the requested services.
// If no service needs staff, it returns nil, even if the question names a staff member.
func findStaff(offer *catalog.Snapshot, a appointment, q Question) []*catalog.Staff {
	if !a.isStaffed {
		return nil
	}
	services := q.Services
	if q.hasStaffPerService() {
		services = services[:1]
	}
	return findCandidates(offer, services, q.StaffID)
}

// Find returns the bookable starts of a question. The argument `occupied` must contain the time occupied within
// [Plan.Reach]. For a class, it must also contain the booked seats of the sessions that start in this span.
func Find(offer *catalog.Snapshot, q Question, occupied booking.Occupied) *Openings {
	return NewPlan(offer, q).Find(occupied)
}

// findEarliestStart returns the first instant at which a start is allowed.
func (q Question) findEarliestStart(offer *catalog.Snapshot) int64 {
	if q.IsOverride {
		return timespan.Instant(offer.Today(q.Now), 0, offer.Location())
	}
	at := q.Now.Unix() + int64(offer.Bookings.MinNoticeMinutes)*minute
	if q.Now.Nanosecond() > 0 {
		at++ // a start must not be before Now
	}
	return at
}
