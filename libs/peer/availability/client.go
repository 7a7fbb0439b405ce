package availability

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/peer/typed"
)

// Client is availability's internal API.
type Client struct{ peer typed.Asker }

// NewClient returns a client that speaks through peer.
func NewClient(peer typed.Asker) *Client { return &Client{peer: peer} }

// Bookable asks by whom one start can be served. Faults: business_not_found, service_not_found, invalid_parameter, and
// fault.PeerUnavailable where availability, or catalog behind it, does not answer.
func (c *Client) Bookable(ctx context.Context, request BookableRequest) (*BookableResponse, error) {
	return typed.Ask[BookableResponse](ctx, c.peer, "/internal/bookable", request)
}

// WorkingTime asks how long members work. Faults: business_not_found, invalid_parameter, and fault.PeerUnavailable as of Bookable.
func (c *Client) WorkingTime(ctx context.Context, request WorkingTimeRequest) (*WorkingTime, error) {
	return typed.Ask[WorkingTime](ctx, c.peer, "/internal/working-time", request)
}

// Agenda asks when members work, what takes their time and when they are free. Faults as of WorkingTime.
func (c *Client) Agenda(ctx context.Context, request AgendaRequest) (*Agenda, error) {
	return typed.Ask[Agenda](ctx, c.peer, "/internal/agenda", request)
}

// Explain asks why one start can or cannot be booked; what could not be read makes the answer not computed. Faults as of
// Bookable.
func (c *Client) Explain(ctx context.Context, request ExplainRequest) (*Explanation, error) {
	return typed.Ask[Explanation](ctx, c.peer, "/internal/explain", request)
}

// Outside asks which bookings an offer that is not published yet would leave outside. Faults as of Bookable.
func (c *Client) Outside(ctx context.Context, request OutsideRequest) (*OutsideResponse, error) {
	return typed.Ask[OutsideResponse](ctx, c.peer, "/internal/outside", &request)
}
