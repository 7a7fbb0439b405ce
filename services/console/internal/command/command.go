// Package command implements the slotmesh command, which makes the calls of the admin API (admin.md) available on the
// command line.
//
// The command prints results on standard output, as a table, JSON, YAML or CSV. It prints an error as one sentence on
// standard error. Exit codes:
//   - 0: success
//   - 1: the server refused the request, or the manifest is not valid
//   - 2: unknown command, flag or argument
//   - 3: the server gave no answer
//   - 4: the plan conflicts with existing bookings, reservations or tickets
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/platform/build"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// The exit codes of the command; the package comment describes them.
const (
	exitDone = iota
	exitRefused
	exitUsage
	exitUnreachable
	exitOutside // the plan command: publishing would conflict with existing bookings, reservations or tickets
)

// Host is the command's access to the machine: standard streams, environment and time.
type Host struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	// Machine runs Slotmesh in this program. If Machine is nil, the commands for this machine start another program.
	Machine *Machine
	// Wait waits for the duration `d` between two requests to the server, or until ctx ends. If Wait is nil, the
	// command uses the machine's clock.
	Wait func(ctx context.Context, d time.Duration) error
}

// Run runs the command with its arguments, which do not include the program's name, and returns the exit code.
func Run(ctx context.Context, host Host, args []string) int {
	root := newRoot(host)
	root.SetArgs(args)
	ran, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitDone
	}
	var invalid *invalidManifest
	if errors.As(err, &invalid) || errors.Is(err, errReported) {
		return exitRefused // the command has already printed the problems
	}
	code := exitCode(err)
	_, _ = fmt.Fprintf(host.Stderr, "slotmesh: %s\n", describeError(ran, err))
	if code == exitUsage {
		_, _ = fmt.Fprintf(host.Stderr, "Usage: %s\n", ran.UseLine())
	}
	return code
}

func exitCode(err error) int {
	var refused *fault.Error
	var unreachable *unreachableError
	var local *localError
	var outside *conflictsError
	switch {
	case errors.As(err, &outside):
		return exitOutside
	case errors.As(err, &refused), errors.As(err, &local):
		return exitRefused
	case errors.As(err, &unreachable):
		return exitUnreachable
	}
	return exitUsage // errors of cobra, and errors of this command's flags and arguments
}

// localError is a failure on this machine, such as a file that cannot be read.
type localError struct{ error }

// command is one execution of slotmesh, with its flags and its access to the machine.
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
		Args:               checkCommand,
		RunE:               help,
		Version:            build.Version(),
	}
	root.SetIn(host.Stdin)
	root.SetOut(host.Stdout)
	root.SetErr(host.Stderr)
	flags := root.PersistentFlags()
	flags.StringVar(&c.server, "server", "", "address of the admin API")
	flags.StringVar(&c.token, "token", "", "admin token")
	flags.VarP(&c.output, "output", "o", "how to print: table, json, yaml or csv")
	flags.DurationVar(&c.timeout, "timeout", 30*time.Second, "how long to wait for each answer")
	mustComplete(root, "output", formats...)
	c.addCommands(root)
	c.completeFlags(root)
	return root
}

// addCommands adds all commands of slotmesh to root, in the groups that the help shows.
func (c *command) addCommands(root *cobra.Command) {
	for _, g := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Offer", append([]*cobra.Command{c.newInitCommand(), c.newImportCommand(), c.newValidateCommand(),
			c.newPlanCommand(),
			c.newApplyCommand(), c.newGetCommand(), c.newHistoryCommand(),
			c.newRollbackCommand(), c.newListCommand(),
			c.newDeleteCommand(), c.newPauseCommand(), c.newResumeCommand(),
			c.newSchemaCommand(), c.newMediaGroup()}, c.newContentsCommands()...)},
		{"Sales and customers", []*cobra.Command{c.newBookingsGroup(), c.newReservationsGroup(), c.newTicketsGroup(),
			c.newCustomersGroup(),
			c.newMessagesGroup(), c.newExplainCommand(),
			c.newReportsGroup(), c.newAuditCommand()}},
		{"Programs", []*cobra.Command{c.newKeysGroup(), c.newWebhooksGroup(), c.newCalendarsGroup()}},
		{"People and access", []*cobra.Command{c.newLoginCommand(), c.newUsersGroup(), c.newOperatorsGroup(),
			c.newTokensGroup()}},
		{"Installation", append(c.newMachineCommands(), newVersionCommand(c))},
	} {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, cmd := range g.commands {
			cmd.GroupID = g.title
		}
		root.AddCommand(g.commands...)
	}
}

func help(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// newGroup returns a command that only contains subcommands.
func newGroup(use, short string, commands ...*cobra.Command) *cobra.Command {
	g := &cobra.Command{Use: use, Short: short, Args: checkCommand, RunE: help}
	g.AddCommand(commands...)
	return g
}

// checkCommand returns an error for an unknown command, and suggests a command with a similar name.
func checkCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var words []string
	for _, sub := range cmd.Commands() {
		words = append(words, sub.Name())
	}
	if near := manifest.Nearest(args[0], words); near != "" {
		return fmt.Errorf("unknown command %q for %q; did you mean %s?", args[0], cmd.CommandPath(), near)
	}
	return fmt.Errorf("unknown command %q for %q; --help lists them", args[0], cmd.CommandPath())
}

func newVersionCommand(c *command) *cobra.Command {
	return &cobra.Command{Use: "version", Short: "Say which build of slotmesh this is", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return c.printDone(map[string]string{"version": build.Version()}, "slotmesh %s", build.Version())
		}}
}

// mustComplete sets the words with which a shell completes a flag. It panics if the flag does not exist, which is a
// bug.
func mustComplete(cmd *cobra.Command, flag string, words ...string) {
	if err := cmd.RegisterFlagCompletionFunc(flag,
		cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err)
	}
}
