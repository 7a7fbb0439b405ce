package api

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/availability/internal/slot"
)

// findConflicts returns the future bookings that would conflict
// with an offer that is not published yet (docs/decisions/008).
func (p *Public) findConflicts(ctx context.Context,
	req availability.ConflictsRequest) (*availability.ConflictsResponse, error) {
	if err := req.Check(); err != nil {
		return nil, err
	}
	if err := req.Offer.Prepare(); err != nil {
		return nil, fault.Wrap(fault.InvalidParameter, err, "offer: its time zone or currency is not known here.")
	}
	published, err := p.offers.AtLeast(ctx, req.Slug, req.OfferVersion)
	if err != nil {
		return nil, err
	}
	leave, err := p.places.Enter(ctx, req.Slug)
	if err != nil {
		return nil, err
	}
	defer leave()
	return checkBookings(ctx, published, &req)
}

// checkBookings checks each booking of the request against the unpublished
// offer. If the request ends first, checkBookings returns an error.
func checkBookings(ctx context.Context, published *catalog.Snapshot,
	req *availability.ConflictsRequest) (*availability.ConflictsResponse, error) {
	answer := &availability.ConflictsResponse{Conflicts: []availability.Conflict{}}
	unpublishedCheck, publishedCheck := slot.NewConflictChecker(&req.Offer, req.Bookings),
		slot.NewConflictChecker(published, req.Bookings)
	for i := range req.Bookings {
		if ctx.Err() != nil {
			return nil, fault.Wrap(fault.PeerUnavailable, context.Cause(ctx),
				"The bookings could not be compared in time; try again shortly.")
		}
		h := &req.Bookings[i]
		reason := unpublishedCheck.FindReason(h)
		if reason == nil {
			continue
		}
		if reason.StaffID != nil && reason.StaffName == "" {
			reason.StaffName = findMemberName(&req.Offer, h, reason)
		}
		reason.Explain()
		answer.Conflicts = append(answer.Conflicts, availability.Conflict{Index: i, Reason: *reason,
			Already: publishedCheck.FindReason(h) != nil})
	}
	return answer, nil
}

// findMemberName returns the name of the staff member in the reason r. If the offer no
// longer has this staff member, findMemberName returns the name that the booking contains.
func findMemberName(offer *catalog.Snapshot, h *availability.FutureBooking, r *availability.Reason) string {
	if m := offer.StaffMember(*r.StaffID); m != nil {
		return m.Name
	}
	return h.StaffName
}
