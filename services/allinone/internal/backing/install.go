package backing

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// tool is a program that may be missing on a machine and that [installer] can install.
type tool string

const (
	toolPostgres tool = "PostgreSQL"
	toolRedis    tool = "redis-server"
	toolCompiler tool = "a C compiler"
)

// installer is the package manager of the machine. It must work without a password.
type installer struct {
	name     string
	command  []string // with its prefix, such as sudo
	update   []string // arguments that update the package lists; nil if each installation updates the lists
	install  []string // arguments before the names of the packages
	packages map[tool][]string
}

// installTimeout limits an installation. It is long enough for package lists and downloads over a slow connection.
const installTimeout = 10 * time.Minute

// aptGet is the apt-get command. If another process holds the lock of the package manager, the command waits for the
// lock.
var aptGet = []string{"env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=120"}

// findInstaller returns the package manager of the machine, or false if this user cannot use it.
func findInstaller(ctx context.Context) (installer, bool) {
	if runtime.GOOS == "darwin" {
		return findBrew()
	}
	if _, err := exec.LookPath("apt-get"); err != nil {
		return installer{}, false
	}
	apt := installer{
		name:    "apt-get",
		command: aptGet,
		update:  []string{"update"},
		install: []string{"install", "--no-install-recommends"},
		packages: map[tool][]string{
			toolPostgres: {"postgresql"},
			toolRedis:    {"redis-server"},
			toolCompiler: {"gcc", "libc6-dev"},
		},
	}
	if os.Geteuid() == 0 {
		return apt, true
	}
	if _, err := runForOutput(ctx, "sudo", "-n", "true"); err != nil {
		return installer{}, false
	}
	apt.command = append([]string{"sudo", "-n"}, aptGet...)
	return apt, true
}

func findBrew() (installer, bool) {
	for _, path := range []string{"brew", "/opt/homebrew/bin/brew", "/usr/local/bin/brew"} {
		program, err := exec.LookPath(path)
		if err != nil {
			continue
		}
		return installer{
			name:     "brew",
			command:  []string{program},
			install:  []string{"install"},
			packages: map[tool][]string{toolPostgres: {"postgresql@17"}, toolRedis: {"redis"}},
		}, true
	}
	return installer{}, false
}

// formatCommand returns the command that installs the packages of the given tools, in the form in which a person types
// it.
func (i installer) formatCommand(tools ...tool) string {
	command := []string{i.name, "install"}
	if i.command[0] == "sudo" {
		command = append([]string{"sudo"}, command...)
	}
	for _, t := range tools {
		command = append(command, i.packages[t]...)
	}
	return strings.Join(command, " ")
}

// installTools installs the packages of the given tools. installTools first prints a line about the installation.
func (i installer) installTools(ctx context.Context, say func(string), tools ...tool) error {
	var packages []string
	for _, t := range tools {
		packages = append(packages, i.packages[t]...)
	}
	if len(packages) == 0 {
		return fmt.Errorf("%s has no package of %s", i.name, tools)
	}
	say(fmt.Sprintf("Installing %s by %s; this can take a minute or two.", strings.Join(packages, ", "), i.name))
	if i.update != nil {
		if err := i.run(ctx, i.update...); err != nil {
			return err
		}
	}
	return i.run(ctx, append(append([]string{}, i.install...), packages...)...)
}

func (i installer) run(ctx context.Context, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, installTimeout)
	defer cancel()
	all := append(append([]string{}, i.command...), args...)
	out, err := exec.CommandContext(ctx, all[0], all[1:]...).CombinedOutput()
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return errors.Join(fmt.Errorf("%s was given up", i.name), ctx.Err())
	}
	return fmt.Errorf("%s %s failed: %s", i.name, args[0], findReason(string(out)))
}

// EnsureCompiler reports whether the machine has a C compiler, which Go's race detector needs. If there is none,
// EnsureCompiler tries to install one.
func EnsureCompiler(ctx context.Context, say func(line string)) bool {
	if hasCompiler(ctx) {
		return true
	}
	installer, ok := findInstaller(ctx)
	if !ok {
		return false
	}
	if err := installer.installTools(ctx, say, toolCompiler); err != nil {
		say("No C compiler: " + err.Error() + ".")
		return false
	}
	return hasCompiler(ctx)
}

// hasCompiler reports whether the C compiler can read the headers of the C library. A compiler without these headers
// does not suffice.
func hasCompiler(ctx context.Context) bool {
	name, err := runForOutput(ctx, "go", "env", "CC")
	if err != nil {
		return false
	}
	command := append(strings.Fields(name), "-fsyntax-only", "-x", "c", "-")
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	check := exec.CommandContext(ctx, command[0], command[1:]...)
	check.Stdin = strings.NewReader("#include <pthread.h>\n#include <stdlib.h>\n")
	return check.Run() == nil
}
