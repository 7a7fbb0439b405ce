package testkit

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/testkit/inputs"
)

// Build builds commands of a module as `make build` does, into a file, or a folder where its name ends with a slash. That is without cgo, which
// the race detector alone needs: everything is compiled already where the linter, or `make build`, has run.
func Build(t testing.TB, module, into string, commands ...string) {
	t.Helper()
	inputs.Checkout()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	run := exec.CommandContext(ctx, "go", append([]string{"build", "-o", into}, commands...)...)
	run.Dir, run.Env, run.WaitDelay = module, append(os.Environ(), "CGO_ENABLED=0"), time.Minute
	if said, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v does not build: %v\n%s", commands, err, said)
	}
}
