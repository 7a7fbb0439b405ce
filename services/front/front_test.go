package front

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sethvargo/go-envconfig"

	"github.com/slotmesh/slotmesh/libs/contracts/components"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/config"
	"github.com/slotmesh/slotmesh/libs/platform/limits"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

// observedRequest is a request as a fake service received it.
type observedRequest struct {
	Service, Method, Host, URI string
	Header                     http.Header
	Body                       string
}

// newFakeService starts a service that answers 203 with the request that it received, as JSON.
func newFakeService(t *testing.T, name string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("X-Service", name)
		w.WriteHeader(http.StatusNonAuthoritativeInfo)
		_ = json.NewEncoder(w).Encode(observedRequest{name, r.Method, r.Host, r.RequestURI, r.Header, string(body)})
	}))
	t.Cleanup(s.Close)
	return s
}

// newFront runs a front without limits and returns its address.
func newFront(t *testing.T, cfg server.Config, change func(addresses map[string]string)) string {
	t.Helper()
	return newFrontFromConfig(t, Config{Server: cfg}, change)
}

// newFrontFromConfig runs a front with fake services and returns the address of the front. The
// function change may replace the addresses of the services.
func newFrontFromConfig(t *testing.T, all Config, change func(addresses map[string]string)) string {
	t.Helper()
	addresses := make(map[string]string)
	for _, name := range ServiceNames() {
		addresses[name] = newFakeService(t, name).Listener.Addr().String()
	}
	if change != nil {
		change(addresses)
	}
	cfg := &all.Server
	cfg.RequestTimeout, cfg.DrainTimeout = 2*time.Minute, 2*time.Minute
	cfg.PublicBodyLimit, cfg.InternalBodyLimit = 1000, 1000
	cfg.PublicAddr, cfg.InternalAddr = "127.0.0.1:0", "127.0.0.1:0"
	rt := server.Runtime{Open: true, Name: "front", Clock: clock.System(), Telemetry: telemetry.Discard()}
	all.Upstreams = addresses
	srv, err := New(t.Context(), all, rt)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	runErr := make(chan error)
	go func() { runErr <- srv.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-runErr; err != nil {
			t.Error(err)
		}
	})
	return srv.PublicAddr().String()
}

// send writes a request without changes, because HTTP clients normalize the paths that these tests
// need. A write error is reported only if no response can be read: the front may answer before the
// whole request is sent, and closes the connection some seconds later.
func send(t *testing.T, address, request string) (*http.Response, string) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, sendErr := io.WriteString(conn, strings.ReplaceAll(request, "\n", "\r\n"))
	method, _, _ := strings.Cut(request, " ")
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatal(errors.Join(sendErr, err))
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

func formatGet(path string, headers ...string) string {
	return "GET " + path + " HTTP/1.1\nHost: slotmesh.example\nConnection: close\n" +
		strings.Join(append(headers, "\n"), "\n")
}

func decodeRequest(t *testing.T, body string) observedRequest {
	t.Helper()
	var s observedRequest
	if err := json.Unmarshal([]byte(body), &s); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return s
}

func TestForwardSendsEachPathToItsService(t *testing.T) {
	t.Parallel()
	address := newFront(t, server.Config{}, nil)
	for path, owner := range map[string]string{
		"info": "catalog", "services": "catalog", "staff": "catalog", "events": "catalog",
		"slots": "availability", "available-dates": "availability", "book": "booking",
		"rentals": "catalog", "rental-availability": "rental", "rental-available-dates": "availability",
	} {
		uri := "/api/public/harbor-studio/" + path + "?date=2027-03-01&q=%00%ff+x"
		response, body := send(t, address, formatGet(uri))
		got := decodeRequest(t, body)
		if response.StatusCode != http.StatusNonAuthoritativeInfo || got.Service != owner || got.URI != uri {
			t.Errorf("%s: %d %+v", path, response.StatusCode, got)
		}
		if h := response.Header.Get("X-Service"); h != owner {
			t.Errorf("%s: the header X-Service of the response is %q", path, h)
		}
	}
}

func TestForwardSendsAPIDescriptionToCatalog(t *testing.T) {
	t.Parallel()
	address := newFront(t, server.Config{}, nil)
	for path, want := range map[string]string{
		"openapi.json": "catalog", "docs": "catalog", "docs.js": "catalog", // paths of the interface
		"docs/info": "catalog", "docs/slots": "availability", // paths of a business with the slug docs
	} {
		for _, method := range []string{"GET", "OPTIONS"} {
			_, body := send(t, address, method+" /api/public/"+path+" HTTP/1.1\nHost: h\n\n")
			if got := decodeRequest(t, body); got.Service != want || got.Method != method || got.URI != "/api/public/"+
				path {
				t.Errorf("%s %s: %+v", method, path, got)
			}
		}
	}
}

func TestForwardKeepsHostKeyAndBodyOfAgents(t *testing.T) {
	t.Parallel()
	address := newFront(t, server.Config{}, nil)
	response, body := send(t, address, "POST /mcp HTTP/1.1\nHost: book.example\nOrigin: https://book.example\n"+
		"Authorization: Bearer sm_1\nMcp-Protocol-Version: 2025-11-25\nContent-Length: 2\n\n{}")
	got := decodeRequest(t, body)
	if response.Header.Get("X-Service") != "mcp" || got.URI != "/mcp" || got.Method != "POST" || got.Body != "{}" ||
		got.Host != "book.example" || got.Header.Get("Origin") != "https://book.example" ||
		got.Header.Get("Authorization") != "Bearer sm_1" || got.Header.Get("Mcp-Protocol-Version") != "2025-11-25" {
		t.Errorf("got %+v", got)
	}
}

func TestFrontAnswers404ToUnknownPaths(t *testing.T) {
	t.Parallel()
	address := newFront(t, server.Config{}, nil)
	for _, path := range []string{
		"/api/public/x", "/api/public/x/", "/api/public//info", "/api/public/x/info/", "/api/public/x/Info",
		"/API/public/x/info", "//api/public/x/info", "/api/public/x//info", "/api/public/x/info;a=b",
		"/api/public/x%2Finfo", "/api/public/x/../y/info",
		"/internal/offers/x", "/livez", "/readyz", "/metrics",
		"/admin/businesses", "/api/public/x/event", "/api/public/x/rental", "/mcp/", "/MCP", "/mcp/x",
		"/api/public/x/info%20",
		"/api/public/x/info%3Fa", "/api/public/x\\info", "/api/public/no.such/nothing",
	} {
		checkNotFound(t, address, path, "not_found", "There is nothing at this path.")
	}
}

func TestFrontAnswers404ToInvalidSlugs(t *testing.T) {
	t.Parallel()
	address := newFront(t, server.Config{}, nil)
	slugs := []string{"no.such", "caf%C3%A9", "caf\xe9", "x;a", "..", "%2e%2e", ".", "a%2Fb", "a%00b", "%zz", "\xff",
		"openapi.json"}
	for _, row := range components.All {
		for _, path := range row.Business {
			for _, slug := range slugs {
				checkNotFound(t, address, "/api/public/"+slug+"/"+path, "business_not_found", "Business not found")
			}
		}
	}
}

// checkNotFound checks that a path answers 404 with this code and sentence.
func checkNotFound(t *testing.T, address, path, code, sentence string) {
	t.Helper()
	response, body := send(t, address, formatGet(path))
	var fault map[string]string
	if err := json.Unmarshal([]byte(body), &fault); err != nil {
		t.Errorf("%q: %v: %s", path, err, body)
		return
	}
	if response.StatusCode != http.StatusNotFound || fault["messageCode"] != code || fault["error"] != sentence {
		t.Errorf("%q: %d %s, want 404 %s", path, response.StatusCode, body, code)
	}
}

// The front itself limits requests for unknown paths, in any spelling. No service receives them.
func TestFrontLimitsUnforwardedRequestsByAddress(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/nothing", "/b/a%20b", "/b/../metrics", "/api/public/no.such/info",
		"/api/public//info"} {
		address := newFrontFromConfig(t, Config{Limits: limits.Config{PublicPerMinute: 2, PagesPerMinute: 2}}, nil)
		// A request counts for one minute, from an instant between sentAt and answeredAt. The test compares with
		// both times, so that it also passes on a slow machine.
		sentAt, answeredAt := []time.Time{{}, {}}, []time.Time{{}, {}}
		for isRefused := false; !isRefused; {
			start := time.Now()
			response, body := send(t, address, formatGet(path))
			end := time.Now()
			want := http.StatusNotFound
			if isRefused = response.StatusCode == http.StatusTooManyRequests; isRefused {
				want = response.StatusCode
			}
			mayRefuse, mustRefuse := start.Sub(answeredAt[len(answeredAt)-2]) < time.Minute,
				end.Sub(sentAt[len(sentAt)-2]) < time.Minute
			if response.StatusCode != want || isRefused && !mayRefuse || !isRefused && mustRefuse ||
				response.Header.Get("RateLimit") == "" {
				t.Fatalf("%s: got %d %s with RateLimit %q after requests at %v", path, response.StatusCode, body,
					response.Header.Get("RateLimit"), sentAt[2:])
			}
			sentAt, answeredAt = append(sentAt, start), append(answeredAt, end)
		}
		if response, _ := send(t, address,
			formatGet("/api/public/x/slots")); response.StatusCode != http.StatusNonAuthoritativeInfo {
			t.Errorf("%s: a path of a service: got %d, want 203", path, response.StatusCode)
		}
	}
}

func TestForwardKeepsMethodAndBody(t *testing.T) {
	t.Parallel()
	address := newFront(t, server.Config{}, nil)
	request := "POST /api/public/x/book HTTP/1.1\nHost: h\nContent-Type: application/json\nAuthorization: Bearer sm_1\nIdempotency-Key: k\nContent-Length: 7\n\n{\"a\":1}"
	_, body := send(t, address, request)
	got := decodeRequest(t, body)
	if got.Method != "POST" || got.Body != `{"a":1}` || got.Header.Get("Authorization") != "Bearer sm_1" ||
		got.Header.Get("Idempotency-Key") != "k" || got.Header.Get("Content-Type") != "application/json" {
		t.Errorf("got %+v", got)
	}
	_, body = send(t, address, "POST /api/public/x/book HTTP/1.1\nHost: h\nContent-Length: 2\n\n{}")
	if got := decodeRequest(t, body).Header["Content-Type"]; got != nil {
		t.Errorf("the front added a Content-Type: %q", got)
	}
	_, body = send(t, address, "OPTIONS /api/public/x/info HTTP/1.1\nHost: h\n\n")
	if got := decodeRequest(t, body); got.Method != "OPTIONS" {
		t.Errorf("got %+v", got)
	}
	response, body := send(t, address, "HEAD /api/public/x/info HTTP/1.1\nHost: h\n\n")
	if body != "" || response.StatusCode != http.StatusNonAuthoritativeInfo ||
		response.Header.Get("X-Service") != "catalog" {
		t.Errorf("got %d %q", response.StatusCode, body)
	}
}

func TestFrontRejectsTooLargeBody(t *testing.T) {
	t.Parallel()
	address := newFront(t, server.Config{}, nil)
	large := strings.Repeat("x", 10<<20)
	response, body := send(t, address,
		fmt.Sprintf("POST /api/public/x/book HTTP/1.1\nHost: h\nContent-Length: %d\n\n%s", len(large), large))
	if response.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(body, "payload_too_large") {
		t.Errorf("got %d %s", response.StatusCode, body)
	}
}

func TestForwardSendsOneClientAddress(t *testing.T) {
	t.Parallel()
	withoutProxies := newFront(t, server.Config{}, nil)
	withProxies := newFront(t, server.Config{TrustedProxies: []string{"127.0.0.0/8", "10.0.0.0/8"}}, nil)
	forwarded := []string{"X-Forwarded-For: 6.6.6.6", "X-Forwarded-For: 192.0.2.7, 10.1.2.3", "X-Real-IP: 9.9.9.9",
		"Forwarded: for=9.9.9.9"}
	for _, test := range []struct{ address, want string }{{withoutProxies, "127.0.0.1"}, {withProxies, "192.0.2.7"}} {
		_, body := send(t, test.address, formatGet("/api/public/x/slots", forwarded...))
		got := decodeRequest(t, body)
		if diff := cmp.Diff([]string{test.want}, got.Header["X-Forwarded-For"]); diff != "" {
			t.Error(diff)
		}
		if got.Header.Get("X-Real-Ip")+got.Header.Get("Forwarded") != "" {
			t.Errorf("got %v", got.Header)
		}
	}
}

func TestForwardContinuesTrace(t *testing.T) {
	t.Parallel()
	address := newFront(t, server.Config{}, nil)
	const trace, span = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	response, body := send(t, address, formatGet("/api/public/x/slots", "traceparent: 00-"+trace+"-"+span+"-01"))
	parent := decodeRequest(t, body).Header.Get("Traceparent")
	if !strings.HasPrefix(parent, "00-"+trace+"-") || strings.Contains(parent, span) {
		t.Errorf("the service's parent is %q", parent)
	}
	if got := response.Header["Traceparent"]; len(got) != 1 || got[0] != parent {
		t.Errorf("the answer's traceparent is %q, want %q", got, parent)
	}
}

func TestForwardAnswers503IfServiceIsDown(t *testing.T) {
	t.Parallel()
	address := newFront(t, server.Config{}, func(addresses map[string]string) {
		addresses["availability"] = "127.0.0.1:1"
	})
	response, body := send(t, address, formatGet("/api/public/x/slots"))
	want := `{"error":"The availability service does not answer; try again shortly.","messageCode":"service_unavailable"}`
	if response.StatusCode != http.StatusServiceUnavailable || body != want {
		t.Errorf("got %d %s", response.StatusCode, body)
	}
	if response, _ := send(t, address, formatGet("/api/public/x/info")); response.StatusCode != http.StatusNonAuthoritativeInfo {
		t.Errorf("another service: got %d, want 203", response.StatusCode)
	}
}

// If the response to a booking is lost, the booking may have succeeded, so the front must not send it
// again.
func TestForwardSendsBookingOnlyOnce(t *testing.T) {
	t.Parallel()
	requests := make(chan struct{}, 10)
	booking := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests <- struct{}{}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_ = conn.Close()
	}))
	t.Cleanup(booking.Close)
	address := newFront(t, server.Config{}, func(addresses map[string]string) {
		addresses["booking"] = booking.Listener.Addr().String()
	})
	response, _ := send(t, address, "POST /api/public/x/book HTTP/1.1\nHost: h\nContent-Length: 2\n\n{}")
	if response.StatusCode != http.StatusServiceUnavailable || len(requests) != 1 {
		t.Errorf("got %d after %d requests", response.StatusCode, len(requests))
	}
}

func TestForwardAnswers503IfResponseIsCutOff(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	availability := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.Close() }()
		switch requests.Add(1) {
		case 1:
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf an answer")
			_ = conn.(*net.TCPConn).SetLinger(0)
		case 2:
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nhalf a chunk")
			_ = conn.(*net.TCPConn).SetLinger(0)
		case 3: // complete without a body, like the response to HEAD
			_, _ = io.WriteString(conn,
				"HTTP/1.1 304 Not Modified\r\nContent-Length: 1000\r\nConnection: close\r\n\r\n")
		default:
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nConnection: close\r\n\r\n")
		}
	}))
	t.Cleanup(availability.Close)
	address := newFront(t, server.Config{}, func(addresses map[string]string) {
		addresses["availability"] = availability.Listener.Addr().String()
	})
	for _, step := range []struct {
		method string
		want   int
	}{{"GET", http.StatusServiceUnavailable}, {"GET", http.StatusServiceUnavailable}, {"GET", http.StatusNotModified},
		{"HEAD", http.StatusOK}} {
		response, body := send(t, address, step.method+" /api/public/x/slots HTTP/1.1\nHost: h\nConnection: close\n\n")
		if response.StatusCode != step.want {
			t.Errorf("%s: got %d %q, want %d", step.method, response.StatusCode, body, step.want)
		}
	}
}

func TestForwardDropsConnectionHeaders(t *testing.T) {
	t.Parallel()
	address := newFront(t, server.Config{}, nil)
	_, body := send(t, address, "GET /api/public/x/info HTTP/1.1\nHost: book.example\nConnection: keep-alive, X-Hop, Host\nX-Hop: 1\nX-End: 2\n\n")
	var got observedRequest
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	if got.Header.Get("X-Hop") != "" || got.Header.Get("X-End") != "2" || got.Host == "" {
		t.Errorf("the service sees the host %q and %v", got.Host, got.Header)
	}
}

func TestForwardAcceptsHTTP10WithoutHost(t *testing.T) {
	t.Parallel()
	address := newFront(t, server.Config{}, nil)
	response, body := send(t, address, "GET /api/public/x/info HTTP/1.0\n\n")
	if response.StatusCode != http.StatusNonAuthoritativeInfo {
		t.Errorf("HTTP/1.0 without Host is answered %d %s", response.StatusCode, body)
	}
}

func TestForwardAcceptsOnlyPlainPathsBelowPrefix(t *testing.T) {
	t.Parallel()
	address := newFront(t, server.Config{}, nil)
	for _, path := range []string{"/b/harbor", "/b/harbor/when?service=a%2Fb", "/m/mZ2Qm1rZyQ0v3pXkK1tW9g",
		"/calendar/x_y-z.ics", "/assets/pages-1.css", "/embed.js"} {
		if _, body := send(t, address, formatGet(path)); decodeRequest(t, body).Service != "pages" ||
			decodeRequest(t, body).URI != path {
			t.Errorf("%s: %s", path, body)
		}
	}
	for _, path := range []string{"/b", "/b/", "/b/a%2fb", "/b/../metrics", "/b/./x", "/b/a%20b", "/bb/x",
		"/embed.jsx"} {
		if response, body := send(t, address, formatGet(path)); response.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d %s", path, response.StatusCode, body)
		}
	}
}

func TestForwardSendsOwnPeerSecret(t *testing.T) {
	t.Parallel()
	const secret = "0123456789abcdef0123456789abcdef"
	address := newFront(t, server.Config{Peers: peer.Config{Secrets: []string{secret}}}, nil)
	_, body := send(t, address, formatGet("/api/public/x/slots", peer.SecretHeader+": guessed"))
	if diff := cmp.Diff([]string{peer.Credential(secret, "availability")},
		decodeRequest(t, body).Header[peer.SecretHeader]); diff != "" {
		t.Error(diff)
	}
	withoutSecret := newFront(t, server.Config{}, nil)
	if _, body := send(t, withoutSecret,
		formatGet("/api/public/x/slots", peer.SecretHeader+": guessed")); decodeRequest(t,
		body).Header[peer.SecretHeader] != nil {
		t.Errorf("the front forwards the secret of a client: %s", body)
	}
}

func TestHealthCheckAnswersOnPublicPort(t *testing.T) {
	t.Parallel()
	address := newFront(t, server.Config{}, nil)
	if response, body := send(t, address, formatGet(HealthPath)); response.StatusCode != http.StatusOK ||
		body != "ok\n" {
		t.Errorf("got %d %q", response.StatusCode, body)
	}
}

// A stopping pod closes its idle connections. If a request was not sent because of that, the front
// retries it with any method.
func TestForwardRetriesClosedIdleConnection(t *testing.T) {
	t.Parallel()
	booking := newFakeService(t, "booking")
	address := newFront(t, server.Config{}, func(addresses map[string]string) {
		addresses["booking"] = booking.Listener.Addr().String()
	})
	for range 5 {
		response, body := send(t, address, "POST /api/public/x/book HTTP/1.1\nHost: h\nContent-Length: 2\n\n{}")
		if response.StatusCode != http.StatusNonAuthoritativeInfo {
			t.Errorf("got %d %s", response.StatusCode, body)
		}
		booking.CloseClientConnections()
	}
}

func TestValidateNamesWrongUpstreams(t *testing.T) {
	t.Parallel()
	cfg := Config{Upstreams: map[string]string{"pricing": "slotmesh-pricing:8080", "booking": "slotmesh-booking"}}
	err := cfg.Validate()
	for _, want := range []string{"where the public port of booking is", "where the public port of catalog is",
		`"pricing" has no public paths`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want a sentence with %q", err, want)
		}
	}
}

func TestConfigReadsUpstreams(t *testing.T) {
	t.Parallel()
	var parts []string
	for _, name := range ServiceNames() {
		parts = append(parts, name+"=slotmesh-"+name+":8080")
	}
	var cfg Config
	if err := config.Load(t.Context(), &cfg,
		envconfig.MapLookuper(map[string]string{"UPSTREAMS": strings.Join(parts, ",")})); err != nil {
		t.Fatal(err)
	}
	if cfg.Upstreams["booking"] != "slotmesh-booking:8080" || len(cfg.Upstreams) != len(ServiceNames()) {
		t.Errorf("read as %v", cfg.Upstreams)
	}
}

func TestForwardKeepsEncodedPath(t *testing.T) {
	t.Parallel()
	address := newFront(t, server.Config{}, nil)
	_, body := send(t, address, formatGet("/api/public/x/%69nfo?a=%41"))
	if got := decodeRequest(t, body); got.Service != "catalog" || got.URI != "/api/public/x/info?a=%41" {
		t.Errorf("got %+v", got)
	}
}

// The front answers a GET with a body as the service answers a GET without one. No service receives
// the body.
func TestForwardDropsBodyOfGet(t *testing.T) {
	t.Parallel()
	bookings := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); err != nil || len(body) > 0 {
			t.Errorf("the service was sent %q, %v", body, err)
		}
		w.Header().Set("Allow", "POST, OPTIONS")
		w.WriteHeader(http.StatusMethodNotAllowed)
	}))
	t.Cleanup(bookings.Close)
	address := newFront(t, server.Config{}, func(addresses map[string]string) {
		addresses["booking"] = bookings.Listener.Addr().String()
	})
	for path, want := range map[string]int{"/api/public/x/book": http.StatusMethodNotAllowed,
		"/api/public/x/info": http.StatusBadRequest} {
		response, body := send(t, address, "GET "+path+" HTTP/1.1\nHost: slotmesh.example\nContent-Length: 2\n\n{}")
		if response.StatusCode != want || !response.Close {
			t.Errorf("%s: %d %v %s", path, response.StatusCode, response.Header, body)
		}
	}
}

// A browser that requests an unknown path gets a page of the pages service, without the unknown path. Other clients get
// JSON.
func TestUnknownPathShowsPageToBrowsers(t *testing.T) {
	t.Parallel()
	address := newFront(t, server.Config{}, nil)
	for _, path := range []string{"/nothing", "/internal/offers", "/b/../metrics?x=1", "/api/public/x/nothing"} {
		_, body := send(t, address, formatGet(path, "Accept: text/html,*/*;q=0.8"))
		if got := decodeRequest(t, body); got.Service != "pages" || got.URI != notFoundPath {
			t.Errorf("%s: a browser is sent to %q of %s", path, got.URI, got.Service)
		}
		for _, request := range []string{formatGet(path), formatGet(path, "Accept: application/json, */*"),
			strings.Replace(formatGet(path, "Accept: text/html"), "GET", "DELETE", 1)} {
			response, body := send(t, address, request)
			if response.StatusCode != http.StatusNotFound || !strings.Contains(body, `"messageCode":"not_found"`) {
				t.Errorf("%s: %d %s", path, response.StatusCode, body)
			}
		}
	}
}

// A browser gets the JSON answer if the pages service does not answer.
func TestUnknownPathWithoutPagesService(t *testing.T) {
	t.Parallel()
	stopped := newFakeService(t, "pages")
	stopped.Close()
	address := newFront(t, server.Config{}, func(addresses map[string]string) {
		addresses["pages"] = stopped.Listener.Addr().String()
	})
	response, body := send(t, address, formatGet("/nothing", "Accept: text/html"))
	if response.StatusCode != http.StatusNotFound || !strings.Contains(body, `"messageCode":"not_found"`) {
		t.Errorf("%d %s", response.StatusCode, body)
	}
}
