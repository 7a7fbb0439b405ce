// Command console runs the console service. `console migrate` brings the tables of the service up to date.
package main

import (
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/console"
)

func main() {
	server.Main(server.Service[console.Config]{Name: "console", New: console.New, Migrate: console.Migrate})
}
