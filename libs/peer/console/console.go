// Package console is the client of console's internal API, with its types.
package console

import (
	"context"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/peer"
	"github.com/slotmesh/slotmesh/libs/peer/typed"
)

// MaxAddresses bounds the addresses of one request.
const MaxAddresses = 100

// Addresses holds e-mail addresses of a request or a response.
type Addresses struct {
	Emails []string `json:"emails"`
}

// Client is the client of console's internal API.
type Client struct{ peer *peer.Client }

// NewClient returns a client that sends its requests through at.
func NewClient(at *peer.Client) *Client { return &Client{at} }

// VerifiedMembers returns the addresses among emails whose holders have verified them
// and are members of the business or operators of the platform. Their spelling is that
// of emails, which has at most [MaxAddresses]. Fault: invalid_parameter for too many.
func (c *Client) VerifiedMembers(ctx context.Context, businessID uuid.UUID, emails []string) ([]string, error) {
	path := "/internal/businesses/" + businessID.String() + "/members/verified"
	answer, err := typed.Ask[Addresses](ctx, c.peer, path, Addresses{Emails: emails})
	if err != nil {
		return nil, err
	}
	return answer.Emails, nil
}
