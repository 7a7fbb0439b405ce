package usecase

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/request"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// checkProvider refuses a preferred payment provider that the business does not have. If the business has no
// providers at all, checkProvider accepts any name, and the field has no effect. Fault: invalid_parameter.
func checkProvider(offer *catalog.Snapshot, provider string) error {
	providers := offer.Payments.Providers
	if provider == "" || len(providers) == 0 || slices.Contains(providers, provider) {
		return nil
	}
	return fault.Newf(fault.InvalidParameter,
		"preferred_provider: this business has no such provider; send %s, or leave it out.",
		strings.Join(providers, " or "))
}

// validateAnswers checks the answers to the questions of the business. It returns a copy of the request that
// contains only the answers to store with the booking. Faults: the faults of [catalog.Snapshot.CheckAnswers].
func validateAnswers(offer *catalog.Snapshot, by actor.Actor, r *request.Request) (*request.Request, error) {
	answers, err := offer.CheckAnswers(by, r.FormData, r.ServiceIDs...)
	if err != nil {
		return r, err
	}
	valid := *r
	valid.FormData = answers
	return &valid, nil
}

// checkClassSession refuses a request with the field class_schedule_id
// if the requested services are not a class. Fault: invalid_parameter.
func checkClassSession(r *request.Request, services []*catalog.Service) error {
	if r.ClassScheduleID == nil || services[0].IsClass() {
		return nil
	}
	return fault.New(fault.InvalidParameter, "class_schedule_id: none of these services is a class; leave it out.")
}

// newPaymentDue returns the online payment that the booking needs, or nil if it needs no online
// payment. Fault: payment_not_offered if no provider of the business can charge the amount.
func (b *Booker) newPaymentDue(e evaluation) (*store.NewPayment, error) {
	q := e.question
	if q.request.PaymentChoice == request.PayOnline && e.total > 0 && len(q.offer.ConnectedProviders()) == 0 {
		return nil, fault.New(fault.PaymentNotOffered,
			"payment_choice: this business is not paid online, so nothing was booked; send at_door, or leave it out.")
	}
	if !needsOnlinePayment(q.offer, q.request, q.services, e.total) {
		return nil, nil
	}
	prices := make([]int64, len(e.quotes))
	for i, quote := range e.quotes {
		prices[i] = quote.Price
	}
	due := payment.ComputeDue(q.services, prices, q.request.PartySize, q.offer.Money())
	if due == 0 {
		return nil, nil // the service to pay is free, or its deposit is less than the smallest unit of the currency
	}
	p, err := b.newPayment(event.Booking, q.offer, q.request.PreferredProvider, due, q.now)
	if err != nil {
		return nil, err
	}
	p.OnCheckout, p.NeedsConfirmation = q.by == actor.Page, !q.confirmsImmediately()
	return p, nil
}

// needsOnlinePayment reports whether a part of the total must be paid online (semantics.md §3).
func needsOnlinePayment(offer *catalog.Snapshot, r *request.Request, services []*catalog.Service, total int64) bool {
	return slices.ContainsFunc(services, func(s *catalog.Service) bool {
		return s.PaymentRequirement != catalog.RequirementNone
	}) &&
		offer.PaysOnline(offer.Payments.Modes.Services, r.PaymentChoice, total)
}

// newRefusal returns the fault for a start for which availability returned no assignment. The argument `rule` is
// the reason in the response of availability. If `rule` is "", the time of the start is occupied (semantics.md §3).
func (q question) newRefusal(rule string) error {
	switch rule {
	case availability.RulePast:
		return fault.Newf(fault.DateInPast, "%s %s is in the past; choose a start that lies ahead from /slots.",
			q.request.Date, q.request.Time)
	case availability.RuleAdvanceLimit:
		return fault.Newf(fault.BeyondAdvanceLimit, "Bookings are taken up to %s; choose an earlier date from /slots.",
			q.offer.Today(q.now)+timespan.Date(q.offer.Bookings.AdvanceDays))
	case availability.RuleNotice:
		return fault.Newf(fault.TooSoon,
			"Bookings are taken at least %d minutes before the start; choose a later one from /slots.",
			q.offer.Bookings.MinNoticeMinutes)
	case availability.RuleClosed:
		return fault.New(fault.Closed,
			"The business is closed, or whoever performs this does not work, for a part of that time; choose another "+
				"from /slots.")
	case availability.RuleNoSession:
		return fault.New(fault.NotAStart, "No session of this class starts then; choose another from /slots.")
	case availability.RuleGrid:
		return fault.Newf(fault.NotAStart,
			"Starts lie %d minutes apart, counted from when working hours begin, and %s is not one of them; choose "+
				"another from /slots.",
			q.services[0].SlotIntervalMinutes, q.request.Time)
	case availability.RuleNotPerformed:
		return fault.New(fault.StaffNotFound,
			"staff_id: no active staff member with this id performs all of these services; leave it out, or choose "+
				"another from /slots.")
	}
	return q.newUnavailableFault()
}

// isRefusedEverywhere reports whether the rule refuses the start at each location of the business.
func (question) isRefusedEverywhere(rule string) bool {
	switch rule {
	case availability.RulePast, availability.RuleAdvanceLimit, availability.RuleNotice, availability.RuleNoSuchTime:
		return true
	}
	return false
}

// newWarnings returns a warning for each rule for customers that the owner's booking breaks. The owner may break
// these rules. The message of a warning is the first part of the error message that a customer would get.
func (q question) newWarnings(rules []string) []booking.Warning {
	var warnings []booking.Warning
	if q.offer.NotYetOpen {
		warnings = append(warnings,
			booking.Warning{Code: fault.NotOpenYet.Code, Message: "The business is not open for bookings yet."})
	}
	if q.offer.IsPaused(q.now) {
		warnings = append(warnings, booking.Warning{Code: fault.NotAcceptingBookings.Code,
			Message: fmt.Sprintf("Online bookings are paused until %s.", q.offer.Bookings.PausedUntil)})
	}
	for _, rule := range rules {
		refusal := fault.Of(q.newRefusal(rule))
		sentence, _, _ := strings.Cut(refusal.Sentence, ";")
		warnings = append(warnings,
			booking.Warning{Code: refusal.Kind.Code, Message: strings.TrimSuffix(sentence, ".") + "."})
	}
	return warnings
}

// newUnavailableFault returns the fault for a start that fails only because its
// time is occupied, or because the class session has too few free seats.
func (q question) newUnavailableFault() error {
	if q.isClass() {
		return fault.New(fault.SlotUnavailable,
			"No session of this class with seats left starts then; choose another from /slots.")
	}
	if q.location != nil {
		return fault.New(fault.SlotUnavailable,
			"That time is booked or cannot be booked at this location; choose another from /slots.")
	}
	staffed := slices.ContainsFunc(q.services, func(s *catalog.Service) bool { return len(s.StaffIDs) > 0 })
	if staffed && q.request.StaffID == nil {
		return fault.New(fault.NoStaffAvailable, "No staff member is free at that time; choose another from /slots.")
	}
	return fault.New(fault.SlotUnavailable, "That time is booked or cannot be booked; choose another from /slots.")
}

// newTooFewSeatsFault returns the fault for a start at which no class session has enough free seats for the party.
func newTooFewSeatsFault(r *request.Request, sessions []availability.Assignment) error {
	limit := 0
	for _, c := range sessions {
		limit = max(limit, c.Session.Remaining)
	}
	return fault.Newf(fault.SlotUnavailable,
		"That class session has fewer seats left (%d) than party_size asks for (%d); send a smaller party or choose "+
			"another from /slots.",
		limit, r.PartySize)
}
