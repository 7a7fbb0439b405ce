package api

import (
	"context"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/availability/internal/slot"
)

// computeExplanation returns the reason why a start time can or cannot be booked (pages.md, "Why
// not?"). It uses the same data as /slots. If the offer or the occupied time could not be read,
// it returns an explanation whose field "computed" is false, and no error. Faults:
// business_not_found, service_not_found, invalid_parameter.
func (p *Public) computeExplanation(ctx context.Context,
	req availability.ExplainRequest) (*availability.Explanation, error) {
	if err := checkQuestion(req.Question); err != nil {
		return nil, err
	}
	explanation := &availability.Explanation{Staff: []availability.MemberExplanation{}}
	offer, err := p.offers.AtLeast(ctx, req.Slug, req.OfferVersion)
	if fault.Is(err, fault.BusinessNotFound) {
		return nil, err
	}
	if err != nil {
		p.recordDegraded(ctx, "offer", err)
		return explanation, nil
	}
	explanation.Timezone = offer.Timezone
	if explanation.Reason = findInactive(offer, req.Question.ServiceIDs); explanation.Reason != nil {
		explanation.Computed = true
		return explanation, nil
	}
	s, err := p.newExplainedStart(offer, req.Question)
	if err != nil {
		return nil, err
	}
	bounded, cancel := p.withReadTimeout(ctx)
	defer cancel()
	reach := slot.ExplainReach(offer, s.question, s.date, s.time)
	if s.occupied, err = readOccupied(bounded, p.occupied, offer.ID, reach,
		booking.OccupiedQuery{Seats: s.question.Services[0].IsClass(), Locations: len(offer.Locations) > 1}); err != nil {
		p.recordDegraded(ctx, "occupied time", err)
		return explanation, nil
	}
	leave, err := p.places.Enter(ctx, req.Slug)
	if err != nil { // the time limit passed while other computations of the business occupied all places
		p.recordDegraded(ctx, "place", err)
		return explanation, nil
	}
	defer leave()
	s.explain(explanation)
	return explanation, nil
}

// explainedStart is one start time to explain, with the data that its explanation needs.
type explainedStart struct {
	offer    *catalog.Snapshot
	question slot.Question
	date     timespan.Date
	time     timespan.TimeOfDay
	occupied booking.Occupied
}

func (p *Public) newExplainedStart(offer *catalog.Snapshot, q availability.Question) (*explainedStart, error) {
	services, err := offer.Appointment(q.ServiceIDs, q.Variants)
	if err != nil {
		return nil, err
	}
	if _, err := offer.ChooseLocations(services, q.LocationID); err != nil {
		return nil, err
	}
	return &explainedStart{offer: offer, date: q.Date, time: q.Time,
		question: newQuestion(offer, q, services, p.clock.Now())}, nil
}

// findInactive returns the reason for the first inactive service, or nil if all services are active.
func findInactive(offer *catalog.Snapshot, services []uuid.UUID) *availability.Reason {
	for _, id := range services {
		if s := offer.Service(id); s != nil && !s.Active {
			reason := &availability.Reason{Rule: availability.RuleInactive, Name: s.Name}
			reason.Explain()
			return reason
		}
	}
	return nil
}

// explain adds to the explanation why the start time can or cannot be booked. It first explains the unchanged question.
// If the question names no staff member, explain then adds one row for each member who provides the services.
func (s *explainedStart) explain(explanation *availability.Explanation) {
	explanation.Computed = true
	explanation.Bookable, explanation.Reason = s.findReason(s.question)
	if s.question.StaffID != nil {
		return
	}
	for _, m := range slot.FindPerformers(s.offer, s.question) {
		question := s.question
		question.StaffID = &m.ID
		row := availability.MemberExplanation{StaffID: m.ID, Name: m.Name}
		row.Bookable, row.Reason = s.findReason(question)
		explanation.Staff = append(explanation.Staff, row)
	}
}

func (s *explainedStart) findReason(q slot.Question) (bool, *availability.Reason) {
	reason := slot.Explain(s.offer, q, s.date, s.time, s.occupied)
	if reason == nil {
		reason = findRefusal(s.offer, q)
	}
	if reason == nil {
		return true, nil
	}
	if reason.StaffID != nil {
		if m := s.offer.StaffMember(*reason.StaffID); m != nil {
			reason.StaffName = m.Name
		}
	}
	reason.Explain()
	return false, reason
}

// findRefusal returns the reason why customers may not book a start time that the calendar lists, for
// example because bookings are paused (interface.md §3). findRefusal returns nil if customers may book it.
func findRefusal(offer *catalog.Snapshot, q slot.Question) *availability.Reason {
	err := offer.CheckAccount(q.IsOverride, q.Now)
	switch {
	case err == nil:
		return nil
	case fault.Is(err, fault.SubscriptionInactive):
		return &availability.Reason{Rule: availability.RuleSubscription}
	case fault.Is(err, fault.AccountClosing):
		return &availability.Reason{Rule: availability.RuleRemoval, Date: offer.Account.RemovalOn}
	case fault.Is(err, fault.NotOpenYet):
		return &availability.Reason{Rule: availability.RuleNotOpen}
	}
	return &availability.Reason{Rule: availability.RulePaused, Date: offer.Bookings.PausedUntil}
}
