package api

import (
	"context"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/availability/internal/slot"
)

// Internal serves the API on the internal port that the booking service uses.
type Internal struct {
	offers Offers
	clock  clock.Clock
}

// NewInternal returns the API that the booking service uses.
func NewInternal(offers Offers, now clock.Clock) *Internal {
	return &Internal{offers: offers, clock: now}
}

// Mount adds the endpoint [availability.FindAssignments].
func (a *Internal) Mount(r *server.Internal) {
	server.Mount(r, availability.FindAssignments, a.findAssignments)
}

// findAssignments returns the staff members who can serve an appointment
// at a start time. The computation is the same as for /slots (semantics.md §3).
func (a *Internal) findAssignments(ctx context.Context,
	req availability.BookableRequest) (*availability.BookableResponse, error) {
	q := req.Question
	if err := checkQuestion(q); err != nil {
		return nil, err
	}
	offer, err := a.offers.AtLeast(ctx, req.Slug, req.OfferVersion)
	if err != nil {
		return nil, err
	}
	services, err := offer.Appointment(q.ServiceIDs, q.Variants)
	if err != nil {
		return nil, err
	}
	if _, err := offer.ChooseLocations(services, q.LocationID); err != nil {
		return nil, err
	}
	question := newQuestion(offer, q, services, a.clock.Now())
	assignments := slot.FindAssignments(offer, question, q.Date, q.Time, req.Occupied)
	answer := &availability.BookableResponse{OfferVersion: offer.Version, Assignments: assignments,
		LocationChangeMinutes: offer.Bookings.LocationChangeMinutes}
	if len(assignments) == 0 {
		answer.Assignments = []availability.Assignment{}
		answer.Refusal = slot.FindRefusal(offer, question, q.Date, q.Time)
	} else if q.Override {
		answer.Warnings = slot.FindWarnings(offer, question, q.Date, q.Time)
	}
	return answer, nil
}

// checkQuestion checks the number of services and variants, and the start time. Fault: invalid_parameter.
func checkQuestion(q availability.Question) error {
	switch {
	case len(q.ServiceIDs) == 0:
		return request.Invalid("service_ids: is empty; name the services in the order they are performed.")
	case len(q.ServiceIDs) > maxServices:
		return request.TooMany("service_ids", maxServices)
	case q.Time >= timespan.MinutesPerDay:
		return request.Invalid("time: 24:00 is no start; write 00:00 of the next date.")
	case len(q.Variants) > catalog.MaxVariants:
		return request.TooMany("variants", catalog.MaxVariants)
	}
	return nil
}

// newQuestion converts a question of the API to a question for the slot
// engine. A business without locations ignores the requested location.
func newQuestion(offer *catalog.Snapshot, q availability.Question, services []*catalog.Service,
	now time.Time) slot.Question {
	if len(offer.Locations) == 0 {
		q.LocationID = nil
	}
	return slot.Question{
		Services: services, StaffID: q.StaffID, Now: now, SessionID: q.ClassScheduleID,
		IsPackage: q.IsPackage, IsPerService: q.StaffingMode == availability.StaffingPerService, IsOverride: q.Override,
		AllowsOutsideHours: q.OutsideHours, LocationID: q.LocationID, ExcludedLocationIDs: q.ExcludedLocationIDs,
	}
}
