package server

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/testkit"
)

// proxies are reverse proxies that may run in front of a service. Each function returns the command of a proxy that
// listens on one port and forwards to another one over few reused connections.
var proxies = map[string]func(t *testing.T, home, on, to string) []string{
	"nginx":              func(t *testing.T, home, on, to string) []string { return nginx(t, home, on, to, "off") },
	"nginx that buffers": func(t *testing.T, home, on, to string) []string { return nginx(t, home, on, to, "on") },
	"envoy":              envoy,
	"traefik":            traefik,
	"skipper":            skipper,
}

func nginx(t *testing.T, home, on, to, buffering string) []string {
	file := write(t, home, "nginx.conf", fmt.Sprintf(`
daemon off; master_process off; pid %[1]s/pid; error_log stderr crit;
events { worker_connections 512; }
http {
  access_log off;
  client_body_temp_path %[1]s/b; proxy_temp_path %[1]s/p; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;
  upstream slotmesh { server %[3]s; keepalive 2; }
  server {
    listen %[2]s; client_max_body_size 10m;
    location / { proxy_pass http://slotmesh; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_request_buffering %[4]s;
      proxy_connect_timeout 120s; proxy_send_timeout 120s; proxy_read_timeout 120s; client_body_timeout 120s; }
  }
}`, home, on, to, buffering))
	return []string{testkit.Nginx(t), "-p", home, "-e", "stderr", "-c", file}
}

func envoy(t *testing.T, home, on, to string) []string {
	host, port, _ := net.SplitHostPort(to)
	_, own, _ := net.SplitHostPort(on)
	file := write(t, home, "envoy.yaml", fmt.Sprintf(`
static_resources:
  listeners:
  - address: {socket_address: {address: 127.0.0.1, port_value: %s}}
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: in
          route_config: {virtual_hosts: [{name: all, domains: ["*"], routes: [{match: {prefix: /}, route: {cluster: slotmesh, timeout: 120s}}]}]}
          http_filters:
          - name: envoy.filters.http.router
            typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}
  clusters:
  - name: slotmesh
    type: STATIC
    connect_timeout: 120s
    circuit_breakers: {thresholds: [{max_connections: 2}]}
    load_assignment: {cluster_name: slotmesh, endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: %s, port_value: %s}}}}]}]}
`, own, host, port))
	return []string{testkit.Envoy(t), "-c", file, "--concurrency", "1", "-l", "error", "--disable-hot-restart"}
}

func traefik(t *testing.T, home, on, to string) []string {
	program := testkit.ClusterTool("traefik")
	if program == "" {
		t.Skip("`make cluster-tools` has not built traefik")
	}
	file := write(t, home, "routes.yaml", fmt.Sprintf(`
http:
  routers: {all: {rule: "PathPrefix(`+"`/`"+`)", service: slotmesh, entryPoints: [in]}}
  serversTransports: {few: {maxIdleConnsPerHost: 2}}
  services: {slotmesh: {loadBalancer: {serversTransport: few, servers: [{url: "http://%s"}]}}}
`, to))
	return []string{program, "--entryPoints.in.address=" + on, "--providers.file.filename=" + file, "--log.level=ERROR"}
}

func skipper(t *testing.T, _, on, to string) []string {
	program := testkit.ClusterTool("skipper")
	if program == "" {
		t.Skip("`make cluster-tools` has not built skipper")
	}
	return []string{program, "-address", on, "-support-listener", "127.0.0.1:0", "-inline-routes",
		`* -> "http://` + to + `"`, "-idle-conns-num", "2", "-access-log-disabled", "-application-log-level", "ERROR"}
}

func write(t *testing.T, home, name, text string) string {
	t.Helper()
	at := filepath.Join(home, name)
	if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return at
}

// startProxy starts a proxy in front of a port and returns its address.
func startProxy(t *testing.T, command func(t *testing.T, home, on, to string) []string, to string) string {
	t.Helper()
	home := t.TempDir()
	on := testkit.Serve(t, func(on string) *exec.Cmd {
		words := command(t, home, on, to)
		return exec.Command(words[0], words[1:]...)
	})
	for until := time.Now().Add(testkit.MaxWait); time.Now().Before(until); {
		if forwardsUnchanged(on) {
			return on
		}
		// nginx, Envoy and Traefik send no event when they are ready, so the test polls
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("the proxy does not pass requests on")
	return ""
}

// forwardsUnchanged reports whether the server answers through the proxy.
func forwardsUnchanged(address string) bool {
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport, Timeout: testkit.MaxWait}
	answer, err := client.Get("http://" + address + "/smuggled")
	if err != nil {
		return false
	}
	_ = answer.Body.Close()
	return answer.Header.Get("Traceparent") != ""
}

// Attackers hide requests in bodies that the server refuses, behind proxies with few connections to it. Visitors check
// that each answer belongs to their own request.
func TestDesyncBehindProxiesKeepsAnswersApart(t *testing.T) {
	t.Parallel()
	limit := Config{PublicBodyLimit: 32 << 10, InternalBodyLimit: 1024}
	fiberPort := startServer(t, limit, func(s *Server) {
		s.Public.Post("/echo", echoBody)
		s.Public.Post("/refused", func(*fiber.Ctx) error { return fiber.ErrUnauthorized })
		s.Public.Get("/own/:id", func(c *fiber.Ctx) error { return c.SendString(c.Params("id")) })
		s.Public.Get("/smuggled", func(c *fiber.Ctx) error { return c.SendString("smuggled") })
	})
	netPort := startServer(t, limit, func(s *Server) {
		s.HandleHTTP("/echo", echoBodyHTTP)
		s.HandleHTTP("/refused", func(http.ResponseWriter, *http.Request) error { return fiber.ErrUnauthorized })
		s.HandleHTTP("/smuggled", func(w http.ResponseWriter, _ *http.Request) error {
			_, err := io.WriteString(w, "smuggled")
			return err
		})
		s.HandleHTTP("/own", func(w http.ResponseWriter, r *http.Request) error {
			_, err := io.WriteString(w, r.URL.Query().Get("id"))
			return err
		})
	})
	for name, command := range proxies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			attacked(t, startProxy(t, command, fiberPort.PublicAddr().String()), "/own/")
			attacked(t, startProxy(t, command, netPort.PublicAddr().String()), "/own?id=")
		})
	}
}

// The numbers of clients for each proxy, and of requests.
const (
	attackers        = 4
	visitors         = 12
	visitsPerVisitor = 40
)

func attacked(t *testing.T, address, own string) {
	t.Helper()
	var work sync.WaitGroup
	for a := range attackers {
		work.Go(func() {
			for n := range visitsPerVisitor {
				attack(address, a*visitsPerVisitor+n)
			}
		})
	}
	for v := range visitors {
		work.Go(func() { visit(t, address, own, v) })
	}
	work.Wait()
}

// attack sends a body that the server refuses and that contains a request. The answer of the proxy is ignored.
func attack(address string, n int) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(testkit.MaxWait))
	paddings := []int{8192, 0, 100, 4096, 8191, 8193, 16384, 40000, 70000}
	body := strings.Repeat("x", paddings[n%len(paddings)]) + strings.Repeat(strings.ReplaceAll(hiddenPath, end, ""), 3)
	text := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Encoding: gzip\r\n",
		[]string{"/echo", "/refused", "/nowhere", "/smuggled"}[n/9%4])
	if n%2 == 0 {
		text += fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
	} else {
		text += fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	}
	go func() { _, _ = io.WriteString(conn, text) }()
	if answer, err := http.ReadResponse(bufio.NewReader(conn), nil); err == nil {
		_, _ = io.Copy(io.Discard, answer.Body)
	}
}

// visit sends requests and compares each answer with its request. An error answer of the proxy itself is accepted.
func visit(t *testing.T, address, own string, visitor int) {
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport, Timeout: testkit.MaxWait}
	had := 0
	for n := range visitsPerVisitor {
		id := fmt.Sprintf("visitor-%d-%d", visitor, n)
		answer, err := client.Get("http://" + address + own + url.QueryEscape(id))
		if err != nil {
			t.Errorf("%s: %v", id, err)
			return
		}
		body, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		switch {
		case err == nil && answer.StatusCode == http.StatusOK && string(body) == id:
			had++
		case answer.StatusCode == http.StatusBadGateway || answer.StatusCode == http.StatusServiceUnavailable:
		default:
			t.Errorf("%s was answered %d %q, %v", id, answer.StatusCode, body, err)
		}
	}
	if had < visitsPerVisitor/2 {
		t.Errorf("visitor %d had %d of %d answers", visitor, had, visitsPerVisitor)
	}
}
