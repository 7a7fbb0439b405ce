// Package cli is the slotmesh command: the admin API of admin.md on the command line.
//
// It prints what was asked for on standard output, as a table, JSON or YAML, and what went wrong as one sentence on
// standard error. Exit codes: 0 done; 1 refused, by the server or because the manifest is not valid; 2 called in a way
// that does not exist; 3 no answer from the server.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/slotmesh/slotmesh/libs/fault"
)

// Exit codes.
const (
	exitDone = iota
	exitRefused
	exitUsage
	exitUnreachable
)

// Host is what the command sees of the machine it runs on.
type Host struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
}

// Run runs the command with its arguments, without its own name, and returns the exit code.
func Run(ctx context.Context, host Host, args []string) int {
	root := newRoot(host)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	var invalid *invalidManifest
	if errors.As(err, &invalid) {
		return exitRefused // its problems are printed
	}
	_, _ = fmt.Fprintf(host.Stderr, "slotmesh: %s\n", sentence(err))
	return exitCode(err)
}

func exitCode(err error) int {
	var refused *fault.Error
	var unreachable *unreachable
	var local *localError
	switch {
	case errors.As(err, &refused), errors.As(err, &local):
		return exitRefused
	case errors.As(err, &unreachable):
		return exitUnreachable
	}
	return exitUsage // cobra's own, and those of our flags and arguments
}

func sentence(err error) string {
	var refused *fault.Error
	if !errors.As(err, &refused) {
		return strings.TrimSpace(err.Error())
	}
	if refused.Kind == fault.Unauthorized {
		return refused.Sentence + " Set it by slotmesh login, --token, SLOTMESH_ADMIN_TOKEN or the file admin-token in SLOTMESH_HOME."
	}
	if refused.Sentence == "" {
		return fmt.Sprintf("The server answered with status %d.", refused.Kind.Status)
	}
	return refused.Sentence
}

// localError is a failure on this machine, such as a file that cannot be read.
type localError struct{ error }

// command is one run of slotmesh.
type command struct {
	host    Host
	server  string
	token   string
	output  format
	timeout time.Duration
}

func newRoot(host Host) *cobra.Command {
	c := &command{host: host}
	root := &cobra.Command{
		Use:   "slotmesh",
		Short: "Publish businesses and look after their keys, bookings, reservations and tickets",
		Long: `slotmesh speaks the admin API: it publishes businesses and looks after their API keys, bookings,
rental reservations and tickets.

The server is --server, else SLOTMESH_SERVER, else ` + defaultServer + `.
The token is --token (others on this machine can see it), else SLOTMESH_ADMIN_TOKEN, else that of slotmesh login at this
server, else what the file admin-token holds in SLOTMESH_HOME, or in .slotmesh where that is not set.`,
		SilenceErrors:      true,
		SilenceUsage:       true,
		DisableSuggestions: true,
		Args:               cobra.NoArgs,
		RunE:               help,
	}
	root.SetIn(host.Stdin)
	root.SetOut(host.Stdout)
	root.SetErr(host.Stderr)
	flags := root.PersistentFlags()
	flags.StringVar(&c.server, "server", "", "address of the admin API")
	flags.StringVar(&c.token, "token", "", "admin token")
	flags.VarP(&c.output, "output", "o", "how to print: table, json or yaml")
	flags.DurationVar(&c.timeout, "timeout", 30*time.Second, "how long to wait for each answer")
	mustComplete(root, "output", formats...)
	root.AddCommand(c.apply(), c.validate(), c.get(), c.history(), c.rollback(), c.list(), c.delete(), c.keys(), c.bookings(),
		c.reservations(), c.tickets(), c.customers(), c.calendars(), c.audit(), c.webhooks(), c.messages(), c.explain(), c.reports(),
		c.users(), c.tokens(), c.login(), c.initialize(), c.diff())
	return root
}

func help(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// group is a command that only holds others.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	g := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: help}
	g.AddCommand(commands...)
	return g
}

// mustComplete completes a flag with fixed words; a flag that does not exist is a fault of the program.
func mustComplete(cmd *cobra.Command, flag string, words ...string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err)
	}
}
