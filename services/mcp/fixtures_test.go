package mcp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/limits"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/ratelimit"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/mcp/internal/gate"
)

// fixtures is the SDK's server with all tools, prompts and resources that the suite calls. Its version is that of the
// SDK in the service.
const fixtures = "github.com/modelcontextprotocol/go-sdk/conformance/everything-server"

// buildFixtures compiles the server with the fixtures and returns the path of the program.
func buildFixtures(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "fixtures")
	testkit.Build(t, ".", program, fixtures)
	return program
}

// runFixtures runs the program behind the HTTP server and the gate of the service. It returns the public address of
// that server.
func runFixtures(t *testing.T, program, mode string) string {
	t.Helper()
	behind := testkit.Serve(t, func(address string) *exec.Cmd { return exec.Command(program, "-http", address, mode) })
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	proxy := &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: behind}) },
	}
	return startGate(t, proxy)
}

// fixedSlug returns the slug "harbor" for every business.
type fixedSlug struct{}

func (fixedSlug) Slug(context.Context, uuid.UUID) (string, error) { return "harbor", nil }

// startGate serves a protocol handler as the service serves its own: on libs/platform/server, behind the gate. It
// returns the address.
func startGate(t *testing.T, protocol http.Handler) string {
	t.Helper()
	beside := httptest.NewServer(newPeers())
	t.Cleanup(beside.Close)
	cfg := server.Config{
		PublicAddr: "127.0.0.1:0", InternalAddr: "127.0.0.1:0",
		RequestTimeout: 2 * time.Minute, DrainTimeout: 2 * time.Minute, PublicBodyLimit: 256 << 10,
		InternalBodyLimit: 1000,
	}
	now := clock.Fixed(time.Date(2027, 3, 1, 6, 0, 0, 0, time.UTC))
	srv, err := server.New(cfg, server.Runtime{Open: true, Name: "mcp", Clock: now, Telemetry: telemetry.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	keys := peer.New("booking", beside.URL, telemetry.Discard(), peer.Timeout(testkit.MaxWait))
	t.Cleanup(keys.Close)
	local := ratelimit.NewLocal(now)
	g := &gate.Gate{Keys: bookingclient.NewAgents(keys), Limits: limits.New(limits.Config{}, local, local,
		telemetry.Discard()), Slugs: fixedSlug{}, Protocol: protocol}
	srv.HandleHTTP("/mcp", g.Serve)
	return runServer(t, srv)
}
