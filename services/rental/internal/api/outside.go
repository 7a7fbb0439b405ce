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

// outside answers which reservations would conflict with an
// offer that is not published yet, and why (docs/decisions/009).
func (in *Internal) outside(ctx context.Context,
	r rental.With[rental.OutsideRequest]) (*rental.OutsideResponse, error) {
	asked := &r.Body
	if err := asked.Offer.Prepare(); err != nil {
		return nil, fault.Wrap(fault.InvalidParameter, err, "offer: its time zone or currency is not known here.")
	}
	published, err := in.offers.AtLeast(ctx, r.At.Slug, asked.OfferVersion)
	if err != nil {
		return nil, err
	}
	now := in.clock.Now()
	live, more, err := in.live(ctx, published.ID, published.Today(now))
	if err != nil {
		return nil, err
	}
	answer := rental.OutsideResponse{Outside: []rental.Outside{}, More: more}
	wanted, before := usecase.NewOutside(&asked.Offer, live, now), usecase.NewOutside(published, live, now)
	for i := range live {
		if reason := wanted.Reason(&live[i]); reason != nil {
			reason.Explain()
			answer.Outside = append(answer.Outside, rental.Outside{
				Reservation: in.show(published, live[i]), Reason: *reason, Already: before.Reason(&live[i]) != nil,
			})
		}
	}
	return &answer, nil
}

// live reads the reservations that occupy units now or later, but at most rental.MaxHeld. These are the reservations
// that end today or later, or are picked up and not returned yet. The second result reports whether there are more.
func (in *Internal) live(ctx context.Context, businessID uuid.UUID,
	today timespan.Date) ([]store.Reservation, bool, error) {
	yesterday := today - 1
	late, more, err := in.read(ctx, businessID, rental.Filter{To: &yesterday, Status: rental.StatusPickedUp}, nil)
	if err != nil || more {
		return late, more, err
	}
	live := late[:0]
	for _, r := range late {
		if r.Dates.To < today { // the second query returns the others
			live = append(live, r)
		}
	}
	return in.read(ctx, businessID, rental.Filter{From: &today}, live)
}

// pageSize is the number of reservations that one query reads.
const pageSize = 1000

// read reads the reservations that match a filter, page by page. It appends the reservations that occupy units to the
// argument `live` and returns the extended list. The second result reports whether there are more than rental.MaxHeld.
func (in *Internal) read(ctx context.Context, businessID uuid.UUID, filter rental.Filter,
	live []store.Reservation) ([]store.Reservation, bool, error) {
	page := request.Page{Limit: pageSize}
	for {
		found, next, err := in.records.Reservations(ctx, businessID, filter, page)
		if err != nil {
			return nil, false, err
		}
		for _, r := range found {
			if r.Status != state.Returned && r.Status != state.Cancelled {
				live = append(live, r)
			}
		}
		if len(live) > rental.MaxHeld {
			return live[:rental.MaxHeld], true, nil
		}
		if page.Cursor = next; next == "" {
			return live, false, nil
		}
	}
}
