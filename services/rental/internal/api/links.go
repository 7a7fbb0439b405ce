package api

import (
	"context"
	"errors"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
)

// serveLink answers with the URL of the customer's link to a reservation.
// The notifications service puts this URL into messages to the customer.
func (in *Internal) serveLink(ctx context.Context, r rental.LinkRequest) (*link.Response, error) {
	hash, err := in.records.LinkHash(ctx, r.Business, r.ID)
	if errors.Is(err, store.ErrNotFound) {
		return nil, errNoReservation()
	}
	if err != nil {
		return nil, err
	}
	return &link.Response{URL: in.links.URL(event.Reservation, r.ID, hash)}, nil
}
