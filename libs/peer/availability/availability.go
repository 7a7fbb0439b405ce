// Package availability is the peer side of the availability service: the types and the client of its internal API.
package availability

import (
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// BookableRequest asks by whom one start of an appointment can be served (POST /internal/bookable). The caller sends
// the occupied time it knows, so that the question is answered without a call back.
type BookableRequest struct {
	Slug         string           `json:"slug"`
	OfferVersion int64            `json:"offer_version"` // the answer is computed on this version or a newer one
	Question     Question         `json:"question"`
	Occupied     booking.Occupied `json:"occupied"`
}

// Tenant is the business's slug.
func (r BookableRequest) Tenant() string { return r.Slug }

// StaffingPerService is the staffing mode of a package whose services have members of their own; any other means one
// provider (interface.md §4).
const StaffingPerService = "per_service"

// Question names one start, in the terms of POST /book.
type Question struct {
	ServiceIDs   []uuid.UUID        `json:"service_ids"`
	StaffID      *uuid.UUID         `json:"staff_id,omitempty"`
	Date         timespan.Date      `json:"date"` // the calendar date of the start
	Time         timespan.TimeOfDay `json:"time"`
	IsPackage    bool               `json:"is_package,omitempty"`
	StaffingMode string             `json:"staffing_mode,omitempty"`

	// Variants names the variant of each service that is not booked as itself.
	Variants map[uuid.UUID]uuid.UUID `json:"variants,omitempty"`
	// ClassScheduleID narrows a class to one of its sessions.
	ClassScheduleID *uuid.UUID `json:"class_schedule_id,omitempty"`

	// Override asks as the owner does, whom notice, advance limit and grid do not bind, only what is taken and who works when.
	Override bool `json:"override,omitempty"`
	// OutsideHours lets members serve the start also outside their working time and the business's hours, where nobody can within.
	OutsideHours bool `json:"outside_hours,omitempty"`
}

// BookableResponse lists the ways in which the start can be served, in Auto-Assign order; none means that it cannot.
type BookableResponse struct {
	OfferVersion int64        `json:"offer_version"`
	Assignments  []Assignment `json:"assignments"`
	// Refusal is the rule that refuses a start without assignments: past, advance_limit, notice, no_session, closed, grid or
	// not_performed. It is empty where only occupied time does.
	Refusal string `json:"refusal,omitempty"`
	// Warnings are the rules for customers, as of Refusal, that a start which the owner asks for breaks.
	Warnings []string `json:"warnings,omitempty"`
}

// Assignment is one way to serve a start. Its parts are what it occupies, buffers included; all of them or nothing.
type Assignment struct {
	StaffID *uuid.UUID    `json:"staff_id"` // null for a service that no staff member performs
	During  timespan.Span `json:"during"`   // the service time, without buffers
	Parts   []Part        `json:"parts"`
	// Performers are the members of a package with staff per service, one for each service in order; null where no staff performs it.
	Performers []*uuid.UUID `json:"performers,omitempty"`
	Session    *Session     `json:"session,omitempty"` // set for a class: its parts are held together with its other guests
}

// Session is one occurrence of a class session.
type Session struct {
	ID        uuid.UUID `json:"id"`
	Capacity  int       `json:"capacity"`
	Remaining int       `json:"remaining"` // seats that nobody has taken, from 1 on
}

// Part is one resource for one span, buffers included.
type Part struct {
	Resource booking.Resource `json:"resource"`
	Occupies timespan.Span    `json:"occupies"`
}
