package peer

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// startResettingPeer starts a peer that answers the first requests with the text cut and resets their connections. It
// answers later requests with the text whole. The counter requests counts requests.
func startResettingPeer(t *testing.T, resets int32, cut, whole string) (*Client, *atomic.Int32) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	requests := new(atomic.Int32)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			if _, err := http.ReadRequest(bufio.NewReader(c)); err != nil {
				t.Error(err)
			}
			if requests.Add(1) <= resets {
				_, _ = io.WriteString(c, cut)
				_ = c.(*net.TCPConn).SetLinger(0)
			} else {
				_, _ = io.WriteString(c, whole)
			}
			_ = c.Close()
		}
	})
	client := New("resetting", "http://"+listener.Addr().String(), telemetry.Discard(), Timeout(testkit.MaxWait))
	t.Cleanup(func() { client.Close(); _ = listener.Close(); all.Wait() })
	return client, requests
}

func TestResetDuringAnswerIsError(t *testing.T) {
	t.Parallel()
	const whole = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwhole"
	for name, cut := range map[string]string{
		"length":  "HTTP/1.1 200 OK\r\nEtag: \"7\"\r\nContent-Length: 1000\r\n\r\nhalf a manifest",
		"chunked": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\nhalf a manifest",
		"neither": "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhalf a manifest",
	} {
		client, _ := startResettingPeer(t, 1, cut, whole)
		if answer, err := client.Do(t.Context(), Request{Method: http.MethodGet, Path: "/"}); err != nil ||
			string(answer.Body) != "whole" {
			t.Errorf("%s: a read that is cut off once: %+v, %v", name, answer, err)
		}
		client, requests := startResettingPeer(t, 2, cut, whole)
		if answer, err := client.Do(t.Context(), Request{Method: http.MethodGet, Path: "/"}); !fault.Is(err,
			fault.PeerUnavailable) || requests.Load() != 2 {
			t.Errorf("%s: a read that is cut off twice: %+v, %v, after %d requests", name, answer, err, requests.Load())
		}
		client, requests = startResettingPeer(t, 1, cut, whole)
		if answer, err := client.Do(t.Context(), Request{Method: http.MethodPost, Path: "/"}); !fault.Is(err,
			fault.OutcomeUnknown) || requests.Load() != 1 {
			t.Errorf("%s: a write whose answer is cut off: %+v, %v, after %d requests", name, answer, err, requests.Load())
		}
	}
}

func TestAnswerWithoutBodyIsComplete(t *testing.T) {
	t.Parallel()
	for method, answer := range map[string]string{
		http.MethodHead: "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n",
		http.MethodGet:  "HTTP/1.1 304 Not Modified\r\nContent-Length: 1000\r\n\r\n",
	} {
		client, _ := startResettingPeer(t, 0, "", answer)
		if _, err := client.Do(t.Context(), Request{Method: method, Path: "/"}); err != nil {
			t.Errorf("%s: %v", method, err)
		}
	}
}

// If all connections are in use, the client opens a new one for a call. The call may have ended before the connection
// is established; a later call then uses it.
func TestDialConnectsAtFirstWriteWithinDeadline(t *testing.T) {
	t.Parallel()
	listener, client := startSilentPeer(t, "http://")
	early, err := client.transport.single.Dial(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = early.Close() }()
	_ = early.SetWriteDeadline(time.Now().Add(-time.Second))
	if _, err := early.Write([]byte("a")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("after the deadline: %v", err)
	}
	other, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	_ = early.SetWriteDeadline(time.Now().Add(time.Minute))
	if _, err := early.Write([]byte("a")); err != nil {
		t.Errorf("within the deadline: %v", err)
	}
	first, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = first.Close() }()
	if first.RemoteAddr().String() != other.LocalAddr().String() {
		t.Error("the connection was made before it was used")
	}
}

// startSilentPeer starts a peer that accepts connections and sends nothing.
func startSilentPeer(t *testing.T, scheme string) (net.Listener, *Client) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	client := New("silent", scheme+listener.Addr().String(), telemetry.Discard(), Timeout(20*time.Millisecond))
	t.Cleanup(func() { client.Close(); _ = listener.Close() })
	return listener, client
}

func TestUnansweredHandshakeEndsAtDeadline(t *testing.T) {
	t.Parallel()
	_, client := startSilentPeer(t, "https://")
	// fasthttp does not report whether the handshake timed out, so a write may have been sent.
	for method, kind := range map[string]fault.Kind{http.MethodGet: fault.PeerUnavailable,
		http.MethodPost: fault.OutcomeUnknown} {
		if err := client.Call(t.Context(), method, "/", nil, nil); !fault.Is(err, kind) {
			t.Errorf("%s: %v", method, err)
		}
	}
}

func TestCallOverTLS(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	client := New("secure", server.URL, telemetry.Discard(), Timeout(testkit.MaxWait))
	t.Cleanup(func() { client.Close(); server.Close() })
	trusted := server.Client().Transport.(*http.Transport).TLSClientConfig
	client.transport.reused.TLSConfig, client.transport.single.TLSConfig = trusted, trusted
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodGet} {
		if err := client.Call(t.Context(), method, "/", nil, nil); err != nil {
			t.Errorf("%s: %v", method, err)
		}
	}
}

// TestClosedIdleConnectionIsNotReused uses peers that close an idle connection and silently discard later data, as if
// the machine of the peer had disappeared.
func TestClosedIdleConnectionIsNotReused(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	client := New("ended", "http://"+listener.Addr().String(), telemetry.Discard(), Timeout(testkit.MaxWait))
	defer client.Close()
	ended := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		first, err := listener.Accept()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = first.Close() }()
		answerOne(t, first)
		if err := first.(*net.TCPConn).CloseWrite(); err != nil {
			t.Error(err)
		}
		close(ended)
		second, err := listener.Accept()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = second.Close() }()
		answerOne(t, second)
		if n, _ := first.Read(make([]byte, 1)); n > 0 {
			t.Error("something was sent over the connection that was ended")
		}
	})
	defer all.Wait()
	ask := func() {
		if _, err := client.Do(t.Context(), Request{Method: http.MethodGet, Path: "/"}); err != nil {
			t.Error(err)
		}
	}
	ask()
	<-ended
	ask()
}

func answerOne(t *testing.T, c net.Conn) {
	t.Helper()
	if _, err := http.ReadRequest(bufio.NewReader(c)); err != nil {
		t.Error(err)
	}
	if _, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"); err != nil {
		t.Error(err)
	}
}

// timedOutConn is a connection that the system closed after a timeout while it was idle.
type timedOutConn struct{ net.Conn }

func (timedOutConn) Write([]byte) (int, error) {
	return 0, &net.OpError{Op: "write", Err: os.NewSyscallError("write", syscall.ETIMEDOUT)}
}

func (timedOutConn) Read([]byte) (int, error) {
	return 0, &net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ETIMEDOUT)}
}

func TestSystemTimeoutIsLostConnection(t *testing.T) {
	t.Parallel()
	c := &conn{Conn: timedOutConn{}, isEstablished: true}
	if _, err := c.Write([]byte("GET")); !isConnectionLost(err) {
		t.Errorf("writing: %v", err)
	}
	if _, err := c.Read(make([]byte, 1)); !isConnectionLost(err) {
		t.Errorf("reading: %v", err)
	}
}
