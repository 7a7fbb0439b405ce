// Package sales has the use cases for the sales of a business: bookings, class sessions, tickets of events, and
// reservations of rentals. It also has the use cases for the calendar, the customers, and the messages to customers.
// The booking service and the rental service store the data. The package logs each change with the person or program
// that made the change.
package sales

import (
	"context"

	"github.com/slotmesh/slotmesh/services/console/internal/identity"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

// UseCases implements the use cases of sales as methods.
type UseCases struct {
	*peers.Peers
	Testers Testers
}

// Testers finds the people who get test messages. [identity.Accounts] implements it.
type Testers interface {
	// AllowTestMessage returns the verified e-mail address of a principal, and counts a message to it.
	AllowTestMessage(ctx context.Context, by peers.Principal) (string, error)
}

var _ Testers = (*identity.Accounts)(nil)
