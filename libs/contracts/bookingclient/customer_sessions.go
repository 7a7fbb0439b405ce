package bookingclient

import (
	"context"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
)

// Sessions is the client for the sign-ins and the sessions of customers. A session shows all
// bookings of one customer with one business. The booking service stores sign-ins and sessions.
type Sessions struct{ peer endpoints.Caller }

// NewSessions returns a client that sends its requests through the argument `caller`.
func NewSessions(caller endpoints.Caller) *Sessions { return &Sessions{peer: caller} }

// CreateSignIn stores a sign-in, whether the business knows the address or not. Before each call, the caller must
// count the request against its limits. Fault: invalid_parameter.
func (c *Sessions) CreateSignIn(ctx context.Context, businessID uuid.UUID, req booking.NewSignIn) (uuid.UUID, error) {
	out, err := CreateSignIn.Call(actor.With(ctx, actor.Actor{Kind: actor.Page}), c.peer,
		endpoints.About(businessID, req))
	if err != nil {
		return uuid.Nil, err
	}
	return out.ID, nil
}

// SignIn returns a sign-in whose link is still valid. Fault: not_found.
func (c *Sessions) SignIn(ctx context.Context, businessID, id uuid.UUID) (*booking.SignIn, error) {
	return ReadSignIn.Call(ctx, c.peer, SignInRequest{Business: businessID, ID: id})
}

// Create uses the token of a mailed link and returns the session of its customer. Every invalid token gets the same
// fault not_found: unknown, expired, used before, or of another business.
func (c *Sessions) Create(ctx context.Context, businessID uuid.UUID, token string) (*booking.NewSession, error) {
	return CreateSession.Call(byCustomer(ctx), c.peer,
		endpoints.About(businessID, booking.RedeemSignIn{Token: token}))
}

// Customer returns the customer of a session. Fault: not_found if the session does not exist or belongs to another
// business.
func (c *Sessions) Customer(ctx context.Context, businessID uuid.UUID,
	secret string) (*booking.SessionCustomer, error) {
	return ReadSession.Call(ctx, c.peer, endpoints.About(businessID, booking.SessionSecret{Secret: secret}))
}

// Sales returns one page of the bookings and orders of a session's customer. Faults: not_found as for
// [Sessions.Customer]; invalid_parameter.
func (c *Sessions) Sales(ctx context.Context, businessID uuid.UUID,
	req booking.CustomerSalesRequest) ([]booking.CustomerSale, error) {
	out, err := ListSales.Call(ctx, c.peer, endpoints.About(businessID, req))
	if err != nil {
		return nil, err
	}
	return out.Sales, nil
}

// End ends a session. It succeeds even if the session does not exist.
func (c *Sessions) End(ctx context.Context, businessID uuid.UUID, secret string) error {
	return EndSession.Send(byCustomer(ctx), c.peer, endpoints.About(businessID, booking.SessionSecret{Secret: secret}))
}
