package usecase

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
)

// Sessions finds the customer of a session. Its implementation is *bookingclient.Sessions, except in tests. Fault:
// not_found if the session does not exist or belongs to another business.
type Sessions interface {
	Customer(ctx context.Context, businessID uuid.UUID, secret string) (*booking.SessionCustomer, error)
}

// CustomerRecords is the part of the store that finds the reservations of one customer.
type CustomerRecords interface {
	KnowsCustomer(ctx context.Context, businessID uuid.UUID, email string) (bool, error)
	CustomerReservations(ctx context.Context, businessID uuid.UUID,
		q store.CustomerQuery) ([]store.CustomerReservation, error)
}

var _ CustomerRecords = (*store.Store)(nil)

// CustomerSessions lists the reservations of a customer who is signed in to the page with all own bookings. The booking
// service stores the sessions. It names the customer, so a caller cannot choose the address.
type CustomerSessions struct {
	records  CustomerRecords
	sessions Sessions
	views    *CustomerLinks
	links    *link.Links
}

// NewCustomerSessions returns the operations of customers' sessions. The argument `views` makes the customer views.
func NewCustomerSessions(records CustomerRecords, sessions Sessions, views *CustomerLinks,
	links *link.Links) *CustomerSessions {
	return &CustomerSessions{records: records, sessions: sessions, views: views, links: links}
}

// Knows reports whether a reservation of the business has the address. Fault: invalid_parameter.
func (c *CustomerSessions) Knows(ctx context.Context, businessID uuid.UUID, email string) (bool, error) {
	address, err := customer.Check(email)
	if err != nil {
		return false, err
	}
	return c.records.KnowsCustomer(ctx, businessID, address)
}

// ReservationView is the customer's view of a reservation, with its position in
// the list and the token of its link. The token is "" if the link has expired.
type ReservationView struct {
	CustomerView
	Position booking.SalePosition
	Token    string
}

// Reservations returns a page of the reservations of a session's customer. It shows the state of payments as it is
// stored. Faults: not_found if the session does not exist; invalid_parameter.
func (c *CustomerSessions) Reservations(ctx context.Context, offer *catalog.Snapshot,
	req booking.CustomerSalesRequest) ([]ReservationView, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	of, err := c.sessions.Customer(ctx, offer.ID, req.Secret)
	if err != nil {
		return nil, err
	}
	if of.Email == "" {
		return nil, errors.New("the session has no address")
	}
	now := c.views.clock.Now()
	found, err := c.records.CustomerReservations(ctx, offer.ID, store.CustomerQuery{
		Email: of.Email, IsPast: req.IsPast, After: req.After, Limit: req.Limit, Now: now, Zone: offer.Location(),
	})
	if err != nil {
		return nil, err
	}
	all := make([]ReservationView, len(found))
	for i, r := range found {
		view := c.views.newView(store.LinkedReservation{BusinessID: offer.ID, Reservation: r.Reservation}, offer)
		all[i] = ReservationView{CustomerView: view, Position: r.Position}
		if !now.After(view.EndsAt.Add(link.Lifetime)) {
			all[i].Token = c.links.Token(event.Reservation, r.ID, r.LinkHash)
		}
	}
	return all, nil
}
