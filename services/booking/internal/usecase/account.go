package usecase

import (
	"slices"
	"strings"

	"github.com/slotmesh/slotmesh/libs/actor"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer/availability"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
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

// noneLeft is the answer when nobody can serve the start.
func noneLeft(r *request.Request, services []*catalog.Service) error {
	if services[0].Class() {
		return fault.New(fault.SlotUnavailable, "No session of this class with seats left starts then; choose another from /slots.")
	}
	staffed := slices.ContainsFunc(services, func(s *catalog.Service) bool { return len(s.StaffIDs) > 0 })
	if staffed && r.StaffID == nil {
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
