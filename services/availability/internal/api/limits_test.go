package api

import (
	"strings"
	"testing"
)

// TestLimitPrecedesValidation has invalid requests, which get 429 and no validation error once the limit is reached.
func TestLimitPrecedesValidation(t *testing.T) {
	t.Parallel()
	s := startService(t, nil)
	for range 60 {
		s.get(t, "harbor/slots", "date", "nonsense").expectFault(t, 400, "invalid_parameter")
	}
	for _, path := range []string{"harbor/slots", "elsewhere/slots"} {
		s.get(t, path, "date", monday, "service_id", haircut.String()).expectFault(t, 429, "rate_limited")
	}
	s.get(t, "harbor/slots", "date", "nonsense").expectFault(t, 429, "rate_limited")
}

func (r reply) expectFault(t *testing.T, status int, code string) {
	t.Helper()
	if r.status != status || !strings.Contains(r.body, `"`+code+`"`) {
		t.Errorf("answers %d %s, want %d %s", r.status, r.body, status, code)
	}
}

func TestLimitedRequestsDoNotReachBooking(t *testing.T) {
	t.Parallel()
	s := startService(t, nil)
	slots := func() reply {
		return s.get(t, "harbor/slots", "date", monday, "service_id", haircut.String())
	}
	for range 60 {
		if got := slots(); got.status != 200 {
			t.Fatalf("below the limit: %d %s", got.status, got.body)
		}
	}
	read := len(s.requestedWindows)
	for range 5 {
		got := slots()
		if got.expectFault(t, 429, "rate_limited"); got.header.Get("Retry-After") == "" {
			t.Error("Retry-After is missing")
		}
	}
	if asked := len(s.requestedWindows) - read; asked != 0 {
		t.Errorf("booking was asked %d times for refused requests", asked)
	}
}
