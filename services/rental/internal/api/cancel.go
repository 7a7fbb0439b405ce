package api

import (
	"context"
	"encoding/json"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/sale"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
)

func (in *Internal) serveCancellation(ctx context.Context, r rental.OfReservation) (*booking.Cancellation, error) {
	offer, err := in.findBusiness(ctx, r.OfSlug)
	if err != nil {
		return nil, err
	}
	preview, err := in.owner.Cancellations(offer).Preview(ctx, offer.ID, r.ID)
	if err != nil {
		return nil, err
	}
	return new(preview.Render()), nil
}

func (in *Internal) cancel(ctx context.Context, r rental.Change[booking.Cancel],
	offer *catalog.Snapshot) (store.Reservation, error) {
	ctx, err := sale.WithReason(ctx, r.Body.Reason)
	if err != nil {
		return store.Reservation{}, err
	}
	return in.owner.Cancellations(offer).Cancel(ctx, actor.Of(ctx), offer.ID, r.At.ID, r.Body.Refund)
}

func (in *Internal) refund(ctx context.Context, r rental.Change[booking.NewRefund],
	offer *catalog.Snapshot) (store.Reservation, error) {
	return in.owner.Cancellations(offer).Refund(ctx, actor.Of(ctx), offer.ID, r.At.ID, r.Body.Refund)
}

// optionalBody decodes the JSON body of a request. The body may be empty.
func optionalBody[Body any](body []byte, into *rental.Change[Body]) error {
	if len(body) == 0 {
		return nil
	}
	if err := json.Unmarshal(body, &into.Body); err != nil {
		return request.Invalid(`The body must be {"refund": "policy", "full", "none" or an amount such as 12.50}, or none.`)
	}
	return nil
}
