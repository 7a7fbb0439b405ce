package availability

import (
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// MaxAgendaDays bounds the dates of one [AgendaRequest].
const MaxAgendaDays = 42

// AgendaRequest asks for the working, occupied and free time of all members (POST /internal/agenda).
type AgendaRequest struct {
	Slug         string        `json:"slug"`
	OfferVersion int64         `json:"offer_version"` // the answer is computed on this version or a newer one
	From         timespan.Date `json:"from"`
	To           timespan.Date `json:"to"` // included; at most MaxAgendaDays dates
}

// Tenant returns the business's slug.
func (r AgendaRequest) Tenant() string { return r.Slug }

// Check validates the window: To must not precede From, and the
// window has at most [MaxAgendaDays] dates. Fault: invalid_parameter.
func (r AgendaRequest) Check() error {
	if r.To < r.From || r.To-r.From >= MaxAgendaDays {
		return fault.Newf(fault.InvalidParameter, "to: %s is before from, %s, or more than %d days after it.", r.To,
			r.From, MaxAgendaDays)
	}
	return nil
}

// Agenda is the time of a business and its members. Spans are
// sorted, do not overlap, and lie within the requested dates.
type Agenda struct {
	// Computed is false if the occupied time could not be read. Then Free is empty and Taken is 0 everywhere.
	Computed bool            `json:"computed"`
	Open     []timespan.Span `json:"open"`    // of the business, without time that is blocked for the whole business
	Members  []MemberAgenda  `json:"members"` // the active members, in the offer's order
	Sessions []ClassSession  `json:"sessions"`
}

// MemberAgenda is the agenda of one member.
type MemberAgenda struct {
	StaffID  uuid.UUID       `json:"staff_id"`
	Working  []timespan.Span `json:"working"`  // within the business's hours, without blocked time
	Teaching []timespan.Span `json:"teaching"` // class sessions of the member, booked or not, with buffers
	Free     []timespan.Span `json:"free"`     // Working without Teaching and without bookings and their buffers
}

// ClassSession is one occurrence of a class session, including one that does not take place.
type ClassSession struct {
	ID        uuid.UUID     `json:"id"`
	ServiceID uuid.UUID     `json:"service_id"`
	Date      timespan.Date `json:"date"`
	During    timespan.Span `json:"during"`
	Off       bool          `json:"off"`   // the day is closed, its time blocked, or its member inactive
	Taken     int           `json:"taken"` // booked seats
}
