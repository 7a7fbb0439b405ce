// Package console is console's internal API: what it takes and answers, and its client.
package console

import (
	"context"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/peer"
	"github.com/slotmesh/slotmesh/libs/peer/typed"
)

// MaxAddresses bounds the addresses of one question.
const MaxAddresses = 100

// Addresses are e-mail addresses: those of a question, or those of its answer.
type Addresses struct {
	Emails []string `json:"emails"`
}

// Client asks console.
type Client struct{ peer *peer.Client }

// NewClient returns a client of console at a peer.
func NewClient(at *peer.Client) *Client { return &Client{at} }

// VerifiedMembers returns those of at most [MaxAddresses] addresses whose holders have proved that an address is theirs
// and who are members of a business, or operators of the platform. It returns each as it was given. Fault:
// invalid_parameter for too many.
func (c *Client) VerifiedMembers(ctx context.Context, businessID uuid.UUID, emails []string) ([]string, error) {
	path := "/internal/businesses/" + businessID.String() + "/members/verified"
	answer, err := typed.Ask[Addresses](ctx, c.peer, path, Addresses{Emails: emails})
	if err != nil {
		return nil, err
	}
	return answer.Emails, nil
}
