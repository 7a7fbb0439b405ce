package pricing

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/contracts/typed"
)

// QuotesPath is the path of the internal port that answers a [QuotesRequest].
const QuotesPath = "/internal/quotes"

// Client is the client of pricing's internal API.
type Client struct{ peer typed.Asker }

// NewClient returns a client that sends its requests through peer.
func NewClient(peer typed.Asker) *Client { return &Client{peer: peer} }

// Quotes returns the prices of all items in their order, or none. Faults: business_not_found;
// service_not_found, rental_not_found, or not_found for an unknown event, tier or variant; invalid_parameter,
// which names the item and field; fault.PeerUnavailable if pricing did not answer or could not read the offer.
func (c *Client) Quotes(ctx context.Context, request QuotesRequest) (*QuotesResponse, error) {
	return typed.Ask[QuotesResponse](ctx, c.peer, QuotesPath, request)
}
