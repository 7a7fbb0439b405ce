package testkit

import (
	"os/exec"
	"testing"

	"github.com/slotmesh/slotmesh/libs/testkit/inputs"
)

// PythonPackages are PyPI packages that are installed once, outside the checkout.
type PythonPackages struct{ at, python string }

// InstallPython installs PyPI packages, such as name==1.2.3, for the Python of this machine, unless they are already
// installed. If the installation fails, the test is skipped with the reason; on CI the test fails (see [SkipOrFail]).
func InstallPython(t *testing.T, packages ...string) PythonPackages {
	t.Helper()
	python, err := inputs.LookPath("python3")
	if err != nil {
		SkipOrFail(t, "python3 is not installed")
	}
	// The packages may contain code that is compiled for one version of Python.
	version, err := exec.CommandContext(t.Context(), python, "--version").Output()
	if err != nil {
		SkipOrFail(t, "python3 does not start: %v", err)
	}
	at := installPackages(t, "python", string(version), packages, func(folder string) []string {
		return []string{python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", folder}
	})
	return PythonPackages{at, python}
}

// Python runs Python with `args` in the folder `dir`. Python can import the packages. The argument `env` holds
// additional environment variables of the form NAME=value. The program is killed after 15 minutes.
func (p PythonPackages) Python(t *testing.T, dir string, env []string, args ...string) ToolRun {
	t.Helper()
	own := []string{"PYTHONPATH=" + p.at, "PYTHONDONTWRITEBYTECODE=1", "NO_COLOR=1"}
	return runTool(t, dir, append(own, env...), nil, p.python, args...)
}

// Path returns the folder of the packages, as a value for PYTHONPATH.
func (p PythonPackages) Path() string { return p.at }
