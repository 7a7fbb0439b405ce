// Package console is the client of console's internal API, with its types.
package console

import (
	"context"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/typed"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
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

// VerifiedMembers returns those of the addresses in emails that belong to members of the
// business or to operators of Slotmesh. The person must have verified the address. The
// result has the spelling in emails. Fault: invalid_parameter for more than [MaxAddresses].
func (c *Client) VerifiedMembers(ctx context.Context, businessID uuid.UUID, emails []string) ([]string, error) {
	path := "/internal/businesses/" + businessID.String() + "/members/verified"
	answer, err := typed.Ask[Addresses](ctx, c.peer, path, Addresses{Emails: emails})
	if err != nil {
		return nil, err
	}
	return answer.Emails, nil
}
