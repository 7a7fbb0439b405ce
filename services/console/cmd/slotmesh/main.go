// Command slotmesh is the command line of the admin API.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/slotmesh/slotmesh/services/console/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	code := cli.Run(ctx, cli.Host{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv},
		os.Args[1:])
	stop()
	os.Exit(code)
}
