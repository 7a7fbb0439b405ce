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

	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/peer"
	"github.com/slotmesh/slotmesh/libs/telemetry"
)

// stalled is a listener of a process that stands still: the kernel takes connections and bytes, and nobody fetches them.
type stalled struct {
	net.Listener
	runs chan struct{}
}

func (l stalled) Accept() (net.Conn, error) {
	<-l.runs
	return l.Listener.Accept()
}

// A paused replica reads, when it is resumed, requests whose callers have long been answered by others (semantics.md §3): both
// the deadline and the order of attempts count from when the bytes came in.
func TestARequestCountsFromWhenItCameIntoTheQueue(t *testing.T) {
	t.Parallel()
	opened, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	runs := make(chan struct{})
	srv, err := New(Config{InternalAddr: "127.0.0.1:0", RequestTimeout: time.Minute, DrainTimeout: 5 * time.Second, PublicBodyLimit: 1024},
		Runtime{Name: "test", Clock: clock.System(), Telemetry: telemetry.Discard(), Public: stalled{opened, runs}, Open: true})
	if err != nil {
		t.Fatal(err)
	}
	arrived, deadline := make(chan time.Time, 1), make(chan time.Time, 1)
	srv.Public.Post("/", func(c *fiber.Ctx) error {
		end, _ := c.UserContext().Deadline()
		arrived <- clock.Arrived(c.UserContext())
		deadline <- end
		return nil
	})
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})

	conn, err := net.Dial("tcp", opened.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
	time.Sleep(300 * time.Millisecond) // the request waits in the queue; the kernel counts in milliseconds, and a longer wait changes nothing
	resumed := time.Now()
	close(runs)
	got := <-arrived
	if !got.Before(resumed) {
		t.Errorf("a request that waited from before %s counts from %s", resumed, got)
	}
	if end := <-deadline; !end.Equal(got.Add(time.Minute)) {
		t.Errorf("its deadline is %s after it came", end.Sub(got))
	}
}

// What a peer says of the time before it asked counts on the internal port; a client's word for it counts nowhere.
func TestTheTimeThatAPeersRequestHasWaitedIsAdded(t *testing.T) {
	t.Parallel()
	waited := make(chan time.Duration, 1)
	handler := func(c *fiber.Ctx) error { waited <- time.Since(clock.Arrived(c.UserContext())); return nil }
	srv := start(t, Config{RequestTimeout: time.Hour}, func(s *Server) {
		s.Public.Post("/", handler)
		s.Internal.Post("/", handler)
	})
	for address, want := range map[string]time.Duration{srv.InternalAddr().String(): time.Minute, srv.PublicAddr().String(): 0} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/", strings.NewReader(""))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set(peer.WaitedHeader, "60000")
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		answer, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if got := <-waited; got < want || got > want+30*time.Second {
			t.Errorf("%s: it has waited for %s, want about %s", address, got, want)
		}
	}
}
