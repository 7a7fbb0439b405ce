// Package console is the client of console's internal API, with its types.
package console

import (
	"context"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
)

// MaxAddresses bounds the addresses of one request.
const MaxAddresses = 100

// Addresses holds e-mail addresses of a request or a response.
type Addresses struct {
	Emails []string `json:"emails"`
}

// API is console's internal API.
var API = endpoints.NewAPI("console")

// VerifiedMembers returns those of the addresses that belong to members of the business or to
// operators of Slotmesh. The person must have verified the address. The result has the
// spelling of the request. Fault: invalid_parameter for more than [MaxAddresses].
var VerifiedMembers = endpoints.Ask[AddressesOf, Addresses](API, "/internal/businesses/:business/members/verified",
	"notifications")

// AddressesOf is the request of [VerifiedMembers].
type AddressesOf = endpoints.With[endpoints.OfBusiness, Addresses]

// Client is the client of console's internal API.
type Client struct{ peer endpoints.Caller }

// NewClient returns a client that sends its requests through at.
func NewClient(at endpoints.Caller) *Client { return &Client{at} }

// VerifiedMembers calls [VerifiedMembers].
func (c *Client) VerifiedMembers(ctx context.Context, businessID uuid.UUID, emails []string) ([]string, error) {
	answer, err := VerifiedMembers.Call(ctx, c.peer, endpoints.About(businessID, Addresses{Emails: emails}))
	if err != nil {
		return nil, err
	}
	return answer.Emails, nil
}
