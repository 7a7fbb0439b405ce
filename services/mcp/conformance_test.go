package mcp_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/slotmesh/slotmesh/libs/testkit"
)

// conformancePackage is the npm package of the conformance suite of MCP.
const conformancePackage = "@modelcontextprotocol/conformance@0.2.0-alpha.12"

// newKeyProxy starts a proxy that adds a key to each request, because the suite cannot send one. It returns the address
// of the proxy. The header Host stays unchanged.
func newKeyProxy(t *testing.T, address, key string) string {
	t.Helper()
	target := &url.URL{Scheme: "http", Host: address}
	transport := &http.Transport{}
	proxy := httptest.NewServer(&httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host
		r.Out.Body = readWhole(r.In.Body)
		r.Out.Header.Set("Authorization", "Bearer "+key)
	}})
	t.Cleanup(func() { proxy.Close(); transport.CloseIdleConnections() })
	return proxy.URL + "/mcp"
}

// readWhole reads a body to its end and returns a reader of its content. A proxy that sends an answer while it still
// reads the request may lose the connection.
func readWhole(body io.ReadCloser) io.ReadCloser {
	if body == nil {
		return nil
	}
	read, err := io.ReadAll(body)
	if err != nil {
		return io.NopCloser(iotest.ErrReader(err))
	}
	return io.NopCloser(bytes.NewReader(read))
}

// plainScenarios lists, by revision of MCP, the scenarios that pass without the tools, prompts and resources that the
// suite expects.
var plainScenarios = map[string][]string{
	"2025-06-18": {
		"server-initialize", "server-session-lifecycle", "logging-set-level", "ping", "tools-list", "resources-list",
		"prompts-list",
	},
	"2025-11-25": {
		"server-initialize", "server-session-lifecycle", "logging-set-level", "ping", "tools-list", "resources-list",
		"prompts-list",
		"dns-rebinding-protection", "server-sse-multiple-streams", "server-sse-polling",
	},
	"2026-07-28": {
		"server-stateless", "tools-list", "resources-list", "prompts-list", "dns-rebinding-protection", "caching",
		"sep-2164-resource-not-found", "http-header-validation", "server-sse-multiple-streams",
		"input-required-result-missing-input-response", "input-required-result-unsupported-methods",
		"input-required-result-ignore-extra-params", "input-required-result-validate-input",
	},
}

// fixtureScenarios lists the checks of the scenario server-stateless that call the suite's own tools. Without these
// tools, the suite reports that the checks cannot be done.
var fixtureScenarios = []string{
	"sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400",
	"sep-2575-http-server-no-independent-requests-on-stream", "sep-2575-server-no-log-without-loglevel",
}

func TestConformance(t *testing.T) {
	t.Parallel()
	suite := conformance{testkit.InstallNode(t, conformancePackage)}
	endpoint := newKeyProxy(t, startServer(t, newPeers()), "all")
	for revision, scenarios := range plainScenarios {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			found := suite.check(t, endpoint, revision)
			for _, scenario := range scenarios {
				checks, count := found[scenario]
				if !count {
					t.Errorf("%s was not run", scenario)
				}
				for _, c := range checks {
					if c.Status == failedStatus && !slices.Contains(fixtureScenarios, c.ID) {
						t.Errorf("%s: %s: %s", scenario, c.ID, c.ErrorMessage)
					}
				}
			}
		})
	}
}

// TestConformanceWithFixtures runs the fixtures behind the HTTP server and the gate of the
// service, and expects that every scenario passes. Before revision 2026-07-28, a server could ask its client something
// during a call in a session (sampling, elicitation). The fixtures for those revisions keep sessions. The service keeps
// none and asks nothing.
func TestConformanceWithFixtures(t *testing.T) {
	t.Parallel()
	suite := conformance{testkit.InstallNode(t, conformancePackage)}
	program := buildFixtures(t)
	for revision, c := range map[string]struct {
		mode      string
		scenarios int // minimal number of scenarios
	}{
		"2025-06-18": {"-stateless=false", 27}, "2025-11-25": {"-stateless=false", 33},
		"2026-07-28": {"-stateless=true", 40},
	} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			found := suite.check(t, newKeyProxy(t, runFixtures(t, program, c.mode), "all"), revision)
			count := 0
			for scenario, checks := range found {
				if strings.HasPrefix(scenario, isTaskScenario) {
					continue
				}
				count++
				for _, c := range checks {
					if c.Status == failedStatus {
						t.Errorf("%s: %s: %s", scenario, c.ID, c.ErrorMessage)
					}
				}
			}
			if count < c.scenarios {
				t.Errorf("%d scenarios were run, want %d: %q", count, c.scenarios, slices.Sorted(maps.Keys(found)))
			}
		})
	}
}

// isTaskScenario is the prefix of the scenarios of an extension. The SDK does not implement the extension, and no
// revision requires it.
const isTaskScenario = "tasks-"

// conformance is the installed conformance suite.
type conformance struct{ testkit.NodePrograms }

// checkResult is one check in the suite's report of a scenario.
type checkResult struct {
	ID, Status, ErrorMessage string
}

const failedStatus = "FAILURE"

// isSlow is a script that multiplies the timeouts of the suite by twenty. The suite waits only half a second for some
// answers, which is too short on a busy machine.
const isSlow = `
const { setTimeout: timer } = globalThis;
globalThis.setTimeout = (then, milliseconds, ...args) => timer(then, 20 * milliseconds, ...args);
const { timeout } = AbortSignal;
AbortSignal.timeout = (milliseconds) => timeout.call(AbortSignal, 20 * milliseconds);
`

// check runs the scenarios of a revision and returns the checks of each scenario.
func (s conformance) check(t *testing.T, endpoint, revision string) map[string][]checkResult {
	t.Helper()
	reports := t.TempDir()
	// The timeout is in milliseconds for each scenario.
	args := []string{"server", "--url", endpoint, "--output-dir", reports, "--timeout", "30000"}
	// The suite has no list of the requirements of this revision.
	if revision == "2025-06-18" {
		args = append(args, "--suite", "all", "--spec-version", revision)
	} else {
		args = append(args, "--requirements", revision)
	}
	dir := t.TempDir()
	slow := filepath.Join(dir, "slow.cjs")
	if err := os.WriteFile(slow, []byte(isSlow), 0o600); err != nil {
		t.Fatal(err)
	}
	// The exit code is ignored, because it covers all scenarios.
	run := s.RunIn(t, dir, []string{"NODE_OPTIONS=--require=" + slow}, "conformance", args...)
	files, err := filepath.Glob(filepath.Join(reports, "server-*", "checks.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no reports, %v: %s", err, run.Stdout+run.Stderr)
	}
	found := make(map[string][]checkResult)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var checks []checkResult
		if err := json.Unmarshal(text, &checks); err != nil {
			t.Fatal(err)
		}
		found[scenarioName(filepath.Base(filepath.Dir(file)))] = checks
	}
	return found
}

// scenarioName returns the name of the scenario in the name of a folder, server-<scenario>-<time>.
func scenarioName(folder string) string {
	const timeLength = len("-2026-11-21T07-22-14-855Z")
	return strings.TrimPrefix(folder[:len(folder)-timeLength], "server-")
}
