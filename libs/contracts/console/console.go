// Package console is the client of the internal API of the console
// service. It defines the types of requests and responses.
package console

import (
	"context"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
)

// MaxAddresses is the maximal number of email addresses in one request.
const MaxAddresses = 100

// Addresses is a list of email addresses in a request or a response.
type Addresses struct {
	Emails []string `json:"emails"`
}

// API is the internal API of the console service.
var API = endpoints.NewAPI("console")

// VerifiedMembers returns those of the given email addresses that belong to members of the business
// or to operators of Slotmesh. Only addresses that the member or operator has verified are returned,
// in the spelling of the request. Fault: invalid_parameter for more than [MaxAddresses] addresses.
var VerifiedMembers = endpoints.Ask[AddressesOf, Addresses](API, "/internal/businesses/:business/members/verified",
	"notifications")

// AddressesOf is the type of a request to [VerifiedMembers].
type AddressesOf = endpoints.With[endpoints.OfBusiness, Addresses]

// Client is the client of the internal API of the console service.
type Client struct{ peer endpoints.Caller }

// NewClient returns a client that sends its requests through the argument `at`.
func NewClient(at endpoints.Caller) *Client { return &Client{at} }

// VerifiedMembers calls the endpoint [VerifiedMembers].
func (c *Client) VerifiedMembers(ctx context.Context, businessID uuid.UUID, emails []string) ([]string, error) {
	answer, err := VerifiedMembers.Call(ctx, c.peer, endpoints.About(businessID, Addresses{Emails: emails}))
	if err != nil {
		return nil, err
	}
	return answer.Emails, nil
}
