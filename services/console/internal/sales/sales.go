// Package sales has the use cases of what is sold: bookings, classes, tickets of events, and reservations of rentals;
// the calendar, the customers, and the messages to them. Package booking and package rental of the other services own
// the data. Each change is logged with the person who made it.
package sales

import "github.com/slotmesh/slotmesh/services/console/internal/peers"

// UseCases implements the actions on sales.
type UseCases struct{ *peers.Peers }
