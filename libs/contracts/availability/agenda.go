package availability

import (
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// MaxAgendaDays is the maximal number of dates in one [AgendaRequest].
const MaxAgendaDays = 42

// AgendaRequest requests the working, occupied and free time of all staff members ([ComputeAgenda]).
type AgendaRequest struct {
	Slug         string        `json:"slug"`
	OfferVersion int64         `json:"offer_version"` // the response is computed from this version or a newer one
	From         timespan.Date `json:"from"`
	To           timespan.Date `json:"to"` // last date, included; at most MaxAgendaDays dates in all
}

// Tenant returns the slug of the business.
func (r AgendaRequest) Tenant() string { return r.Slug }

// Check validates the requested dates: To must not be before From, and
// there are at most [MaxAgendaDays] dates. Fault: invalid_parameter.
func (r AgendaRequest) Check() error {
	if r.To < r.From || r.To-r.From >= MaxAgendaDays {
		return fault.Newf(fault.InvalidParameter, "to: %s is before from, %s, or more than %d days after it.", r.To,
			r.From, MaxAgendaDays)
	}
	return nil
}

// Agenda is the working, occupied and free time of a business and its staff members. The
// spans of each list are sorted, do not overlap, and lie within the requested dates.
type Agenda struct {
	// Computed is false if the occupied time could not be read.
	// Then every field Free is empty and every field Taken is 0.
	Computed bool            `json:"computed"`
	Open     []timespan.Span `json:"open"`    // business hours, without blocked time of the whole business
	Members  []MemberAgenda  `json:"members"` // the active staff members, in the order of the offer
	Sessions []ClassSession  `json:"sessions"`
}

// MemberAgenda is the working, occupied and free time of one staff member.
type MemberAgenda struct {
	StaffID  uuid.UUID       `json:"staff_id"`
	Working  []timespan.Span `json:"working"`  // working hours within the business hours, without blocked time
	Teaching []timespan.Span `json:"teaching"` // class sessions of the member with their buffers, whether booked or not
	Free     []timespan.Span `json:"free"`     // Working minus Teaching, and minus bookings with their buffers
}

// ClassSession is one scheduled occurrence of a class session.
// The field Off reports that the occurrence does not take place.
type ClassSession struct {
	ID        uuid.UUID     `json:"id"`
	ServiceID uuid.UUID     `json:"service_id"`
	Date      timespan.Date `json:"date"`
	During    timespan.Span `json:"during"`
	// Off reports that the occurrence does not take place: the business is
	// closed on the date, the time is blocked, or the staff member is inactive.
	Off   bool `json:"off"`
	Taken int  `json:"taken"` // number of booked seats
}
