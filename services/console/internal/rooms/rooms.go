// Package rooms has one struct with the use cases of all packages below internal that implement a subject, such as
// reports. Each of these packages is called a room. The owner's pages and the admin API call the use cases.
package rooms

import (
	"github.com/slotmesh/slotmesh/services/console/internal/identity"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
	"github.com/slotmesh/slotmesh/services/console/internal/integrations"
	"github.com/slotmesh/slotmesh/services/console/internal/offer"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
	"github.com/slotmesh/slotmesh/services/console/internal/reports"
	"github.com/slotmesh/slotmesh/services/console/internal/sales"
)

// Rooms has the use cases of all rooms. A room is a package of console that implements one subject, such as sales.
type Rooms struct {
	*peers.Peers
	Accounts     *identity.Accounts
	Offer        *offer.UseCases
	Sales        *sales.UseCases
	Reports      *reports.UseCases
	Integrations *integrations.UseCases
}

// New returns the use cases. All use cases share the clients of other services, the tables and the accounts.
func New(services *peers.Peers, records *store.Store, accounts *identity.Accounts) *Rooms {
	salesUseCases := &sales.UseCases{Peers: services, Testers: accounts}
	return &Rooms{
		Peers: services, Accounts: accounts, Sales: salesUseCases,
		Offer: &offer.UseCases{Peers: services, Sales: salesUseCases, Removals: records, Mailer: accounts,
			Owners: accounts},
		Reports:      &reports.UseCases{Peers: services},
		Integrations: &integrations.UseCases{Peers: services, Tokens: records},
	}
}
