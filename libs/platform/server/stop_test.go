package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
)

// stopCount returns the number of servers that are stopped under load: the variable STOPS, or a small default.
func stopCount(t *testing.T) int {
	text := os.Getenv("STOPS")
	if text == "" {
		return 100
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("STOPS: %q is not a number", text)
	}
	return n
}

// Some connections are idle or answered, and some requests arrive at the moment of stopping. Every request that was
// written gets its answer.
func TestStopUnderLoadAnswersEveryReadRequest(t *testing.T) {
	t.Parallel()
	var written, unanswered, reset atomic.Int64
	var work sync.WaitGroup
	const at = 4
	left := make(chan int, stopCount(t))
	for n := range stopCount(t) {
		left <- n
	}
	close(left)
	for range at {
		work.Go(func() {
			for n := range left {
				o := stopUnderLoad(t, n%2 == 1)
				written.Add(int64(o.written))
				unanswered.Add(int64(o.unanswered))
				reset.Add(int64(o.reset))
			}
		})
	}
	work.Wait()
	t.Logf("%d stops, %d requests written, %d connections ended before one was read", stopCount(t), written.Load(),
		reset.Load())
	if unanswered.Load() > 0 || written.Load() == 0 {
		t.Errorf("%d of %d written requests have no answer", unanswered.Load(), written.Load())
	}
}

// outcome counts the requests of one stop by their result.
type outcome struct{ written, unanswered, reset int }

const loaders = 6

func stopUnderLoad(t *testing.T, netHTTP bool) outcome {
	cfg := Config{PublicAddr: "127.0.0.1:0", InternalAddr: "127.0.0.1:0", RequestTimeout: testkit.MaxWait,
		DrainTimeout: testkit.MaxWait, PublicBodyLimit: 1024, InternalBodyLimit: 1024}
	s, err := New(cfg, Runtime{Open: true, Name: "test", Clock: clock.System(), Telemetry: telemetry.Discard()})
	if err != nil {
		t.Error(err)
		return outcome{}
	}
	var rows sync.Map
	enough := make(chan struct{})
	var count atomic.Int64
	record := func(id string) {
		rows.Store(id, true)
		if count.Add(1) == 20*loaders {
			close(enough)
		}
	}
	serveWrites(s, netHTTP, record)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	for range loaders { // idle connections
		if conn, err := net.Dial("tcp", s.PublicAddr().String()); err == nil {
			defer func() { _ = conn.Close() }()
		}
	}
	var answered sync.Map
	var ended atomic.Int64
	var work sync.WaitGroup
	for l := range loaders {
		work.Go(func() { sendLoad(s.PublicAddr().String(), l, &answered, &ended) })
	}
	<-enough
	stop()
	if err := <-done; err != nil {
		t.Errorf("stopping: %v", err)
	}
	work.Wait()
	o := outcome{reset: int(ended.Load())}
	rows.Range(func(id, _ any) bool {
		o.written++
		if _, ok := answered.Load(id); !ok {
			o.unanswered++
		}
		return true
	})
	return o
}

// serveWrites records the body of each request.
func serveWrites(s *Server, netHTTP bool, record func(string)) {
	if netHTTP {
		s.HandleHTTP("/write", func(w http.ResponseWriter, r *http.Request) error {
			body, err := BodyOf(r)
			record(string(body))
			w.WriteHeader(http.StatusCreated)
			return err
		})
	} else {
		s.Public.Post("/write", func(c *fiber.Ctx) error {
			body, err := Body(c)
			record(string(body))
			c.Status(fiber.StatusCreated)
			return err
		})
	}
}

// sendLoad sends writes, each over a new connection, until the port is closed.
func sendLoad(address string, loader int, answered *sync.Map, ended *atomic.Int64) {
	for n := 0; ; {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return
		}
		_ = conn.SetDeadline(time.Now().Add(2 * time.Minute))
		in := bufio.NewReader(conn)
		for {
			n++
			id := fmt.Sprintf("%d-%d", loader, n)
			if _, err = fmt.Fprintf(conn, "POST /write HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(id),
				id); err != nil {
				break
			}
			answer, readErr := http.ReadResponse(in, nil)
			if readErr != nil {
				ended.Add(1)
				break
			}
			_, _ = io.Copy(io.Discard, answer.Body)
			if answer.StatusCode == http.StatusCreated {
				answered.Store(id, true)
			}
			if answer.Close {
				break
			}
		}
		_ = conn.Close()
	}
}

func TestConnectionsAreBoundedInTotalAndByAddress(t *testing.T) {
	t.Parallel()
	end := make(chan struct{})
	var begun sync.WaitGroup
	mount := func(s *Server) {
		wait := func(*fiber.Ctx) error { begun.Done(); <-end; return nil }
		s.Public.Get("/wait", wait)
		s.internalApp.Get("/wait", wait)
	}
	bounded := startServer(t, Config{MaxConnectionsPerAddress: 2}, mount)
	trusting := startServer(t, Config{MaxConnectionsPerAddress: 2, TrustedProxies: []string{"127.0.0.0/8"}}, mount)
	full := startServer(t, Config{MaxConnections: 2, TrustedProxies: []string{"127.0.0.0/8"}}, mount)
	t.Cleanup(func() { close(end) })
	for name, c := range map[string]struct {
		address string
		open    bool
	}{
		"by address":             {bounded.PublicAddr().String(), false},
		"peers":                  {bounded.InternalAddr().String(), true},
		"a proxy's":              {trusting.PublicAddr().String(), true},
		"in all, also a proxy's": {full.PublicAddr().String(), false},
	} {
		dial := func() net.Conn {
			conn, err := net.Dial("tcp", c.address)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close() })
			return conn
		}
		busy := func() {
			conn := dial()
			begun.Add(1)
			_, _ = io.WriteString(conn, "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
			begun.Wait()
		}
		busy()
		kept := dial()
		if !isServed(kept) {
			t.Fatalf("%s: the second connection is not served", name)
		}
		if second := dial(); !isServed(second) {
			t.Errorf("%s: a new connection is not served although the other one is idle", name)
		}
		if got := isServed(kept); got != c.open {
			t.Errorf("%s: the idle connection is served: %v", name, got)
		}
		busy()
		if got := isServed(dial()); got != c.open {
			t.Errorf("%s: a connection is served although two are busy: %v", name, got)
		}
	}
}

// isServed reports whether a request over a connection is answered.
func isServed(conn net.Conn) bool {
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	_, _ = io.WriteString(conn, "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n") // on a closed connection the read below fails
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return false
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	return true
}
