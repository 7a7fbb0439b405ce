package availability

import (
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// MaxAgendaDays bounds the dates of one [AgendaRequest].
const MaxAgendaDays = 42

// AgendaRequest asks when members work, what takes their time and when they are free (POST /internal/agenda).
type AgendaRequest struct {
	Slug         string        `json:"slug"`
	OfferVersion int64         `json:"offer_version"` // the answer is computed on this version or a newer one
	From         timespan.Date `json:"from"`
	To           timespan.Date `json:"to"` // included; at most MaxAgendaDays dates
}

// Tenant is the business's slug.
func (r AgendaRequest) Tenant() string { return r.Slug }

// Check refuses dates that are no stretch, or too many. Fault: invalid_parameter.
func (r AgendaRequest) Check() error {
	if r.To < r.From || r.To-r.From >= MaxAgendaDays {
		return fault.Newf(fault.InvalidParameter, "to: %s is before from, %s, or more than %d days after it.", r.To, r.From, MaxAgendaDays)
	}
	return nil
}

// Agenda is the time of a business and its members. Spans are sorted, apart, and within the dates asked for.
type Agenda struct {
	// Computed is false where the occupied time could not be read: nothing is free then, and no seat counts as taken.
	Computed bool            `json:"computed"`
	Open     []timespan.Span `json:"open"`    // of the business, less what is blocked for all
	Members  []MemberAgenda  `json:"members"` // the active ones, in the offer's order
	Sessions []ClassSession  `json:"sessions"`
}

// MemberAgenda is the time of one member.
type MemberAgenda struct {
	StaffID  uuid.UUID       `json:"staff_id"`
	Working  []timespan.Span `json:"working"`  // cut to the business's hours, less what is blocked
	Teaching []timespan.Span `json:"teaching"` // class sessions that the member gives, booked or not, with buffers
	Free     []timespan.Span `json:"free"`     // working, less teaching and bookings with their buffers
}

// ClassSession is one occurrence of a class session, also one that does not take place.
type ClassSession struct {
	ID        uuid.UUID     `json:"id"`
	ServiceID uuid.UUID     `json:"service_id"`
	Date      timespan.Date `json:"date"`
	During    timespan.Span `json:"during"`
	Off       bool          `json:"off"`   // the day is closed, its time blocked, or its member inactive
	Taken     int           `json:"taken"` // seats
}
