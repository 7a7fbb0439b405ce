// Command pricing runs the pricing service as a process of its own.
package main

import (
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/pricing"
)

func main() {
	server.Main(server.Service[pricing.Config]{Name: "pricing", New: pricing.New})
}
