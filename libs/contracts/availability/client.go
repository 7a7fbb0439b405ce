package availability

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/contracts/typed"
)

// Client is the client of the internal API of the availability service.
type Client struct{ peer typed.Asker }

// NewClient returns a client that sends its requests through the argument `peer`.
func NewClient(peer typed.Asker) *Client { return &Client{peer: peer} }

// Bookable returns the assignments that can serve one start. Faults: business_not_found, service_not_found,
// invalid_parameter; fault.PeerUnavailable if availability did not answer, or could not reach the catalog service.
func (c *Client) Bookable(ctx context.Context, request BookableRequest) (*BookableResponse, error) {
	return typed.Ask[BookableResponse](ctx, c.peer, "/internal/bookable", request)
}

// WorkingTime returns the working time of each active staff member. Faults:
// business_not_found, invalid_parameter; fault.PeerUnavailable as for Bookable.
func (c *Client) WorkingTime(ctx context.Context, request WorkingTimeRequest) (*WorkingTime, error) {
	return typed.Ask[WorkingTime](ctx, c.peer, "/internal/working-time", request)
}

// Agenda returns the working, occupied and free time of all staff members. Faults: the faults of [Client.WorkingTime].
func (c *Client) Agenda(ctx context.Context, request AgendaRequest) (*Agenda, error) {
	return typed.Ask[Agenda](ctx, c.peer, "/internal/agenda", request)
}

// Explain returns why customers can or cannot book one start. If availability cannot read the
// data that it needs, Computed of the result is false. Faults: the faults of [Client.Bookable].
func (c *Client) Explain(ctx context.Context, request ExplainRequest) (*Explanation, error) {
	return typed.Ask[Explanation](ctx, c.peer, "/internal/explain", request)
}

// FindConflicts returns those of the given bookings that an unpublished
// offer would not permit. Faults: the faults of [Client.Bookable].
func (c *Client) FindConflicts(ctx context.Context, request ConflictsRequest) (*ConflictsResponse, error) {
	return typed.Ask[ConflictsResponse](ctx, c.peer, "/internal/outside", &request)
}
