package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"
)

// machinePrograms are the possible names of the all-in-one program, which runs all services of Slotmesh in one process.
// The backup and restore commands start this program, because the program can read and write the tables of all
// services.
var machinePrograms = []string{"slotmesh-allinone", "allinone"}

// newBackupCommand returns the command that runs `slotmesh-allinone backup`. The admin API has no call for a backup or
// a restore, because a restore must run while the server does not run.
func (c *command) newBackupCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE",
		Short: "Write all that a Slotmesh knows to a file, while it runs or not",
		Long: `backup writes all that the Slotmesh on this machine knows to a new file: that of the folder SLOTMESH_HOME (.slotmesh), or the database of DATABASE_URL.
It is consistent, also while Slotmesh runs: every booking that was answered before is in it. It holds customers' data and secrets.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.runMachineProgram(cmd.Context(), "backup", args[0])
		},
	}
}

func (c *command) newRestoreCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "restore FILE",
		Short: "Fill an empty Slotmesh from a file of backup",
		Long: `restore fills the folder SLOTMESH_HOME (.slotmesh), or the database of DATABASE_URL, from a file of slotmesh backup. Neither may have data of Slotmesh yet,
and no Slotmesh may use them. The same release restores what it has backed up; stop the Slotmesh that was backed up before, as otherwise both write to customers.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.runMachineProgram(cmd.Context(), "restore", args[0])
		},
	}
}

// runMachineProgram runs the all-in-one program on this machine, with the environment and the standard streams of this
// command. The argument `label` is the subcommand to run: "backup" or "restore".
func (c *command) runMachineProgram(ctx context.Context, label, file string) error {
	program, err := findMachineProgram()
	if err != nil {
		return err
	}
	run := exec.CommandContext(ctx, program, label, file)
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
