// Command front runs the front as a separate process.
package main

import (
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/front"
)

func main() {
	server.Main(server.Service[front.Config]{Name: "front", New: front.New})
}
