// Package client makes the slotmesh command, the command line of the admin API, available to programs that also run
// Slotmesh itself.
package client

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/slotmesh/slotmesh/services/console/internal/command"
)

// Machine runs Slotmesh in the program that calls [Run].
type Machine = command.Machine

// Run runs the slotmesh command with the arguments of this process, and returns the exit code. The argument `machine`
// is nil for a program that is only a client. The first signal ends the context of the command; a second signal ends
// the process.
func Run(machine *Machine) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return command.Run(ctx, command.Host{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv,
		Machine: machine}, os.Args[1:])
}
