// Package apis lists the internal endpoints of all services, for tests and tools that
// examine all of them. The endpoints are declared in the packages of the services' clients.
package apis

import (
	"maps"
	"slices"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/catalogclient"
	"github.com/slotmesh/slotmesh/libs/contracts/console"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/contracts/pricing"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
)

// All holds the internal endpoints of all services.
var All = func() []*endpoints.Row {
	var rows []*endpoints.Row
	for _, api := range []*endpoints.API{availability.API, bookingclient.API, catalogclient.API,
		console.API, notifications.API, pricing.API, rental.API} {
		rows = append(rows, api.Rows()...)
	}
	return rows
}()

// Of returns the internal endpoints of a service.
func Of(service string) []*endpoints.Row {
	return slices.DeleteFunc(slices.Clone(All), func(r *endpoints.Row) bool { return r.Service != service })
}

// Calls returns the names of the services whose endpoints the service `caller` may call, sorted.
func Calls(caller string) []string {
	called := map[string]bool{}
	for _, row := range All {
		if _, named := row.Callers[caller]; named {
			called[row.Service] = true
		}
	}
	return slices.Sorted(maps.Keys(called))
}
