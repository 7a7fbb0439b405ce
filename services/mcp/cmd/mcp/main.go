// Command mcp runs the mcp service as a process of its own.
package main

import (
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/mcp"
)

func main() {
	server.Main(server.Service[mcp.Config]{Name: "mcp", New: mcp.New})
}
