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

// stalled is a listener of a process that stands still: the kernel takes connections and bytes, and nobody fetches
// them.
type stalled struct {
	net.Listener
	runs chan struct{}
}

func (l stalled) Accept() (net.Conn, error) {
	<-l.runs
	return l.Listener.Accept()
}

// A paused replica reads, when it is resumed, requests whose callers have long been answered by others (semantics.md
// §3): both the deadline and the order of attempts count from when the bytes came in.
func TestARequestCountsFromWhenItCameIntoTheQueue(t *testing.T) {
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
			// the request waits in the queue; the kernel counts in milliseconds, and a longer wait changes nothing
			time.Sleep(300 * time.Millisecond)
			resumed := time.Now()
			close(runs)
			got := <-seen
			if !got.arrived.Before(resumed) {
				t.Errorf("a request that waited from before %s counts from %s", resumed, got.arrived)
			}
			if !got.deadline.Equal(got.arrived.Add(time.Minute)) {
				t.Errorf("its deadline is %s after it came", got.deadline.Sub(got.arrived))
			}
		})
	}
}

// startStalled starts a server that stands still until the channel is closed.
func startStalled(t *testing.T, mount func(*Server)) (net.Addr, chan struct{}) {
	t.Helper()
	opened, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	runs := make(chan struct{})
	srv, err := New(Config{InternalAddr: "127.0.0.1:0", RequestTimeout: time.Minute, DrainTimeout: testkit.MaxWait,
		PublicBodyLimit: 1024},
		Runtime{Name: "test", Clock: clock.System(), Telemetry: telemetry.Discard(), Public: stalled{opened, runs},
			Open: true})
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

// What a peer says of the time before it asked counts on the internal port; a client's word for it counts nowhere.
func TestTheTimeThatAPeersRequestHasWaitedIsAdded(t *testing.T) {
	t.Parallel()
	waited := make(chan time.Duration, 1)
	handler := func(c *fiber.Ctx) error { waited <- time.Since(clock.ArrivalTime(c.UserContext())); return nil }
	srv := start(t, Config{RequestTimeout: time.Hour}, func(s *Server) {
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
