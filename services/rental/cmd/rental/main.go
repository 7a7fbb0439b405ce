// Command rental runs the rental service as a process of its own.
package main

import (
	"github.com/slotmesh/slotmesh/libs/server"
	"github.com/slotmesh/slotmesh/services/rental"
)

func main() {
	server.Main(server.Service[rental.Config]{Name: "rental", New: rental.New})
}
