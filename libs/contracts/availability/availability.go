// Package availability is the client of availability's internal API, with its types.
package availability

import (
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// BookableRequest requests the ways to serve one start of an appointment (POST /internal/bookable). The
// caller, booking, sends the occupied time that it knows, so that availability does not call booking.
type BookableRequest struct {
	Slug         string           `json:"slug"`
	OfferVersion int64            `json:"offer_version"` // the answer is computed on this version or a newer one
	Question     Question         `json:"question"`
	Occupied     booking.Occupied `json:"occupied"`
}

// Tenant returns the business's slug.
func (r BookableRequest) Tenant() string { return r.Slug }

// StaffingPerService is the staffing mode of a package in which each service has its own
// staff member. With any other value, one member performs all services (interface.md §4).
const StaffingPerService = "per_service"

// Question is the start to examine, with the services and the staff
// member. Its fields have the meaning of those of POST /book.
type Question struct {
	ServiceIDs   []uuid.UUID        `json:"service_ids"`
	StaffID      *uuid.UUID         `json:"staff_id,omitempty"`
	Date         timespan.Date      `json:"date"` // the calendar date of the start
	Time         timespan.TimeOfDay `json:"time"`
	IsPackage    bool               `json:"is_package,omitempty"`
	StaffingMode string             `json:"staffing_mode,omitempty"`

	// Variants maps the id of a service to the id of its booked
	// variant. Services without an entry are booked without a variant.
	Variants map[uuid.UUID]uuid.UUID `json:"variants,omitempty"`
	// ClassScheduleID narrows a class to one of its sessions.
	ClassScheduleID *uuid.UUID `json:"class_schedule_id,omitempty"`

	// Override selects the rules for owners: minimum notice, advance limit
	// and slot grid do not apply. Occupied time and working time still apply.
	Override bool `json:"override,omitempty"`
	// OutsideHours permits assignments outside working time and business hours.
	// They are used only if no member can serve the start within these hours.
	OutsideHours bool `json:"outside_hours,omitempty"`
}

// BookableResponse lists the ways to serve the start, in the order in which the business
// assigns staff (Auto-Assign). If the list is empty, the start cannot be served.
type BookableResponse struct {
	OfferVersion int64        `json:"offer_version"`
	Assignments  []Assignment `json:"assignments"`
	// Refusal is the rule because of which there are no assignments: past, advance_limit, notice,
	// no_session, closed, grid or not_performed. It is empty if only occupied time prevents the start.
	Refusal string `json:"refusal,omitempty"`
	// Warnings are the customer rules, with the codes of Refusal, that the owner's start breaks.
	Warnings []string `json:"warnings,omitempty"`
}

// Assignment is one way to serve a start. Parts are the resources that it occupies
// and for which times, with buffers. A booking occupies all parts or none.
type Assignment struct {
	StaffID *uuid.UUID    `json:"staff_id"` // null for a service that no staff member performs
	During  timespan.Span `json:"during"`   // the service time, without buffers
	Parts   []Part        `json:"parts"`
	// Performers lists the staff member of each service, in the order of the services,
	// for a package with staff per service. null is a service that needs no staff.
	Performers []*uuid.UUID `json:"performers,omitempty"`
	Session    *Session     `json:"session,omitempty"` // set for a class: other guests of the session share its parts
}

// Session is one occurrence of a class session.
type Session struct {
	ID        uuid.UUID `json:"id"`
	Capacity  int       `json:"capacity"`
	Remaining int       `json:"remaining"` // free seats, at least 1
}

// Part is one resource for one span, buffers included.
type Part struct {
	Resource booking.Resource `json:"resource"`
	Occupies timespan.Span    `json:"occupies"`
}
