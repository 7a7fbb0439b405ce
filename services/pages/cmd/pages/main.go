// Command pages runs the pages service in a separate process.
package main

import (
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/pages"
)

func main() {
	server.Main(server.Service[pages.Config]{Name: "pages", New: pages.New})
}
