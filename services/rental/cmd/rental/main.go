// Command rental runs the rental service; `rental migrate` brings its tables up to date.
package main

import (
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/rental"
)

func main() {
	server.Main(server.Service[rental.Config]{Name: "rental", New: rental.New, Migrate: rental.Migrate})
}
