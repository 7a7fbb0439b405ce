// Command operator runs the operator as a separate process.
package main

import (
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/operator"
)

func main() {
	server.Main(server.Service[operator.Config]{Name: "operator", New: operator.New})
}
