package server

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
)

// stalledListener behaves like a paused process: the kernel accepts connections and bytes, but the process reads
// nothing.
type stalledListener struct {
	net.Listener
	runs chan struct{}
}

func (l stalledListener) Accept() (net.Conn, error) {
	<-l.runs
	return l.Listener.Accept()
}

// After a pause, a replica reads requests whose callers have received an answer of another replica (semantics.md §3).
// The deadline and the order of attempts count from the arrival of the bytes.
func TestArrivalIncludesQueueTime(t *testing.T) {
	t.Parallel()
	type counted struct{ arrived, deadline time.Time }
	seen := make(chan counted, 1)
	note := func(ctx context.Context) {
		end, _ := ctx.Deadline()
		seen <- counted{clock.ArrivalTime(ctx), end}
	}
	for name, mount := range map[string]func(*Server){
		"fiber": func(s *Server) {
			s.Public.Post("/", func(c *fiber.Ctx) error { note(c.UserContext()); return nil })
		},
		"net/http": func(s *Server) {
			s.HandleHTTP("/", func(_ http.ResponseWriter, r *http.Request) error { note(r.Context()); return nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			opened, runs := startStalled(t, mount)
			conn, err := net.Dial("tcp", opened.String())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			_, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			// The test measures how long a request waits before it is accepted, so it must let time pass. The kernel
			// counts in milliseconds, and a longer wait on a loaded machine does not change the result.
			time.Sleep(300 * time.Millisecond)
			resumed := time.Now()
			close(runs)
			got := <-seen
			if !got.arrived.Before(resumed) {
				t.Errorf("a request that waited from before %s counts from %s", resumed, got.arrived)
			}
			if !got.deadline.Equal(got.arrived.Add(time.Minute)) {
				t.Errorf("the deadline is %s after the arrival, want one minute", got.deadline.Sub(got.arrived))
			}
		})
	}
}

// startStalled starts a server that reads nothing until the channel is closed.
func startStalled(t *testing.T, mount func(*Server)) (net.Addr, chan struct{}) {
	t.Helper()
	opened, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	runs := make(chan struct{})
	srv, err := New(Config{InternalAddr: "127.0.0.1:0", RequestTimeout: time.Minute, DrainTimeout: testkit.MaxWait,
		PublicBodyLimit: 1024},
		Runtime{Name: "test", Clock: clock.System(), Telemetry: telemetry.Discard(),
			Public: stalledListener{opened, runs},
			Open:   true})
	if err != nil {
		t.Fatal(err)
	}
	mount(srv)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return opened.Addr(), runs
}

// The header with the waiting time at the caller counts on the internal port only. A client cannot set it.
func TestArrivalIncludesPeerWait(t *testing.T) {
	t.Parallel()
	waited := make(chan time.Duration, 1)
	handler := func(c *fiber.Ctx) error { waited <- time.Since(clock.ArrivalTime(c.UserContext())); return nil }
	srv := startServer(t, Config{RequestTimeout: time.Hour}, func(s *Server) {
		s.Public.Post("/", handler)
		s.internalApp.Post("/", handler)
	})
	for address, want := range map[string]time.Duration{srv.InternalAddr().String(): 30 * time.Minute,
		srv.PublicAddr().String(): 0} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/",
			strings.NewReader(""))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set(peer.WaitHeader, "1800000")
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		answer, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if got := <-waited; got < want || got > want+testkit.MaxWait {
			t.Errorf("%s: it has waited for %s, want about %s", address, got, want)
		}
	}
}
