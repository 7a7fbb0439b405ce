// Package offer has the use cases of a business's offer: the owner's first visit, the forms, text and versions of a
// manifest, time off, a pause of online bookings, and the removal of a business. The catalog service stores the
// manifests. Before an offer is published, the package finds the bookings, tickets and reservations that would conflict
// with it.
//
// The `document` package reads and writes the text of a manifest. The `form` package shows and writes objects of a
// manifest in HTML forms. The packages `changes` and `plan` describe changes. The `template` package makes the first
// manifest of a business for each trade.
package offer

import (
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
	"github.com/slotmesh/slotmesh/services/console/internal/sales"
)

// UseCases implements the use cases of the offer as methods.
type UseCases struct {
	*peers.Peers
	Sales    *sales.UseCases
	Removals RemovalRecords
	Mailer   OwnerMailer
	Owners   OwnerRecords
}
