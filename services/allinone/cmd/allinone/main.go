// Command allinone runs all services of Slotmesh in one process. The command can also back up and restore the data of
// the services. See package allinone.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/sethvargo/go-envconfig"

	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/allinone"
)

func main() {
	if done, err := allinone.HandleArguments(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "slotmesh: "+err.Error())
		os.Exit(2)
	} else if done {
		return
	}
	if err := allinone.CheckNames(os.Environ()); err != nil {
		fmt.Fprintln(os.Stderr, "slotmesh: "+err.Error())
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	server.LimitMemory()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	if err := allinone.Do(ctx, os.Args[1:], envconfig.OsLookuper(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "slotmesh: "+err.Error())
		os.Exit(1)
	}
}
