package api

import (
	"context"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
	"github.com/slotmesh/slotmesh/services/rental/internal/usecase"
)

// serveConflicts answers which reservations would conflict with an
// offer that is not published yet, and why (docs/decisions/009).
func (in *Internal) serveConflicts(ctx context.Context,
	r rental.With[rental.ConflictsRequest]) (*rental.ConflictsResponse, error) {
	req := &r.Body
	if err := req.Offer.Prepare(); err != nil {
		return nil, fault.Wrap(fault.InvalidParameter, err, "offer: its time zone or currency is not known here.")
	}
	publishedOffer, err := in.offers.AtLeast(ctx, r.At.Slug, req.OfferVersion)
	if err != nil {
		return nil, err
	}
	published := in.clock.Now()
	occupying, more, err := in.listOccupying(ctx, publishedOffer.ID, publishedOffer.Today(published))
	if err != nil {
		return nil, err
	}
	answer := rental.ConflictsResponse{Conflicts: []rental.Conflict{}, More: more}
	unpublished, before := usecase.NewConflicts(&req.Offer, occupying, published),
		usecase.NewConflicts(publishedOffer, occupying, published)
	for i := range occupying {
		if reason := unpublished.FindReason(&occupying[i]); reason != nil {
			reason.Explain()
			answer.Conflicts = append(answer.Conflicts, rental.Conflict{
				Reservation: in.show(publishedOffer, occupying[i]), Reason: *reason,
				Already: before.FindReason(&occupying[i]) != nil,
			})
		}
	}
	return &answer, nil
}

// listOccupying reads the reservations that occupy units now or later, but at most rental.MaxCheckedReservations. The
// result contains the reservations that end today or later, or are picked up and not returned yet. The second result
// reports whether there are more than rental.MaxCheckedReservations.
func (in *Internal) listOccupying(ctx context.Context, businessID uuid.UUID,
	today timespan.Date) ([]store.Reservation, bool, error) {
	yesterday := today - 1
	late, more, err := in.appendPages(ctx, businessID, rental.Filter{To: &yesterday, Status: rental.StatusPickedUp},
		nil)
	if err != nil || more {
		return late, more, err
	}
	occupying := late[:0]
	for _, r := range late {
		if r.Dates.To < today { // the second query returns those that end today or later
			occupying = append(occupying, r)
		}
	}
	return in.appendPages(ctx, businessID, rental.Filter{From: &today}, occupying)
}

// pageSize is the number of reservations that one query reads.
const pageSize = 1000

// appendPages reads the reservations that match a filter, page by page. It appends the reservations that occupy units
// to the argument `list` and returns the extended list. The second result reports whether there are more than
// rental.MaxCheckedReservations.
func (in *Internal) appendPages(ctx context.Context, businessID uuid.UUID, filter rental.Filter,
	list []store.Reservation) ([]store.Reservation, bool, error) {
	page := request.Page{Limit: pageSize}
	for {
		reservations, next, err := in.records.Reservations(ctx, businessID, filter, page)
		if err != nil {
			return nil, false, err
		}
		for _, r := range reservations {
			if r.Status != state.Returned && r.Status != state.Cancelled {
				list = append(list, r)
			}
		}
		if len(list) > rental.MaxCheckedReservations {
			return list[:rental.MaxCheckedReservations], true, nil
		}
		if page.Cursor = next; next == "" {
			return list, false, nil
		}
	}
}
