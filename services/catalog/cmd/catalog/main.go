// Command catalog runs the catalog service. The command `catalog migrate` applies the migrations of catalog's schema.
package main

import (
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/catalog"
)

func main() {
	server.Main(server.Service[catalog.Config]{Name: "catalog", New: catalog.New, Migrate: catalog.Migrate})
}
