package server

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

const (
	oldSecret   = "old-secret-of-these-tests-9f3kq7vz2mxw"
	newSecret   = "new-secret-of-these-tests-t6yb4hd8rcpn"
	otherSecret = "the-secret-of-this-service-k2w7m4x9z1qv"
)

// startGuarded starts a server with one internal path, which requires a credential. The counter counts the requests
// that reach the handler.
func startGuarded(t *testing.T, calls *int) *Server {
	t.Helper()
	cfg := Config{PublicAddr: "127.0.0.1:0", InternalAddr: "127.0.0.1:0", RequestTimeout: testkit.MaxWait,
		DrainTimeout:    testkit.MaxWait,
		PublicBodyLimit: 1024, InternalBodyLimit: 1024, InternalHosts: []string{"Peers.example"}}
	cfg.Peers.Secrets = []string{otherSecret}
	cfg.Peers.Callers = []string{"pages=" + peer.HashCredential(newSecret), "pages=" + peer.HashCredential(oldSecret)}
	s, err := New(cfg, Runtime{Name: "test", Clock: clock.System(), Telemetry: telemetry.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	thing := endpoints.Ask[endpoints.None, endpoints.None](endpoints.NewAPI("test"), "/internal/thing", "pages")
	s.Internal.Handle(thing.Row, func(c *fiber.Ctx) error { *calls++; return c.SendString("{}") })
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s
}

// askInternal sends a request to the internal port with these headers. The header Host replaces the name of the port.
func askInternal(t *testing.T, s *Server, path string, header map[string]string) (*http.Response, []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.InternalAddr().String()+path,
		nil)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(path, "/internal") {
		request.Method = http.MethodGet
	}
	for key, value := range header {
		if key == "Host" {
			request.Host = value
			continue
		}
		request.Header.Set(key, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, _ := io.ReadAll(response.Body)
	return response, body
}

func TestInternalPortRequiresCredential(t *testing.T) {
	t.Parallel()
	calls := 0
	s := startGuarded(t, &calls)
	for name, c := range map[string]struct {
		path   string
		header map[string]string
		want   int
	}{
		"the secret that is shown": {"/internal/thing", map[string]string{peer.SecretHeader: newSecret}, 200},
		"the one before":           {"/internal/thing", map[string]string{peer.SecretHeader: oldSecret}, 200},
		"none":                     {"/internal/thing", nil, 403},
		"the called service's own": {"/internal/thing", map[string]string{peer.SecretHeader: otherSecret}, 403},
		"a hash": {"/internal/thing",
			map[string]string{peer.SecretHeader: peer.HashCredential(newSecret)}, 403},
		"another": {"/internal/thing", map[string]string{peer.SecretHeader: newSecret + "x"},
			403},
		"an empty one": {"/internal/thing", map[string]string{peer.SecretHeader: ""}, 403},
		"both at once": {"/internal/thing",
			map[string]string{peer.SecretHeader: newSecret + "," + oldSecret}, 403},
		"none, where nothing is": {"/nowhere", nil, 403},
		"a web page with the secret": {"/internal/thing", map[string]string{peer.SecretHeader: newSecret,
			"Origin": "http://127.0.0.1"}, 403},
		"a web page without a name": {"/internal/thing", map[string]string{peer.SecretHeader: newSecret,
			"Origin": "null"}, 403},
		"a name pointed here": {"/internal/thing", map[string]string{peer.SecretHeader: newSecret,
			"Host": "rebound.example"}, 403},
		"a name like ours": {"/internal/thing", map[string]string{peer.SecretHeader: newSecret,
			"Host": "x.svc.evil.example"}, 403},
		"the service's name": {"/internal/thing", map[string]string{peer.SecretHeader: newSecret,
			"Host": "slotmesh-booking:9090"}, 200},
		"the service's whole name": {"/internal/thing", map[string]string{peer.SecretHeader: newSecret,
			"Host": "slotmesh-booking.shop.svc.cluster.local:9090"}, 200},
		"a name that was set": {"/internal/thing", map[string]string{peer.SecretHeader: newSecret,
			"Host": "peers.example:9090"}, 200},
		"an address of IPv6": {"/internal/thing", map[string]string{peer.SecretHeader: newSecret,
			"Host": "[::1]:9090"}, 200},
		"a probe":                       {"/livez", nil, 200},
		"readiness":                     {"/readyz", nil, 200},
		"metrics":                       {"/metrics", nil, 200},
		"a probe through a web page":    {"/livez", map[string]string{"Origin": "http://evil.example"}, 403},
		"metrics under a name not ours": {"/metrics", map[string]string{"Host": "rebound.example"}, 403},
		"what looks like a probe":       {"/livez/../internal/thing", nil, 403},
	} {
		response, body := askInternal(t, s, c.path, c.header)
		if response.StatusCode != c.want {
			t.Errorf("%s: %d %s, want %d", name, response.StatusCode, body, c.want)
		}
		if c.want == http.StatusForbidden {
			checkFault(t, response, body, fault.SourceForbidden)
			if strings.Contains(string(body), "secret-of-the-tests") {
				t.Errorf("%s: the answer shows a secret", name)
			}
		}
	}
	if calls != 6 {
		t.Errorf("%d requests reached the handler, want 6", calls)
	}
}

func TestCallsSendFirstSecret(t *testing.T) {
	t.Parallel()
	credential := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		credential <- r.Header.Get(peer.SecretHeader)
	}))
	defer server.Close()
	cfg := peer.Config{Timeout: testkit.MaxWait, Secrets: []string{newSecret, oldSecret}}
	client := cfg.Client("peer", server.URL, telemetry.Discard())
	defer client.Close()
	if err := client.Call(t.Context(), http.MethodGet, "/", nil, nil); err != nil {
		t.Fatal(err)
	}
	if got := <-credential; got != peer.Credential(newSecret, "peer") {
		t.Errorf("%q was shown", got)
	}
}

func TestServerRequiresSecret(t *testing.T) {
	t.Parallel()
	_, err := New(Config{PublicAddr: "127.0.0.1:0", InternalAddr: "127.0.0.1:0"},
		Runtime{Name: "test", Clock: clock.System(), Telemetry: telemetry.Discard()})
	if err == nil || !strings.Contains(err.Error(), "PEER_SECRETS") {
		t.Errorf("got %v", err)
	}
	for _, secret := range []string{"", "short", strings.Repeat("x", 31), strings.Repeat("x", 31) + " ",
		strings.Repeat("ü", 32), "change-me-0123456789-0123456789-0123456789"} {
		cfg := peer.Config{Timeout: 1, Secrets: []string{newSecret, secret}}
		if err := cfg.Validate(); err == nil || strings.Contains(err.Error(), newSecret) ||
			!strings.Contains(err.Error(), "PEER_SECRETS") {
			t.Errorf("%q: %v", secret, err)
		}
	}
	cfg := peer.Config{Timeout: 1, Secrets: []string{newSecret}, Callers: []string{"pages=" + newSecret}}
	if err := cfg.Validate(); err == nil || strings.Contains(err.Error(), newSecret) || !strings.Contains(err.Error(),
		"PEER_CALLERS") {
		t.Errorf("a secret in place of its hash: %v", err)
	}
}
