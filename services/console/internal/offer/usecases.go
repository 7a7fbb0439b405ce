// Package offer has the use cases of what a business offers: the first visit, the forms, the text and the versions of a
// manifest, time off, a pause, and removing a business. The service catalog owns the data. Before an offer is
// published, the package finds the bookings, tickets and reservations that would conflict with it. Its packages read
// and write the text (document), fill in objects (form), describe changes (changes, plan), and have the first manifests
// (template).
package offer

import (
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
	"github.com/slotmesh/slotmesh/services/console/internal/sales"
)

// UseCases implements the actions on the offer.
type UseCases struct {
	*peers.Peers
	Sales    *sales.UseCases
	Removals RemovalNotes
	Mailer   OwnerMailer
}
