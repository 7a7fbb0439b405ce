package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/values/fault"
)

func TestHTTPPortAnswersLikeFiber(t *testing.T) {
	t.Parallel()
	s := startServer(t, Config{}, func(s *Server) {
		s.HandleHTTP("/echo", func(w http.ResponseWriter, r *http.Request) error {
			body, err := BodyOf(r)
			if err != nil {
				return err
			}
			w.WriteHeader(http.StatusAccepted)
			_, err = w.Write(body)
			return err
		})
		s.HandleHTTP("/plain", func(http.ResponseWriter, *http.Request) error { return errors.New("secret detail") })
		s.HandleHTTP("/panic", func(http.ResponseWriter, *http.Request) error { panic("secret detail") })
		s.HandleHTTP("/late", func(http.ResponseWriter, *http.Request) error { return context.DeadlineExceeded })
		s.HandleHTTP("/limited", func(w http.ResponseWriter, _ *http.Request) error {
			w.Header().Set("WWW-Authenticate", "Bearer")
			return &fault.Error{Kind: fault.KeyRateLimited, Sentence: "Slow down.", RetryAfter: 1500 * time.Millisecond}
		})
	})
	for path, want := range map[string]fault.Kind{
		"/plain": fault.Internal, "/panic": fault.Internal, "/late": fault.PeerUnavailable,
		"/limited": fault.KeyRateLimited, "/nowhere": fault.NotFound, "/echo/": fault.NotFound,
		"/metrics": fault.NotFound,
	} {
		response, body := fetchText(t, "POST", publicURL(s, path), strings.NewReader("x"))
		checkFault(t, response, body, want)
		if bytes.Contains(body, []byte("secret")) {
			t.Errorf("%s shows the inside: %s", path, body)
		}
		if response.Header.Get("Traceparent") == "" || response.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s answers with the headers %v", path, response.Header)
		}
		if path == "/limited" && (response.Header.Get("Retry-After") != "2" ||
			response.Header.Get("WWW-Authenticate") != "Bearer") {
			t.Errorf("headers of the limit: %v", response.Header)
		}
	}
	atTheLimit := strings.Repeat("x", 1024)
	if response, body := fetchText(t, "POST", publicURL(s, "/echo"),
		strings.NewReader(atTheLimit)); response.StatusCode != http.StatusAccepted || string(body) != atTheLimit {
		t.Errorf("a body at the limit: status %d, %d bytes", response.StatusCode, len(body))
	}
	response, body := fetchText(t, "POST", publicURL(s, "/echo"), strings.NewReader(strings.Repeat("x", 10<<20)))
	checkFault(t, response, body, fault.PayloadTooLarge)
	response, body = fetchText(t, "POST", publicURL(s, "/echo"), io.LimitReader(endlessReader('x'), 10<<20))
	checkFault(t, response, body, fault.PayloadTooLarge)
}

func TestHTTPPortRequestsHaveDeadline(t *testing.T) {
	t.Parallel()
	s := startServer(t, Config{RequestTimeout: 20 * time.Millisecond}, func(s *Server) {
		s.HandleHTTP("/slow", func(_ http.ResponseWriter, r *http.Request) error {
			<-r.Context().Done()
			return r.Context().Err()
		})
	})
	response, body := fetchText(t, "GET", publicURL(s, "/slow"), nil)
	checkFault(t, response, body, fault.PeerUnavailable)
}

// closeSignal reports that the port is stopping.
type closeSignal struct {
	net.Listener
	began chan struct{}
}

func (c closeSignal) Close() error {
	close(c.began)
	return c.Listener.Close()
}

func TestStopFinishesHTTPRequestsNotIdleConnections(t *testing.T) {
	t.Parallel()
	entered, finish := make(chan struct{}), make(chan struct{})
	status := make(chan int, 1)
	// The server stops when the inner test ends, while the request is still in progress.
	t.Run("inner", func(t *testing.T) {
		s := startServer(t, Config{}, func(s *Server) {
			s.HandleHTTP("/slow", func(http.ResponseWriter, *http.Request) error {
				close(entered)
				<-finish
				return nil
			})
			s.public.Listener = closeSignal{s.public.Listener, finish}
		})
		reserve, err := net.Dial("tcp", s.PublicAddr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = reserve.Close() })
		go func() {
			response, _ := fetchText(t, "GET", publicURL(s, "/slow"), nil)
			status <- response.StatusCode
		}()
		<-entered
	})
	if got := <-status; got != http.StatusOK {
		t.Errorf("the request in flight was answered %d", got)
	}
}
