package usecase

import (
	"context"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// CustomerSessions implements the sign-in of customers by a mailed one-time link, and the
// page with all bookings and orders of one customer with one business.
//
// A session belongs to one business and one e-mail address. The secret of a session and the token of a
// mailed link are stored only as hashes. Every invalid token and secret gets the same fault not_found.
type CustomerSessions struct {
	records    *store.Store
	businesses Businesses
	views      *CustomerLinks
	links      *link.Links
}

// NewCustomerSessions returns the operations of customers' sessions. The argument `views` makes the customer views.
func NewCustomerSessions(records *store.Store, businesses Businesses, views *CustomerLinks,
	links *link.Links) *CustomerSessions {
	return &CustomerSessions{records: records, businesses: businesses, views: views, links: links}
}

// CreateSignIn stores a sign-in for an address and returns its id. The work and the result do not depend on whether
// the business knows the address. Fault: invalid_parameter.
func (c *CustomerSessions) CreateSignIn(ctx context.Context, businessID uuid.UUID,
	req booking.NewSignIn) (uuid.UUID, error) {
	address, err := customer.Check(req.Email)
	if err != nil {
		return uuid.Nil, err
	}
	if len(req.Locale) > booking.MaxSignInLocale {
		return uuid.Nil, request.Invalid("locale: send at most %d characters.", booking.MaxSignInLocale)
	}
	id, err := uuid.NewRandom()
	if err != nil {
		return uuid.Nil, err
	}
	return id, c.records.CreateSignIn(ctx, store.SignIn{
		BusinessID: businessID, ID: id, Email: address, Locale: req.Locale, LinkHash: c.links.Hash(link.SignIn, id),
		ExpiresAt: c.views.clock.Now().Add(booking.SignInLifetime),
	})
}

// SignIn returns a sign-in with its link, for the mail to the customer. Fault: not_found if the link was used or has
// expired, or if the business was removed.
func (c *CustomerSessions) SignIn(ctx context.Context, businessID, id uuid.UUID) (*booking.SignIn, error) {
	found, isCustomer, err := c.records.FindSignIn(ctx, businessID, id, c.views.clock.Now())
	if err != nil {
		return nil, hideUnknown(err)
	}
	offer, err := c.offer(ctx, businessID)
	if err != nil {
		return nil, err
	}
	return &booking.SignIn{
		Email: found.Email, Locale: found.Locale, URL: c.links.SignInURL(offer.Slug, id, found.LinkHash),
		ExpiresAt: found.ExpiresAt, IsCustomer: isCustomer,
	}, nil
}

func (c *CustomerSessions) offer(ctx context.Context, businessID uuid.UUID) (*catalog.Snapshot, error) {
	offer, err := c.businesses.Offer(ctx, businessID)
	if fault.Is(err, fault.BusinessNotFound) {
		return nil, link.NewNotFoundFault()
	}
	return offer, err
}

// Create uses the token of a mailed link, once, and returns a new session. Fault: not_found.
func (c *CustomerSessions) Create(ctx context.Context, businessID uuid.UUID, token string) (*booking.NewSession, error) {
	linkHash, ok := link.HashToken(token)
	if !ok {
		return nil, link.NewNotFoundFault()
	}
	secret, hash := link.NewToken()
	now := c.views.clock.Now()
	until := now.Add(booking.SessionLifetime)
	if err := c.records.StartSession(ctx, businessID, linkHash, hash, now, until); err != nil {
		return nil, hideUnknown(err)
	}
	return &booking.NewSession{Secret: secret, ExpiresAt: until.UTC()}, nil
}

// Customer returns the canonical address of the customer of a session. Fault: not_found.
func (c *CustomerSessions) Customer(ctx context.Context, businessID uuid.UUID, secret string) (string, error) {
	hash, ok := link.HashToken(secret)
	if !ok {
		return "", link.NewNotFoundFault()
	}
	email, err := c.records.FindSession(ctx, businessID, hash, c.views.clock.Now())
	return email, hideUnknown(err)
}

// End ends a session, if it exists.
func (c *CustomerSessions) End(ctx context.Context, businessID uuid.UUID, secret string) error {
	hash, ok := link.HashToken(secret)
	if !ok {
		return nil
	}
	return c.records.EndSession(ctx, businessID, hash)
}

// SaleView is the customer view of a booking or an order, with its position
// in the list and the token of its link. The token is "" if the link has expired.
type SaleView struct {
	CustomerView
	Position booking.SalePosition
	Token    string
}

// Sales returns a page of the bookings and orders of a session's customer. Faults: not_found; invalid_parameter.
func (c *CustomerSessions) Sales(ctx context.Context, businessID uuid.UUID,
	req booking.CustomerSalesRequest) ([]SaleView, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	email, err := c.Customer(ctx, businessID, req.Secret)
	if err != nil {
		return nil, err
	}
	offer, err := c.offer(ctx, businessID)
	if err != nil {
		return nil, err
	}
	sales, err := c.records.CustomerSales(ctx, businessID, store.SalesQuery{
		Email: email, IsPast: req.IsPast, After: req.After, Limit: req.Limit, Now: c.views.clock.Now(),
	})
	if err != nil {
		return nil, err
	}
	all := make([]SaleView, len(sales))
	for i, sale := range sales {
		all[i] = c.newSaleView(offer, businessID, sale)
	}
	return all, nil
}

func (c *CustomerSessions) newSaleView(offer *catalog.Snapshot, businessID uuid.UUID, sale store.Sale) SaleView {
	target := store.LinkTarget{Kind: sale.Kind, BusinessID: businessID, ID: sale.Position.ID}
	var view CustomerView
	if sale.Kind == event.Ticket {
		target.EndsAt = sale.Ticket.EndsAt
		view = c.views.newTicketView(target, offer, sale.Ticket)
	} else {
		target.EndsAt = sale.Booking.EndsAt
		view = c.views.newBookingView(target, offer, sale.Booking)
	}
	shown := SaleView{CustomerView: view, Position: sale.Position}
	if !c.views.clock.Now().After(target.EndsAt.Add(link.Lifetime)) {
		shown.Token = c.links.Token(sale.Kind, sale.Position.ID, sale.LinkHash)
	}
	return shown
}
