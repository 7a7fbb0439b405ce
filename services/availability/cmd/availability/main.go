// Command availability runs the availability service.
package main

import (
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/availability"
)

func main() {
	server.Main(server.Service[availability.Config]{Name: "availability", New: availability.New})
}
