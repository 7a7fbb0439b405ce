// Command booking runs the booking service. The command `booking migrate` applies the migrations of booking's schema.
package main

import (
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/booking"
)

func main() {
	server.Main(server.Service[booking.Config]{Name: "booking", New: booking.New, Migrate: booking.Migrate})
}
