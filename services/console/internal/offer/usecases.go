// Package offer has the use cases of what a business offers: the first visit, the forms, the text and the versions of a
// manifest, time off, a pause, and removing a business. The service catalog stores the manifests. Before an offer is
// published, the package finds the bookings, tickets and reservations that would conflict with it.
//
// The package document reads and writes the text of a manifest. The package form shows and writes objects of a manifest
// in HTML forms. The packages changes and plan describe changes. The package template makes first manifests by trade.
package offer

import (
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
	"github.com/slotmesh/slotmesh/services/console/internal/sales"
)

// UseCases has the use cases of the offer as methods.
type UseCases struct {
	*peers.Peers
	Sales    *sales.UseCases
	Removals RemovalNotes
	Mailer   OwnerMailer
}
