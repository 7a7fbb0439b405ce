package adminapi_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/adminapi"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

func answering(t *testing.T, handle http.HandlerFunc) (*adminapi.Client, *atomic.Int64) {
	t.Helper()
	var sent atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent.Add(1)
		handle(w, r)
	}))
	t.Cleanup(server.Close)
	return &adminapi.Client{Base: server.URL, Token: "token", HTTP: server.Client(), Attempts: 3}, &sent
}

// TestErrorsHaveCodeOfServer answers requests with the status 409. The error has the code of the
// admin API only if the body is a fault of that API. The body of a proxy in between gives an error without a code. No
// refusal is sent again.
func TestErrorsHaveCodeOfServer(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]fault.Kind{
		`{"error": "Sold out.", "messageCode": "conflict"}`: fault.Conflict,
		`<html>Conflict</html>`:                             {Status: http.StatusConflict},
		`{"message": "of something else"}`:                  {Status: http.StatusConflict},
	} {
		c, sent := answering(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusConflict)
			_, _ = w.Write([]byte(body))
		})
		_, err := c.Send(t.Context(),
			adminapi.Request{Method: http.MethodPost, Path: adminapi.BusinessPath("harbor", "keys")})
		if !fault.Is(err, want) || sent.Load() != 1 {
			t.Errorf("%s: %v after %d requests", body, err, sent.Load())
		}
	}
}

// overdue is a connection on which every request times out.
type overdue struct{ sent *int }

func (o overdue) RoundTrip(*http.Request) (*http.Response, error) {
	*o.sent++
	return nil, os.ErrDeadlineExceeded
}

func TestRetryAfterTimeoutNeedsSafeRequest(t *testing.T) {
	t.Parallel()
	for again, want := range map[bool]int{false: 1, true: 3} {
		sent := 0
		c := &adminapi.Client{Base: "http://admin.example", HTTP: &http.Client{Transport: overdue{&sent}}, Attempts: 3,
			RepeatTimeouts: again}
		_, err := c.Send(t.Context(), adminapi.Request{Method: http.MethodGet, Path: adminapi.BusinessPath("harbor")})
		var lost *adminapi.NoAnswerError
		if !errors.As(err, &lost) || !lost.TimedOut() || strings.Contains(err.Error(), "admin.example") ||
			sent != want {
			t.Errorf("again %t: %v after %d requests, want %d", again, err, sent, want)
		}
	}
}
