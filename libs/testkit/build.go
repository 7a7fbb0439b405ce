package testkit

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/testkit/inputs"
)

// Build compiles Go commands of a module, as `make build` does. The argument `into` is the path of the output file, or
// of a folder if `into` ends with a slash. Build does not use cgo, so that it can reuse packages that the linter or
// `make build` has compiled.
func Build(t testing.TB, module, into string, commands ...string) {
	t.Helper()
	inputs.Checkout()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	run := exec.CommandContext(ctx, "go", append([]string{"build", "-o", into}, commands...)...)
	run.Dir, run.Env, run.WaitDelay = module, append(os.Environ(), "CGO_ENABLED=0"), time.Minute
	if output, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v does not build: %v\n%s", commands, err, output)
	}
}
