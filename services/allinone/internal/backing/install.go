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

// tool is a program that may be missing on a machine.
type tool string

const (
	toolPostgres tool = "PostgreSQL"
	toolRedis    tool = "redis-server"
	toolCompiler tool = "a C compiler"
)

// installer is the package manager of the machine, if we may use it without a password.
type installer struct {
	name     string
	command  []string // with its prefix, such as sudo
	update   []string // arguments that refresh the package lists; nil if the package manager does so itself
	install  []string // arguments before the packages
	packages map[tool][]string
}

// installTimeout is the time limit of an installation: package lists, downloads and unpacking over a slow line.
const installTimeout = 10 * time.Minute

// aptGet is the apt-get command. It waits for the lock of a running upgrade and does not fail at once.
var aptGet = []string{"env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=120"}

// findInstaller returns the package manager that this user can use, if there is one.
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

// formatCommand returns the command that installs the tools' packages, as a person would type it.
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

// installTools installs the tools' packages and announces it first.
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

// EnsureCompiler installs a C compiler if there is none, because Go's race detector needs one. It reports whether there
// is a compiler.
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

// hasCompiler reports whether Go's compiler can read the headers of the C library. A compiler without the headers is
// not enough.
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
