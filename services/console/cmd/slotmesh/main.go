// Command slotmesh is the command line of the admin API.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/slotmesh/slotmesh/services/console/internal/command"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	code := command.Run(ctx, command.Host{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv},
		os.Args[1:])
	stop()
	os.Exit(code)
}
