package api

import (
	"strings"
	"testing"
)

// What is wrong with a request is not told to who is over the limit.
func TestTheLimitComesBeforeWhatIsWrongWithARequest(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	for range 60 {
		s.get(t, "harbor/slots", "date", "nonsense").mustFail(t, 400, "invalid_parameter")
	}
	for _, path := range []string{"harbor/slots", "elsewhere/slots"} {
		s.get(t, path, "date", monday, "service_id", cut.String()).mustFail(t, 429, "rate_limited")
	}
	s.get(t, "harbor/slots", "date", "nonsense").mustFail(t, 429, "rate_limited")
}

func (r reply) mustFail(t *testing.T, status int, code string) {
	t.Helper()
	if r.status != status || !strings.Contains(r.body, `"`+code+`"`) {
		t.Errorf("answers %d %s, want %d %s", r.status, r.body, status, code)
	}
}

func TestAClientOverItsLimitCostsNobodyAnything(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	slots := func() reply {
		return s.get(t, "harbor/slots", "date", monday, "service_id", cut.String())
	}
	for range 60 {
		if got := slots(); got.status != 200 {
			t.Fatalf("below the limit: %d %s", got.status, got.body)
		}
	}
	read := len(s.askedWindow)
	for range 5 {
		got := slots()
		if got.mustFail(t, 429, "rate_limited"); got.header.Get("Retry-After") == "" {
			t.Error("Retry-After is missing")
		}
	}
	if asked := len(s.askedWindow) - read; asked != 0 {
		t.Errorf("booking was asked %d times for refused requests", asked)
	}
}
