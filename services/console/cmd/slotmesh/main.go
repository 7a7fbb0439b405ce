// Command slotmesh is the command line of the admin API.
package main

import (
	"os"

	"github.com/slotmesh/slotmesh/services/console/client"
)

func main() { os.Exit(client.Run(nil)) }
