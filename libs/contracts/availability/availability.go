// Package availability is the client of the internal API of the
// availability service. It defines the types of requests and responses.
package availability

import (
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// BookableRequest requests the assignments that can serve one start of an appointment
// ([FindAssignments]). The booking service sends the occupied time in the
// request, so that the availability service need not call the booking service.
type BookableRequest struct {
	Slug         string           `json:"slug"`
	OfferVersion int64            `json:"offer_version"` // the response is computed from this version or a newer one
	Question     Question         `json:"question"`
	Occupied     booking.Occupied `json:"occupied"`
}

// Tenant returns the slug of the business.
func (r BookableRequest) Tenant() string { return r.Slug }

// StaffingPerService is the staffing mode of a package in which each service has its own staff
// member. In any other staffing mode, one staff member performs all services (interface.md §4).
const StaffingPerService = "per_service"

// Question is one start of an appointment or class, with its services and
// staff member. Its fields have the same meaning as the fields of POST /book.
type Question struct {
	ServiceIDs   []uuid.UUID        `json:"service_ids"`
	StaffID      *uuid.UUID         `json:"staff_id,omitempty"`
	Date         timespan.Date      `json:"date"` // local date of the start
	Time         timespan.TimeOfDay `json:"time"`
	IsPackage    bool               `json:"is_package,omitempty"`
	StaffingMode string             `json:"staffing_mode,omitempty"`

	// Variants maps the ids of services to the ids of their booked
	// variants. A service without an entry is booked without a variant.
	Variants map[uuid.UUID]uuid.UUID `json:"variants,omitempty"`
	// ClassScheduleID is the id of the class session to book. Nil allows every session of the class.
	ClassScheduleID *uuid.UUID `json:"class_schedule_id,omitempty"`

	// Override applies the rules for owners: minimum notice, advance limit
	// and slot grid are ignored. Occupied time and working time still apply.
	Override bool `json:"override,omitempty"`
	// OutsideHours permits assignments outside working time and business hours. These assignments
	// are used only if no staff member can serve the start within working time and business hours.
	OutsideHours bool `json:"outside_hours,omitempty"`

	// LocationID is the requested location, which must be one of the locations of all services
	// ([catalog.Snapshot.ChooseLocations]). Nil allows each of these locations. Then each staff member serves the
	// start at the first location, in the order of the first service, at which the staff member can serve it.
	LocationID *uuid.UUID `json:"location_id,omitempty"`
	// ExcludedLocationIDs are locations at which the start must not be served, for
	// example because they do not serve the customer's address.
	ExcludedLocationIDs []uuid.UUID `json:"excluded_location_ids,omitempty"`
}

// BookableResponse lists the assignments that can serve the start. They are in the order in which
// the business assigns staff (Auto-Assign). If the list is empty, the start cannot be booked.
type BookableResponse struct {
	OfferVersion int64        `json:"offer_version"`
	Assignments  []Assignment `json:"assignments"`
	// Refusal is the rule that prevents all assignments: past, advance_limit, notice, no_session, closed,
	// grid or not_performed. It is empty if there are assignments, or if only occupied time prevents them.
	Refusal string `json:"refusal,omitempty"`
	// Warnings are the rules for customers that the start breaks, if the
	// owner books the start. The warnings use the same codes as Refusal.
	Warnings []string `json:"warnings,omitempty"`
	// LocationChangeMinutes is the minimal time between the services of the booking and those of another
	// booking of the same staff member at another location; see [Assignment.Served].
	LocationChangeMinutes int `json:"location_change_minutes,omitempty"`
}

// Assignment is one way to serve a start. Parts lists the resources that the booking
// occupies, each with its time and its buffers. A booking occupies all parts or none.
type Assignment struct {
	StaffID *uuid.UUID    `json:"staff_id"` // null if the service needs no staff member
	During  timespan.Span `json:"during"`   // time of the services, without buffers
	Parts   []Part        `json:"parts"`
	// Performers lists the staff members of the services, in the order of the services. It is set for a package
	// with the staffing mode [StaffingPerService]. The entry of a service that needs no staff member is null.
	Performers []*uuid.UUID `json:"performers,omitempty"`
	// Session is set for a class. All bookings of the session occupy the same parts.
	Session *Session `json:"session,omitempty"`
	// LocationID is the location of all services and all parts. It is omitted if the business has no locations.
	LocationID *uuid.UUID `json:"location_id,omitempty"`
}

// Served returns the time of a part in which services are performed: the occupied time without buffers.
func (a *Assignment) Served(p Part) timespan.Span {
	return timespan.Span{Start: max(p.Occupies.Start, a.During.Start), End: min(p.Occupies.End, a.During.End)}
}

// Session is one occurrence of a class session.
type Session struct {
	ID        uuid.UUID `json:"id"`
	Capacity  int       `json:"capacity"`
	Remaining int       `json:"remaining"` // number of free seats, at least 1
}

// Part is a resource together with the span that a booking occupies, buffers included.
type Part struct {
	Resource booking.Resource `json:"resource"`
	Occupies timespan.Span    `json:"occupies"`
}
