package testkit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// PythonPackages are packages of PyPI, installed once, outside the checkout.
type PythonPackages struct{ at, python string }

// InstallPython installs packages, such as name==1.2.3, for the Python of this machine unless that was done before. Where it cannot be
// done, the test is skipped with a sentence that says why; on CI it fails (see [Lacks]).
func InstallPython(t *testing.T, packages ...string) PythonPackages {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		Lacks(t, "python3 is not installed")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		Lacks(t, "there is no cache folder: %v", err)
	}
	version, err := exec.CommandContext(t.Context(), python, "--version").Output() // packages may hold compiled code
	if err != nil {
		Lacks(t, "python3 does not start: %v", err)
	}
	sum := sha256.Sum256([]byte(string(version) + strings.Join(packages, " ")))
	at := filepath.Join(cache, "slotmesh", "python", hex.EncodeToString(sum[:8]))
	if _, err := os.Stat(at); err != nil {
		installPython(t, python, at, packages)
	}
	return PythonPackages{at, python}
}

// installPython puts packages aside first, so that a folder that is there is whole.
func installPython(t *testing.T, python, at string, packages []string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		Lacks(t, "%v", err)
	}
	aside, err := os.MkdirTemp(filepath.Dir(at), "installing-")
	if err != nil {
		Lacks(t, "%v", err)
	}
	defer func() { _ = os.RemoveAll(aside) }()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	run := exec.CommandContext(ctx, python, append([]string{"-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", aside}, packages...)...)
	run.WaitDelay = 5 * time.Second
	if out, err := run.CombinedOutput(); err != nil {
		Lacks(t, "pip could not install %s: %v\n%s", strings.Join(packages, " "), err, out[max(0, len(out)-4000):])
	}
	if err := os.Rename(aside, at); err != nil {
		if _, there := os.Stat(at); there != nil { // no other test was faster
			Lacks(t, "%v", err)
		}
	}
}

// Python runs Python with the packages in this folder, with further variables in its environment, such as NAME=value. A run that
// takes longer than a quarter of an hour is ended.
func (p PythonPackages) Python(t *testing.T, dir string, env []string, args ...string) ToolRun {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	run := exec.CommandContext(ctx, p.python, args...)
	run.Dir, run.WaitDelay = dir, 5*time.Second
	run.Env = append(append(os.Environ(), "HOME="+dir, "PYTHONPATH="+p.at, "PYTHONDONTWRITEBYTECODE=1", "NO_COLOR=1"), env...)
	var out, errs bytes.Buffer
	run.Stdout, run.Stderr = &out, &errs
	err := run.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatalf("python3 did not run: %v", err)
	}
	return ToolRun{out.String(), errs.String(), run.ProcessState.ExitCode()}
}

// Path is where the packages are, as PYTHONPATH names it.
func (p PythonPackages) Path() string { return p.at }
