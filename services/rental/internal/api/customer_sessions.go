package api

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/rental/internal/usecase"
)

// CustomerSessions serves the reservations of a customer who is signed in to the page with all own bookings. Addresses
// and secrets are in bodies, never in paths, so that no log and no span contains them.
type CustomerSessions struct {
	sessions *usecase.CustomerSessions
	offers   Offers
}

// NewCustomerSessions returns the part of the internal API for customers' sessions.
func NewCustomerSessions(sessions *usecase.CustomerSessions, offers Offers) *CustomerSessions {
	return &CustomerSessions{sessions: sessions, offers: offers}
}

// Mount adds the endpoints for customers' sessions to the router `r`.
func (a *CustomerSessions) Mount(r *server.Internal) {
	server.Mount(r, rental.KnowsCustomer, a.knows)
	server.Mount(r, rental.ListOwnReservations, a.list)
}

func (a *CustomerSessions) knows(ctx context.Context, r rental.With[customer.Of]) (*rental.Known, error) {
	offer, err := findBusiness(ctx, a.offers, r.At)
	if err != nil {
		return nil, err
	}
	isKnown, err := a.sessions.Knows(ctx, offer.ID, r.Body.Email)
	if err != nil {
		return nil, err
	}
	return &rental.Known{Known: isKnown}, nil
}

func (a *CustomerSessions) list(ctx context.Context,
	r rental.With[booking.CustomerSalesRequest]) (*rental.OwnReservations, error) {
	offer, err := findBusiness(ctx, a.offers, r.At)
	if err != nil {
		return nil, err
	}
	found, err := a.sessions.Reservations(ctx, offer, r.Body)
	if err != nil {
		return nil, err
	}
	page := &rental.OwnReservations{Reservations: make([]rental.OwnReservation, len(found))}
	for i, v := range found {
		page.Reservations[i] = rental.OwnReservation{Position: v.Position, Token: v.Token,
			CustomerView: showView(v.CustomerView)}
	}
	return page, nil
}
