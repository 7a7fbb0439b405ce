package pricing

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/peer/typed"
)

// QuotesPath is where the internal port answers a [QuotesRequest].
const QuotesPath = "/internal/quotes"

// Client is pricing's internal API.
type Client struct{ peer typed.Asker }

// NewClient returns a client that speaks through peer.
func NewClient(peer typed.Asker) *Client { return &Client{peer: peer} }

// Quotes prices every item, in the order asked, all or none. Faults: business_not_found; service_not_found,
// rental_not_found, or not_found for an unknown event, tier or variant; invalid_parameter naming the item and field;
// fault.PeerUnavailable where pricing did not answer or could not read the offer.
func (c *Client) Quotes(ctx context.Context, request QuotesRequest) (*QuotesResponse, error) {
	return typed.Ask[QuotesResponse](ctx, c.peer, QuotesPath, request)
}
