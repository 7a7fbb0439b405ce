package api

import (
	"context"
	"encoding/json"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/sale"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

func (in *Internal) previewCancellation(ctx context.Context,
	r bookingclient.BookingID) (*booking.Cancellation, error) {
	preview, err := in.cancellations.Bookings.Preview(ctx, r.Business, r.ID)
	if err != nil {
		return nil, err
	}
	return new(preview.Render()), nil
}

func (in *Internal) cancel(ctx context.Context,
	r bookingclient.BookingChange[booking.Cancel]) (store.Booking, error) {
	ctx, err := sale.WithReason(ctx, r.Body.Reason)
	if err != nil {
		return store.Booking{}, err
	}
	return in.cancellations.Bookings.Cancel(ctx, actor.Of(ctx), r.At.Business, r.At.ID, r.Body.Refund)
}

func (in *Internal) refund(ctx context.Context,
	r bookingclient.BookingChange[booking.NewRefund]) (store.Booking, error) {
	return in.cancellations.Bookings.Refund(ctx, actor.Of(ctx), r.At.Business, r.At.ID, r.Body.Refund)
}

// decodeRefund decodes the JSON body of a cancellation or a refund. The body may be empty. Fault: invalid_parameter.
func decodeRefund[At, Body any](body []byte, r *endpoints.With[At, Body]) error {
	if len(body) == 0 {
		return nil
	}
	if err := json.Unmarshal(body, &r.Body); err != nil {
		return fault.New(fault.InvalidParameter,
			`The body must be {"refund": "policy", "full", "none" or an amount such as 12.50}, or none.`)
	}
	return nil
}
