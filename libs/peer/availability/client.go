package availability

import "context"

// Asker sends a POST that only reads and decodes its answer; *peer.Client is the one outside tests. Its errors are
// faults.
type Asker interface {
	Ask(ctx context.Context, path string, in, out any) error
}

// Client is availability's internal API.
type Client struct{ peer Asker }

// NewClient returns a client that speaks through peer.
func NewClient(peer Asker) *Client { return &Client{peer: peer} }

// Bookable asks by whom one start can be served. Faults: business_not_found, service_not_found, invalid_parameter, and
// fault.PeerUnavailable where availability, or catalog behind it, does not answer.
func (c *Client) Bookable(ctx context.Context, request BookableRequest) (*BookableResponse, error) {
	var out BookableResponse
	if err := c.peer.Ask(ctx, "/internal/bookable", request, &out); err != nil {
		return nil, err
	}
	return &out, nil
}

// WorkingTime asks how long members work. Faults: business_not_found, invalid_parameter, and fault.PeerUnavailable as of Bookable.
func (c *Client) WorkingTime(ctx context.Context, request WorkingTimeRequest) (*WorkingTime, error) {
	var out WorkingTime
	if err := c.peer.Ask(ctx, "/internal/working-time", request, &out); err != nil {
		return nil, err
	}
	return &out, nil
}

// Explain asks why one start can or cannot be booked; what could not be read makes the answer not computed. Faults as of
// Bookable.
func (c *Client) Explain(ctx context.Context, request ExplainRequest) (*Explanation, error) {
	var out Explanation
	if err := c.peer.Ask(ctx, "/internal/explain", request, &out); err != nil {
		return nil, err
	}
	return &out, nil
}
