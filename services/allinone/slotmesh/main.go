// Command slotmesh is server and client in one program, for one machine: `slotmesh serve` runs all services, and the
// other commands are those of the client. `make dist` builds and packages it. The command is not in the folder cmd,
// because the client alone has the same name there (services/console).
package main

import (
	"context"
	"os"

	"github.com/sethvargo/go-envconfig"

	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/allinone"
	"github.com/slotmesh/slotmesh/services/console/client"
)

func main() {
	os.Exit(client.Run(&client.Machine{Run: run, Settings: allinone.Settings,
		Names: allinone.ListNames()}))
}

func run(ctx context.Context, args []string) error {
	if err := allinone.CheckNames(os.Environ()); err != nil {
		return err
	}
	server.LimitMemory()
	return allinone.Do(ctx, args, envconfig.OsLookuper(), os.Stdout)
}
