package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// Machine runs the Slotmesh of this machine in this program.
type Machine struct {
	// Run runs an action of the one process: its name, and its argument if it takes one. The error is one sentence.
	Run func(ctx context.Context, args []string) error
	// Settings is the part of the help that lists the settings.
	Settings string
	// Names are the names of all settings. A file with settings may contain no other name. If it is nil, each name may
	// occur.
	Names []string
}

// machinePrograms are the possible names of the all-in-one program, which runs all services of Slotmesh in one process.
// A program that is only a client starts this program, because it can read and write the tables of all services.
var machinePrograms = []string{"slotmesh-allinone", "allinone"}

// newMachineCommands returns the commands for the Slotmesh of this machine. The admin API has no calls for them,
// because most of them must run while the server does not run.
func (c *command) newMachineCommands() []*cobra.Command {
	settings := ""
	if c.host.Machine != nil {
		settings = "\n\n" + c.host.Machine.Settings
	}
	return []*cobra.Command{
		c.newMachineCommand("serve", "Run Slotmesh on this machine: all services in one process", `serve runs all services in one process until SIGINT or SIGTERM. Its settings are variables of the environment, or lines of the file --settings.`+settings),
		c.newMachineCommand("doctor", "Check this machine's Slotmesh, and print remedies", `doctor checks the settings, the home, the stores, mail, addresses, TLS, the clock and the backups of the Slotmesh on this machine.
It prints a line for each check. If a check fails, it exits with 1.`),
		c.newMachineCommand("health", "Report whether this machine's Slotmesh is ready", `health asks the Slotmesh on this machine at OPS_PORT whether all services are ready. Otherwise it exits with 1.`),
		c.newMachineCommand("backup FILE", "Write all data of a Slotmesh to a file, while it runs or not", `backup writes all data of the Slotmesh on this machine to a new file: that of the folder SLOTMESH_HOME (.slotmesh), or the database of DATABASE_URL.
It is consistent, also while Slotmesh runs: every booking that was answered before is in it. It holds customers' data and secrets.`),
		c.newMachineCommand("restore FILE", "Fill an empty Slotmesh from a file of backup", `restore fills the folder SLOTMESH_HOME (.slotmesh), or the database of DATABASE_URL, from a file of slotmesh backup. Neither may have data of Slotmesh yet,
and no Slotmesh may use them. The same release restores what it has backed up; stop the Slotmesh that was backed up before, as otherwise both write to customers.`),
		c.newMachineCommand("resume-feed FEED", "Continue sending messages after events were lost", `resume-feed lets messages continue with the oldest event that the feed still has. The log line about the loss names the feed.`),
	}
}

// newMachineCommand returns a command that runs an action of the one process. The argument `use` is the action's name,
// and the name of its argument if it takes one.
func (c *command) newMachineCommand(use, short, long string) *cobra.Command {
	action, argument, _ := strings.Cut(use, " ")
	args := cobra.NoArgs
	if argument != "" {
		args = cobra.ExactArgs(1)
	}
	var settings string
	cmd := &cobra.Command{Use: use, Short: short, Long: long, Args: args,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := setFromFile(settings, c.host.Machine); err != nil {
				return &localError{fmt.Errorf("--settings: %w", err)}
			}
			return c.runMachine(cmd.Context(), append([]string{action}, args...))
		}}
	cmd.Flags().StringVar(&settings, "settings", "",
		"file with lines NAME=value; variables of the environment have precedence")
	return cmd
}

// runMachine runs an action of the one process: in this program, or by the all-in-one program on this machine.
func (c *command) runMachine(ctx context.Context, args []string) error {
	if c.host.Machine == nil {
		return c.runMachineProgram(ctx, args)
	}
	if err := c.host.Machine.Run(ctx, args); err != nil {
		return &localError{err}
	}
	return nil
}

// runMachineProgram runs the all-in-one program with the environment and the standard streams of this command.
func (c *command) runMachineProgram(ctx context.Context, args []string) error {
	program, err := findMachineProgram()
	if err != nil {
		return err
	}
	run := exec.CommandContext(ctx, program, args...)
	run.Stdin, run.Stdout, run.Stderr = c.host.Stdin, c.host.Stdout, c.host.Stderr
	// When ctx ends, the command interrupts the program instead of killing it. So the program can remove its incomplete
	// output.
	run.Cancel = func() error { return run.Process.Signal(os.Interrupt) }
	err = run.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); ended {
		return errReported
	}
	if err != nil {
		return &localError{fmt.Errorf("%s cannot be run: %w", program, err)}
	}
	return nil
}

// errReported means that the all-in-one program failed and has already printed the reason.
var errReported = errors.New("said already")

// findMachineProgram returns the path of the all-in-one program. It looks for the program in the folder of this
// program, and then on the PATH.
func findMachineProgram() (string, error) {
	if own, err := os.Executable(); err == nil {
		for _, name := range machinePrograms {
			if found, err := exec.LookPath(filepath.Join(filepath.Dir(own), name)); err == nil {
				return found, nil
			}
		}
	}
	if found, err := exec.LookPath(machinePrograms[0]); err == nil {
		return found, nil
	}
	return "", &localError{fmt.Errorf("there is no program %s beside this one or on the PATH; `make run` and `make "+
		"build` make it", machinePrograms[0])}
}
