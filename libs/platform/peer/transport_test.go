package peer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// stoppingPeer is a peer that closes connections like a stopped process. It reads a request, answers the first
// `answers` requests of a connection, and then closes it silently.
type stoppingPeer struct {
	net.Listener
	answers int

	mu          sync.Mutex
	connections int
	read        int
	closed      chan struct{} // one for each connection that was closed
}

func startStoppingPeer(t *testing.T, answers int) (*stoppingPeer, *Client) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &stoppingPeer{Listener: listener, answers: answers, closed: make(chan struct{}, 100)}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() { s.serve(conn) })
		}
	})
	client := New("stopping", "http://"+listener.Addr().String(), telemetry.Discard(), Timeout(testkit.MaxWait))
	t.Cleanup(func() { client.Close(); _ = listener.Close(); all.Wait() })
	return s, client
}

func (s *stoppingPeer) serve(conn net.Conn) {
	defer func() { _ = conn.Close(); s.closed <- struct{}{} }()
	s.mu.Lock()
	s.connections++
	s.mu.Unlock()
	in := bufio.NewReader(conn)
	for n := 0; ; n++ {
		request, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, request.Body)
		s.mu.Lock()
		s.read++
		s.mu.Unlock()
		if n == s.answers {
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
		if n+1 == s.answers {
			return
		}
	}
}

func TestRepeatableRequestSurvivesClosedConnection(t *testing.T) {
	t.Parallel()
	s, client := startStoppingPeer(t, 1)
	for range 5 {
		if err := client.Call(t.Context(), http.MethodGet, "/", nil, nil); err != nil {
			t.Fatal(err)
		}
		<-s.closed // the client has not used the connection since then
		if err := client.Ask(t.Context(), "/", struct{}{}, nil); err != nil {
			t.Fatal(err)
		}
		<-s.closed
	}
}

func TestWriteIsSentOnceOverNewConnection(t *testing.T) {
	t.Parallel()
	s, client := startStoppingPeer(t, 1)
	if err := client.Call(t.Context(), http.MethodGet, "/", nil, nil); err != nil {
		t.Fatal(err)
	}
	<-s.closed
	if err := client.Call(t.Context(), http.MethodPost, "/", struct{}{}, nil); err != nil {
		t.Errorf("a write after the peer closed the kept connection: %v", err)
	}

	silent, client := startStoppingPeer(t, 0)
	if err := client.Call(t.Context(), http.MethodPost, "/", struct{}{}, nil); !fault.Is(err, fault.OutcomeUnknown) {
		t.Errorf("a write without an answer: %v", err)
	}
	<-silent.closed
	silent.mu.Lock()
	defer silent.mu.Unlock()
	if silent.read != 1 {
		t.Errorf("a write that may have been carried out was sent %d times", silent.read)
	}
}

func TestReadsReuseConnections(t *testing.T) {
	t.Parallel()
	s, client := startStoppingPeer(t, 1000)
	for range 20 {
		if err := client.Call(t.Context(), http.MethodGet, "/", nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.connections != 1 {
		t.Errorf("20 reads one after the other took %d connections", s.connections)
	}
}

func TestCancelledCallIsNotSent(t *testing.T) {
	t.Parallel()
	s, client := startStoppingPeer(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := client.Call(ctx, http.MethodGet, "/", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.connections != 0 {
		t.Error("the peer was asked")
	}
}

func TestCallEndsAtEarlierDeadline(t *testing.T) {
	t.Parallel()
	held := make(chan struct{})
	client := serve(t, func(http.ResponseWriter, *http.Request) { <-held }, Timeout(time.Hour))
	defer close(held)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second) // it must not end before the call begins
	defer cancel()
	if err := client.Call(ctx, http.MethodGet, "/", nil, nil); !fault.Is(err, fault.PeerUnavailable) {
		t.Errorf("got %v", err)
	}
}

func TestUnrecordedSpanIsPropagated(t *testing.T) {
	t.Parallel()
	seen := make(chan string, 1)
	client := serve(t, func(_ http.ResponseWriter, r *http.Request) { seen <- r.Header.Get("Traceparent") })
	given := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}})
	if err := client.Call(trace.ContextWithSpanContext(t.Context(), given), http.MethodGet, "/", nil, nil); err != nil {
		t.Fatal(err)
	}
	if got, want := <-seen, "00-"+given.TraceID().String()+"-"+given.SpanID().String()+"-00"; got != want {
		t.Errorf("the peer was given %q, want %q", got, want)
	}
}

func TestRequestArrivesUnchanged(t *testing.T) {
	t.Parallel()
	type arrived struct {
		method, path, contentType, length, own string
		body                                   []byte
	}
	seen := make(chan arrived, 1)
	client := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen <- arrived{r.Method, r.RequestURI, r.Header.Get("Content-Type"), strconv.FormatInt(r.ContentLength, 10),
			r.Header.Get("X-Own"), body}
	})
	for _, c := range []struct {
		request Request
		want    arrived
	}{
		{Request{Method: http.MethodGet, Path: "/a%2Fb/../c?x=%20y&x=2"},
			arrived{http.MethodGet, "/a%2Fb/../c?x=%20y&x=2", "", "0", "", nil}},
		{Request{Method: http.MethodPost, Path: "/"}, arrived{http.MethodPost, "/", "", "0", "", nil}},
		{Request{Method: http.MethodPost, Path: "/", Body: 7}, arrived{http.MethodPost, "/", "application/json", "1",
			"", []byte("7")}},
		{
			Request{Method: http.MethodPut, Path: "/", Body: []byte("a: 1"),
				Header: http.Header{"Content-Type": {"application/yaml"}, "X-Own": {"yes"}}},
			arrived{http.MethodPut, "/", "application/yaml", "4", "yes", []byte("a: 1")},
		},
		{Request{Method: http.MethodDelete, Path: "/x"}, arrived{http.MethodDelete, "/x", "", "0", "", nil}},
	} {
		if _, err := client.Do(t.Context(), c.request); err != nil {
			t.Fatal(err)
		}
		got := <-seen
		if string(got.body) != string(c.want.body) {
			t.Errorf("%s %s: body %q, want %q", c.want.method, c.want.path, got.body, c.want.body)
		}
		got.body, c.want.body = nil, nil
		if got.method != c.want.method || got.path != c.want.path || got.contentType != c.want.contentType ||
			got.length != c.want.length || got.own != c.want.own {
			t.Errorf("got %+v, want %+v", got, c.want)
		}
	}
}

func BenchmarkAsk(b *testing.B) {
	answer := make([]byte, 2048)
	for i := range answer {
		answer[i] = ' '
	}
	copy(answer, "{}")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(answer)
	}), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	client := New("bench", "http://"+listener.Addr().String(), telemetry.Discard())
	b.Cleanup(func() { client.Close(); _ = server.Close() })
	b.ReportAllocs()
	for b.Loop() {
		var out struct{}
		if err := client.Ask(b.Context(), "/", map[string]int{"a": 1}, &out); err != nil {
			b.Fatal(err)
		}
	}
}

// In a cluster, the address of the peer still leads to a stopped replica for a moment.
func TestRefusedConnectionIsRetriedOnce(t *testing.T) {
	t.Parallel()
	client := serve(t, func(http.ResponseWriter, *http.Request) {})
	for name, call := range map[string]Request{
		"read":  {Method: http.MethodGet, Path: "/"},
		"write": {Method: http.MethodDelete, Path: "/"},
	} {
		refusals := 1
		refusing := func(address string) (net.Conn, error) {
			if refusals--; refusals >= 0 {
				return nil, fmt.Errorf("%w: %w", errUnsent, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED})
			}
			return Dial(address)
		}
		client.transport.reused.CloseIdleConnections()
		client.transport.reused.Dial, client.transport.single.Dial = refusing, refusing
		if _, err := client.Do(t.Context(), call); err != nil {
			t.Errorf("the %s failed at one refusal: %v", name, err)
		}
		refusals = 2
		client.transport.reused.CloseIdleConnections()
		if _, err := client.Do(t.Context(), call); !fault.Is(err, fault.PeerUnavailable) {
			t.Errorf("the %s, refused twice: %v", name, err)
		}
	}
}
