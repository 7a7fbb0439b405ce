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

// installPackages returns the folder, outside the checkout, that contains the packages of a kind. If the folder does
// not exist, installPackages creates it. For this purpose, it runs the command that the function `install` returns for
// a folder, with the packages as additional arguments. If the content of the folder depends on other inputs, the
// argument `of` contains them.
//
// The command installs the packages into a temporary folder, and installPackages then renames this folder. An existing
// folder is therefore always complete, even if several tests install the packages at the same time.
func installPackages(t *testing.T, kind, of string, packages []string, install func(folder string) []string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		SkipOrFail(t, "there is no cache folder: %v", err)
	}
	sum := sha256.Sum256([]byte(of + strings.Join(packages, " ")))
	at := filepath.Join(cache, "slotmesh", kind, hex.EncodeToString(sum[:8]))
	if _, err := os.Stat(at); err == nil {
		return at
	}
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		SkipOrFail(t, "%v", err)
	}
	temporary, err := os.MkdirTemp(filepath.Dir(at), "installing-")
	if err != nil {
		SkipOrFail(t, "%v", err)
	}
	defer func() { _ = os.RemoveAll(temporary) }()
	ctx, cancel := context.WithTimeout(t.Context(), installTimeout)
	defer cancel()
	command := append(install(temporary), packages...)
	run := exec.CommandContext(ctx, command[0], command[1:]...)
	run.WaitDelay = 5 * time.Second
	if out, err := run.CombinedOutput(); err != nil {
		SkipOrFail(t, "%s could not install %s: %v\n%s", filepath.Base(command[0]), strings.Join(packages, " "), err,
			out[max(0, len(out)-4000):])
	}
	if err := os.Rename(temporary, at); err != nil {
		if _, statErr := os.Stat(at); statErr != nil { // no other test has installed the packages in the meantime
			SkipOrFail(t, "%v", err)
		}
	}
	return at
}

// ToolRun is the result of a program: its exit code and output.
type ToolRun struct {
	Stdout, Stderr string
	Exit           int
}

// runTool runs a program in the folder `dir`, which is also the program's home directory. The argument `env` holds
// additional environment variables of the form NAME=value. The program is killed after 15 minutes.
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
