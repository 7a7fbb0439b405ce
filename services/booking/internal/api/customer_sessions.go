package api

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/booking/internal/usecase"
)

// CustomerSessions serves the sign-ins and the sessions of customers to the services pages, notifications and rental.
// Addresses, tokens and secrets are in bodies, never in paths, so that no log and no span contains them.
type CustomerSessions struct {
	sessions *usecase.CustomerSessions
	views    *CustomerLinks
}

// NewCustomerSessions returns the internal API of customers' sessions. The argument `views` shows single sales.
func NewCustomerSessions(sessions *usecase.CustomerSessions, views *CustomerLinks) *CustomerSessions {
	return &CustomerSessions{sessions: sessions, views: views}
}

// Mount adds the endpoints of customers' sessions.
func (a *CustomerSessions) Mount(r *server.Internal) {
	server.Mount(r, bookingclient.CreateSignIn, a.createSignIn)
	server.Mount(r, bookingclient.ReadSignIn, a.readSignIn)
	server.Mount(r, bookingclient.CreateSession, a.create)
	server.Mount(r, bookingclient.ReadSession, a.readCustomer)
	server.Mount(r, bookingclient.ListSales, a.listSales)
	server.Mount(r, bookingclient.EndSession, a.end)
}

func (a *CustomerSessions) createSignIn(ctx context.Context,
	r endpoints.With[endpoints.OfBusiness, booking.NewSignIn]) (*booking.SignInID, error) {
	id, err := a.sessions.CreateSignIn(ctx, r.At.Business, r.Body)
	if err != nil {
		return nil, err
	}
	return &booking.SignInID{ID: id}, nil
}

func (a *CustomerSessions) readSignIn(ctx context.Context, r bookingclient.SignInRequest) (*booking.SignIn, error) {
	return a.sessions.SignIn(ctx, r.Business, r.ID)
}

func (a *CustomerSessions) create(ctx context.Context,
	r endpoints.With[endpoints.OfBusiness, booking.RedeemSignIn]) (*booking.NewSession, error) {
	return a.sessions.Create(ctx, r.At.Business, r.Body.Token)
}

func (a *CustomerSessions) readCustomer(ctx context.Context,
	r endpoints.With[endpoints.OfBusiness, booking.SessionSecret]) (*booking.SessionCustomer, error) {
	email, err := a.sessions.Customer(ctx, r.At.Business, r.Body.Secret)
	if err != nil {
		return nil, err
	}
	return &booking.SessionCustomer{Email: email}, nil
}

func (a *CustomerSessions) listSales(ctx context.Context,
	r endpoints.With[endpoints.OfBusiness, booking.CustomerSalesRequest]) (*booking.CustomerSales, error) {
	sales, err := a.sessions.Sales(ctx, r.At.Business, r.Body)
	if err != nil {
		return nil, err
	}
	return &booking.CustomerSales{Sales: convertAll(sales, a.showSale)}, nil
}

func (a *CustomerSessions) end(ctx context.Context,
	r endpoints.With[endpoints.OfBusiness, booking.SessionSecret]) (*endpoints.None, error) {
	return nil, a.sessions.End(ctx, r.At.Business, r.Body.Secret)
}

func (a *CustomerSessions) showSale(v usecase.SaleView) booking.CustomerSale {
	return booking.CustomerSale{Position: v.Position, Token: v.Token, CustomerView: a.views.showView(v.CustomerView)}
}
