package pricing

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
)

// API is the internal API of the pricing service.
var API = endpoints.NewAPI("pricing").WithoutBookings()

// Quotes returns either the prices of all items, in the order of the request, or none. Faults: business_not_found;
// service_not_found; rental_not_found; not_found for an unknown event, tier or variant; invalid_parameter, which names
// the item and the field; fault.PeerUnavailable if the pricing service did not answer or could not read the offer.
var Quotes = endpoints.Ask[QuotesRequest, QuotesResponse](API, "/internal/quotes", "catalog", "booking", "rental",
	"pages")

// Client is the client of the internal API of the pricing service.
type Client struct{ peer endpoints.Caller }

// NewClient returns a client that sends its requests through the argument `peer`.
func NewClient(peer endpoints.Caller) *Client { return &Client{peer: peer} }

// Quotes calls the endpoint [Quotes].
func (c *Client) Quotes(ctx context.Context, request QuotesRequest) (*QuotesResponse, error) {
	return Quotes.Call(ctx, c.peer, request)
}
