package usecase

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slotmesh/slotmesh/libs/actor"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer/availability"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/services/booking/internal/request"
)

// checkProvider refuses a provider that the business does not have. Without providers there is nothing to choose, and
// the field is ignored like payment_choice is where it decides nothing.
func checkProvider(offer *catalog.Offer, provider string) error {
	providers := offer.Payments.Providers
	if provider == "" || len(providers) == 0 || slices.Contains(providers, provider) {
		return nil
	}
	return fault.Newf(fault.InvalidParameter, "preferred_provider: this business has no such provider; send %s, or leave it out.",
		strings.Join(providers, " or "))
}

// answered is the request with the answers that its booking keeps. Fault: as [catalog.Offer.Answered].
func answered(offer *catalog.Offer, by actor.Actor, r *request.Request) (*request.Request, error) {
	kept, err := offer.Answered(by, r.FormData, r.ServiceIDs...)
	if err != nil {
		return r, err
	}
	like := *r
	like.FormData = kept
	return &like, nil
}

// checkClassSession refuses a session of a service that has none.
func checkClassSession(r *request.Request, services []*catalog.Service) error {
	if r.ClassScheduleID == nil || services[0].Class() {
		return nil
	}
	return fault.New(fault.InvalidParameter, "class_schedule_id: none of these services is a class; leave it out.")
}

// needsOnlinePayment says whether semantics.md §3 requires an online payment of total.
func needsOnlinePayment(offer *catalog.Offer, r *request.Request, services []*catalog.Service, total int64) bool {
	return slices.ContainsFunc(services, func(s *catalog.Service) bool { return s.PaymentRequirement != catalog.RequirementNone }) &&
		offer.PaysOnline(offer.Payments.Modes.Services, r.PaymentChoice, total)
}

// refusal is the answer when nobody can serve the start, by the rule that refuses it (semantics.md §3).
func (q question) refusal(rule string) error {
	switch rule {
	case availability.RulePast:
		return fault.Newf(fault.DateInPast, "%s %s is in the past; choose a start that lies ahead from /slots.", q.request.Date, q.request.Time)
	case availability.RuleAdvanceLimit:
		return fault.Newf(fault.BeyondAdvanceLimit, "Bookings are taken up to %s; choose an earlier date from /slots.",
			q.offer.Today(q.now)+timespan.Date(q.offer.Bookings.AdvanceDays))
	case availability.RuleNotice:
		return fault.Newf(fault.TooSoon, "Bookings are taken at least %d minutes before the start; choose a later one from /slots.",
			q.offer.Bookings.MinNoticeMinutes)
	case availability.RuleClosed:
		return fault.New(fault.Closed, "The business is closed, or whoever performs this does not work, for a part of that time; choose another from /slots.")
	case availability.RuleNoSession:
		return fault.New(fault.NotAStart, "No session of this class starts then; choose another from /slots.")
	case availability.RuleGrid:
		return fault.Newf(fault.NotAStart, "Starts lie %d minutes apart, counted from when working hours begin, and %s is not one of them; choose another from /slots.",
			q.services[0].SlotIntervalMinutes, q.request.Time)
	case availability.RuleNotPerformed:
		return fault.New(fault.StaffNotFound, "staff_id: no active staff member with this id performs all of these services; leave it out, or choose another from /slots.")
	}
	return q.taken()
}

// warnings are the rules for customers that a start breaks which the owner may book all the same, in the words of their refusals.
func (q question) warnings(rules []string) []booking.Warning {
	var warnings []booking.Warning
	if q.offer.NotYetOpen {
		warnings = append(warnings, booking.Warning{Code: fault.NotOpenYet.Code, Message: "The business is not open for bookings yet."})
	}
	if q.offer.Paused(q.now) {
		warnings = append(warnings, booking.Warning{Code: fault.NotAcceptingBookings.Code, Message: fmt.Sprintf("Online bookings are paused until %s.", q.offer.Bookings.PausedUntil)})
	}
	for _, rule := range rules {
		refused := fault.Of(q.refusal(rule))
		sentence, _, _ := strings.Cut(refused.Sentence, ";")
		warnings = append(warnings, booking.Warning{Code: refused.Kind.Code, Message: strings.TrimSuffix(sentence, ".") + "."})
	}
	return warnings
}

// taken is the answer when a start could be served, were its time or its seats free.
func (q question) taken() error {
	if q.ofClass() {
		return fault.New(fault.SlotUnavailable, "No session of this class with seats left starts then; choose another from /slots.")
	}
	staffed := slices.ContainsFunc(q.services, func(s *catalog.Service) bool { return len(s.StaffIDs) > 0 })
	if staffed && q.request.StaffID == nil {
		return fault.New(fault.NoStaffAvailable, "No staff member is free at that time; choose another from /slots.")
	}
	return fault.New(fault.SlotUnavailable, "That time is booked or cannot be booked; choose another from /slots.")
}

// tooFewSeats is the answer when sessions start then, none of which has as many seats left as the party needs.
func tooFewSeats(r *request.Request, sessions []availability.Assignment) error {
	most := 0
	for _, c := range sessions {
		most = max(most, c.Session.Remaining)
	}
	return fault.Newf(fault.SlotUnavailable,
		"That class session has fewer seats left (%d) than party_size asks for (%d); send a smaller party or choose another from /slots.",
		most, r.PartySize)
}
