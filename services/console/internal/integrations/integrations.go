// Package integrations has the use cases of what connects a business with other programs: API keys, calendar feeds and
// webhooks, and the list of those that one member made. The services booking and notifications own the data.
package integrations

import "github.com/slotmesh/slotmesh/services/console/internal/peers"

// UseCases implements the actions on API keys, calendar feeds and webhooks.
type UseCases struct {
	*peers.Peers
	Makers Makers
}
