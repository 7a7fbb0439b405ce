// Package rental is the service that will own rental reservations, pick-ups and returns, and answer whether units are
// free (interface.md, /rental-availability and /rental-available-dates; semantics.md §4).
//
// Today it is a shell: it runs, reports its health, and its public paths answer 404. What a business rents out is part
// of its offer, which catalog keeps; the reservations will live in this service's own schema, guarded like bookings.
package rental

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/server"
)

// Config are the service's settings.
type Config struct {
	Server server.Config
}

// New returns the service, ready to run.
func New(_ context.Context, cfg Config, rt server.Runtime) (*server.Server, error) {
	return server.New(cfg.Server, rt)
}
