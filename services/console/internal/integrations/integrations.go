// Package integrations has the use cases for connections between a business and other programs: API keys, calendar
// feeds and webhooks. It also lists and revokes the keys, feeds, webhooks and tokens that one member created. The
// booking service and the notifications service own the data.
package integrations

import "github.com/slotmesh/slotmesh/services/console/internal/peers"

// UseCases implements the actions on API keys, calendar feeds and webhooks.
type UseCases struct {
	*peers.Peers
	Tokens TokenStore
}
