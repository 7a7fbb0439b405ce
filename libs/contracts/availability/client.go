package availability

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/contracts/typed"
)

// Client is the client of availability's internal API.
type Client struct{ peer typed.Asker }

// NewClient returns a client that sends its requests through peer.
func NewClient(peer typed.Asker) *Client { return &Client{peer: peer} }

// Bookable returns the ways to serve one start. Faults: business_not_found, service_not_found,
// invalid_parameter; fault.PeerUnavailable if availability did not answer, or could not reach catalog.
func (c *Client) Bookable(ctx context.Context, request BookableRequest) (*BookableResponse, error) {
	return typed.Ask[BookableResponse](ctx, c.peer, "/internal/bookable", request)
}

// WorkingTime returns how long members work. Faults: business_not_found,
// invalid_parameter, fault.PeerUnavailable as for Bookable.
func (c *Client) WorkingTime(ctx context.Context, request WorkingTimeRequest) (*WorkingTime, error) {
	return typed.Ask[WorkingTime](ctx, c.peer, "/internal/working-time", request)
}

// Agenda returns the working, occupied and free time of all members. Faults: those of WorkingTime.
func (c *Client) Agenda(ctx context.Context, request AgendaRequest) (*Agenda, error) {
	return typed.Ask[Agenda](ctx, c.peer, "/internal/agenda", request)
}

// Explain returns the reason why one start can or cannot be booked. If required
// data cannot be read, the result has Computed false. Faults: those of Bookable.
func (c *Client) Explain(ctx context.Context, request ExplainRequest) (*Explanation, error) {
	return typed.Ask[Explanation](ctx, c.peer, "/internal/explain", request)
}

// Outside returns the bookings that would violate an offer that is not published yet. Faults: those of Bookable.
func (c *Client) Outside(ctx context.Context, request OutsideRequest) (*OutsideResponse, error) {
	return typed.Ask[OutsideResponse](ctx, c.peer, "/internal/outside", &request)
}
