package pricing

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
)

// API is pricing's internal API.
var API = endpoints.NewAPI("pricing")

// Quotes returns the prices of all items in their order, or none. Faults: business_not_found;
// service_not_found, rental_not_found, or not_found for an unknown event, tier or variant; invalid_parameter,
// which names the item and field; fault.PeerUnavailable if pricing did not answer or could not read the offer.
var Quotes = endpoints.Ask[QuotesRequest, QuotesResponse](API, "/internal/quotes", "catalog", "booking", "rental",
	"pages")

// Client is the client of pricing's internal API.
type Client struct{ peer endpoints.Caller }

// NewClient returns a client that sends its requests through peer.
func NewClient(peer endpoints.Caller) *Client { return &Client{peer: peer} }

// Quotes calls [Quotes].
func (c *Client) Quotes(ctx context.Context, request QuotesRequest) (*QuotesResponse, error) {
	return Quotes.Call(ctx, c.peer, request)
}
