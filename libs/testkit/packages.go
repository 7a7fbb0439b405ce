package testkit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// packagesIn returns the folder in which packages of kind lie, outside the checkout. Unless that was done before, it is filled by the command that
// install returns for a folder, given the packages as its last arguments; of is what the packages depend on beside their names. They are put aside
// first, so that a folder that is there is whole, also when many tests install at once.
func packagesIn(t *testing.T, kind, of string, packages []string, install func(folder string) []string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		Lacks(t, "there is no cache folder: %v", err)
	}
	sum := sha256.Sum256([]byte(of + strings.Join(packages, " ")))
	at := filepath.Join(cache, "slotmesh", kind, hex.EncodeToString(sum[:8]))
	if _, err := os.Stat(at); err == nil {
		return at
	}
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		Lacks(t, "%v", err)
	}
	aside, err := os.MkdirTemp(filepath.Dir(at), "installing-")
	if err != nil {
		Lacks(t, "%v", err)
	}
	defer func() { _ = os.RemoveAll(aside) }()
	ctx, cancel := context.WithTimeout(t.Context(), installWithin)
	defer cancel()
	command := append(install(aside), packages...)
	run := exec.CommandContext(ctx, command[0], command[1:]...)
	run.WaitDelay = 5 * time.Second
	if out, err := run.CombinedOutput(); err != nil {
		Lacks(t, "%s could not install %s: %v\n%s", filepath.Base(command[0]), strings.Join(packages, " "), err, out[max(0, len(out)-4000):])
	}
	if err := os.Rename(aside, at); err != nil {
		if _, there := os.Stat(at); there != nil { // no other test was faster
			Lacks(t, "%v", err)
		}
	}
	return at
}

// ToolRun is how a tool ended and what it wrote.
type ToolRun struct {
	Stdout, Stderr string
	Exit           int
}

// runTool runs a program in dir, which is its home too, with further variables in its environment, such as NAME=value. A run that takes longer than a
// quarter of an hour is ended.
func runTool(t *testing.T, dir string, env []string, input []byte, program string, args ...string) ToolRun {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	run := exec.CommandContext(ctx, program, args...)
	run.Dir, run.WaitDelay, run.Stdin = dir, 5*time.Second, bytes.NewReader(input)
	run.Env = append(append(os.Environ(), "HOME="+dir), env...)
	var out, errs bytes.Buffer
	run.Stdout, run.Stderr = &out, &errs
	if err := run.Run(); run.ProcessState == nil {
		t.Fatalf("%s did not start: %v", program, err)
	}
	return ToolRun{out.String(), errs.String(), run.ProcessState.ExitCode()}
}
