package server

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

// startServer runs a server on loopback with the routes that mount adds, and stops it when the test ends.
func startServer(t *testing.T, cfg Config, mount func(*Server)) *Server {
	t.Helper()
	cfg.PublicAddr, cfg.InternalAddr = "127.0.0.1:0", "127.0.0.1:0"
	if cfg.RequestTimeout == 0 {
		cfg.RequestTimeout = 2 * time.Minute
	}
	if cfg.PublicBodyLimit == 0 {
		cfg.PublicBodyLimit, cfg.InternalBodyLimit = 1024, 1024
	}
	cfg.DrainTimeout = 2 * time.Minute
	s, err := New(cfg, Runtime{Open: true, Name: "test", Clock: clock.System(), Telemetry: telemetry.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	mount(s)
	s.public.lingerTime = testkit.MaxWait // a slow machine may need long for reads and writes
	s.Public.Server().WriteTimeout = testkit.MaxWait
	if s.httpPort != nil {
		s.httpPort.http.WriteTimeout = testkit.MaxWait
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("the server did not stop cleanly: %v", err)
		}
	})
	return s
}

func fetchText(t *testing.T, method, url string, body io.Reader) (*http.Response, []byte) {
	t.Helper()
	request, err := http.NewRequest(method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 2 * time.Minute}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, answer
}

func publicURL(s *Server, path string) string { return "http://" + s.PublicAddr().String() + path }

func checkFault(t *testing.T, response *http.Response, body []byte, kind fault.Kind) {
	t.Helper()
	var shape struct {
		Error       string `json:"error"`
		MessageCode string `json:"messageCode"`
	}
	if err := json.Unmarshal(body, &shape); err != nil {
		t.Fatalf("status %d, body %q is not JSON: %v", response.StatusCode, body, err)
	}
	if response.StatusCode != kind.Status || shape.MessageCode != kind.Code || shape.Error == "" {
		t.Errorf("got %d %s, want %d with %s and a sentence", response.StatusCode, body, kind.Status, kind.Code)
	}
}

func TestErrorsBecomeFaults(t *testing.T) {
	t.Parallel()
	s := startServer(t, Config{}, func(s *Server) {
		s.Public.Get("/plain", func(*fiber.Ctx) error { return errors.New("secret detail") })
		s.Public.Get("/panic", func(*fiber.Ctx) error { panic("secret detail") })
		s.Public.Get("/away", func(c *fiber.Ctx) error {
			_, err := (&net.Dialer{}).DialContext(c.UserContext(), "tcp", "127.0.0.1:1")
			return fmt.Errorf("read an offer: %w", err)
		})
		s.Public.Get("/crowded", func(*fiber.Ctx) error {
			return fmt.Errorf("read an offer: %w", &pgconn.PgError{Code: "53300"})
		})
		s.Public.Get("/late", func(*fiber.Ctx) error { return context.DeadlineExceeded })
		s.Public.Get("/limited", func(*fiber.Ctx) error {
			return &fault.Error{Kind: fault.RateLimited, Sentence: "Slow down.", RetryAfter: 1500 * time.Millisecond}
		})
	})
	for _, c := range []struct {
		method, path string
		want         fault.Kind
	}{
		{"GET", "/plain", fault.Internal},
		{"GET", "/panic", fault.Internal},
		{"GET", "/late", fault.PeerUnavailable},
		{"GET", "/away", fault.PeerUnavailable},
		{"GET", "/crowded", fault.PeerUnavailable},
		{"GET", "/limited", fault.RateLimited},
		{"GET", "/nowhere", fault.NotFound},
		{"GET", "/PLAIN", fault.NotFound},
		{"DELETE", "/plain", fault.MethodNotAllowed},
		{"GET", "/internal/anything", fault.NotFound},
		{"GET", "/metrics", fault.NotFound},
	} {
		response, body := fetchText(t, c.method, publicURL(s, c.path), nil)
		checkFault(t, response, body, c.want)
		if bytes.Contains(body, []byte("secret")) {
			t.Errorf("%s shows the inside: %s", c.path, body)
		}
		if response.Header.Get("Traceparent") == "" {
			t.Errorf("%s has no traceparent", c.path)
		}
		if c.want == fault.PeerUnavailable && response.Header.Get("Retry-After") != "1" {
			t.Errorf("%s: Retry-After is %q", c.path, response.Header.Get("Retry-After"))
		}
		if c.path == "/limited" && response.Header.Get("Retry-After") != "2" {
			t.Errorf("Retry-After is %q, want the seconds rounded up", response.Header.Get("Retry-After"))
		}
	}
}

// echoBody answers with the body.
func echoBody(c *fiber.Ctx) error {
	body, err := Body(c)
	if err != nil {
		return err
	}
	return c.Send(body)
}

func TestTooLargeBodyIsAnswered(t *testing.T) {
	t.Parallel()
	s := startServer(t, Config{}, func(s *Server) {
		s.Public.Post("/echo", echoBody)
	})
	response, body := fetchText(t, "POST", publicURL(s, "/echo"), strings.NewReader(strings.Repeat("x", 1024)))
	if response.StatusCode != http.StatusOK || len(body) != 1024 {
		t.Errorf("a body at the limit: status %d, %d bytes", response.StatusCode, len(body))
	}
	response, body = fetchText(t, "POST", publicURL(s, "/echo"), strings.NewReader(strings.Repeat("x", 10<<20)))
	checkFault(t, response, body, fault.PayloadTooLarge)
	// The body is sent in chunks, because the client does not know its length.
	response, body = fetchText(t, "POST", publicURL(s, "/echo"), io.LimitReader(endlessReader('x'), 10<<20))
	checkFault(t, response, body, fault.PayloadTooLarge)
}

func TestCompressedBodiesAreRefused(t *testing.T) {
	t.Parallel()
	s := startServer(t, Config{}, func(s *Server) {
		s.Public.Post("/echo", echoBody)
	})
	// A kilobyte expands to a megabyte. No code may decompress it, because the size would be unbounded.
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(make([]byte, 1<<20))
	_ = z.Close()
	request, err := http.NewRequest("POST", publicURL(s, "/echo"), &packed)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Encoding", "gzip")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer func() { _ = response.Body.Close() }()
	body, _ := io.ReadAll(response.Body)
	checkFault(t, response, body, fault.UnsupportedMediaType)
}

type endlessReader byte

func (b endlessReader) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(b)
	}
	return len(p), nil
}

func TestRequestsHaveDeadline(t *testing.T) {
	t.Parallel()
	s := startServer(t, Config{RequestTimeout: 20 * time.Millisecond}, func(s *Server) {
		s.Public.Get("/slow", func(c *fiber.Ctx) error {
			<-c.UserContext().Done()
			return c.UserContext().Err()
		})
	})
	response, body := fetchText(t, "GET", publicURL(s, "/slow"), nil)
	checkFault(t, response, body, fault.PeerUnavailable)
}

func TestReadinessStaysAfterFirstPass(t *testing.T) {
	t.Parallel()
	answers := make(chan error, 3)
	s := startServer(t, Config{}, func(s *Server) {
		s.Ready("store", func(context.Context) error { return <-answers })
	})
	ready := "http://" + s.InternalAddr().String() + "/readyz"
	answers <- errors.New("not there yet")
	response, body := fetchText(t, "GET", ready, nil)
	if response.StatusCode != http.StatusServiceUnavailable || !bytes.Contains(body, []byte("store")) {
		t.Errorf("not ready: status %d, %s", response.StatusCode, body)
	}
	answers <- nil
	answers <- errors.New("away")
	for range 2 {
		if response, _ := fetchText(t, "GET", ready, nil); response.StatusCode != http.StatusOK {
			t.Errorf("ready: status %d", response.StatusCode)
		}
	}
}

func TestStopClosesInReverseOrder(t *testing.T) {
	t.Parallel()
	var order []string
	note := func(name string) func(context.Context) error {
		return func(context.Context) error { order = append(order, name); return nil }
	}
	cfg := Config{PublicAddr: "127.0.0.1:0", InternalAddr: "127.0.0.1:0", RequestTimeout: 2 * time.Minute,
		DrainTimeout: 2 * time.Minute}
	var log bytes.Buffer
	tel, err := telemetry.New(t.Context(), telemetry.Config{}, "test", &log)
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(cfg, Runtime{Open: true, Name: "test", Clock: clock.System(), Telemetry: tel})
	if err != nil {
		t.Fatal(err)
	}
	s.OnStop("first", note("first"))
	s.OnStop("second", note("second"))
	s.Go("broken", func(context.Context) error { return errors.New("gone") })
	err = s.Run(context.Background())
	if err == nil || !strings.Contains(err.Error(), "test: broken: gone") {
		t.Errorf("a dead part must end the server by name, got %v", err)
	}
	if !strings.Contains(log.String(), `"msg":"started"`) || !strings.Contains(log.String(),
		`"public":"`+s.PublicAddr().String()+`"`) {
		t.Errorf("the log does not say that it started, and where: %s", log.String())
	}
	if strings.Join(order, " ") != "second first" {
		t.Errorf("closers ran in the order %v", order)
	}
	if _, err := net.Dial("tcp", s.PublicAddr().String()); err == nil {
		t.Error("the public port still answers")
	}
}

func TestIdleConnectionTimesOutWith408(t *testing.T) {
	t.Parallel()
	// A client would take any other status for the answer to the next request that it sends over the connection.
	if f := FaultOf(fiber.ErrRequestTimeout); f.Kind.Status != http.StatusRequestTimeout {
		t.Errorf("a request that does not arrive in time is answered %d", f.Kind.Status)
	}
}

func TestStopDoesNotWaitForIdleConnections(t *testing.T) {
	t.Parallel()
	// The server must stop within its drain timeout, or the test fails.
	s := startServer(t, Config{}, func(*Server) {})
	for _, address := range []net.Addr{s.PublicAddr(), s.InternalAddr()} {
		reserve, err := net.Dial("tcp", address.String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = reserve.Close() })
	}
	fetchText(t, "GET", publicURL(s, "/"), nil) // both ports accept connections after this request
}

func TestClientIsRightmostUntrustedAddress(t *testing.T) {
	t.Parallel()
	proxies, err := ParseProxies([]string{"10.0.0.0/8", " 192.168.1.1 ", "fd00::/8"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ socket, header, want string }{
		{"203.0.113.9", "198.51.100.1", "203.0.113.9"},
		{"10.0.0.1", "", "10.0.0.1"},
		{"10.0.0.1", "198.51.100.1", "198.51.100.1"},
		{"10.0.0.1", "6.6.6.6, 198.51.100.1, 10.9.9.9", "198.51.100.1"},
		{"10.0.0.1", "10.0.0.2,10.0.0.3", "10.0.0.2"},
		{"10.0.0.1", "198.51.100.1, junk, 10.0.0.4", "10.0.0.4"},
		{"10.0.0.1", "198.51.100.1:4711", "198.51.100.1"},
		{"10.0.0.1", "2001:db8::1", "2001:db8::1"},
		{"10.0.0.1", "[2001:db8::1]:443", "2001:db8::1"},
		{"::ffff:10.0.0.1", "198.51.100.1", "198.51.100.1"},
		{"192.168.1.2", "198.51.100.1", "192.168.1.2"},
	} {
		if got := proxies.Client(netip.MustParseAddr(c.socket), c.header).String(); got != c.want {
			t.Errorf("socket %s, X-Forwarded-For %q: got %s, want %s", c.socket, c.header, got, c.want)
		}
	}
	if _, err := ParseProxies([]string{"10.0.0.0/99"}); err == nil || !strings.Contains(err.Error(),
		"TRUSTED_PROXIES") {
		t.Errorf("a bad network: %v", err)
	}
}
