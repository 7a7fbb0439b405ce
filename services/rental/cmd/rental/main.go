// Command rental runs the rental service. The command `rental migrate` applies the migrations of rental's schema.
package main

import (
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/rental"
)

func main() {
	server.Main(server.Service[rental.Config]{Name: "rental", New: rental.New, Migrate: rental.Migrate})
}
