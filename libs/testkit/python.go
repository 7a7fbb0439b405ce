package testkit

import (
	"os/exec"
	"testing"

	"github.com/slotmesh/slotmesh/libs/testkit/inputs"
)

// PythonPackages are packages of PyPI that are installed once, outside the checkout.
type PythonPackages struct{ at, python string }

// InstallPython installs packages, such as name==1.2.3, for the Python of this machine, unless they are
// already installed. If that is impossible, the test is skipped with the reason; on CI it fails (see [SkipOrFail]).
func InstallPython(t *testing.T, packages ...string) PythonPackages {
	t.Helper()
	python, err := inputs.LookPath("python3")
	if err != nil {
		SkipOrFail(t, "python3 is not installed")
	}
	// Packages may contain code compiled for this version.
	version, err := exec.CommandContext(t.Context(), python, "--version").Output()
	if err != nil {
		SkipOrFail(t, "python3 does not start: %v", err)
	}
	at := installPackages(t, "python", string(version), packages, func(folder string) []string {
		return []string{python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", folder}
	})
	return PythonPackages{at, python}
}

// Python runs Python in dir with these packages and additional environment
// variables, such as NAME=value. It is killed after 15 minutes.
func (p PythonPackages) Python(t *testing.T, dir string, env []string, args ...string) ToolRun {
	t.Helper()
	own := []string{"PYTHONPATH=" + p.at, "PYTHONDONTWRITEBYTECODE=1", "NO_COLOR=1"}
	return runTool(t, dir, append(own, env...), nil, p.python, args...)
}

// Path returns the folder of the packages, for PYTHONPATH.
func (p PythonPackages) Path() string { return p.at }
