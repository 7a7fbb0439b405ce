package api

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/ratelimit"
)

// meeting is a limiter that answers only once the occupied time has been asked for, which itself waits for the limiter.
type meeting struct {
	decision       ratelimit.Decision
	err            error
	limit, reading chan struct{} // closed when asked
}

func newMeeting(decision ratelimit.Decision, err error) *meeting {
	return &meeting{decision: decision, err: err, limit: make(chan struct{}), reading: make(chan struct{})}
}

// Allow gives the decision.
func (m *meeting) Allow(ctx context.Context, _ string, _ ratelimit.Limit) (ratelimit.Decision, error) {
	if err := meet(ctx, m.limit, m.reading); err != nil {
		return ratelimit.Decision{}, err
	}
	return m.decision, m.err
}

func meet(ctx context.Context, here, there chan struct{}) error {
	close(here)
	select {
	case <-there:
		return nil
	case <-ctx.Done():
		return errors.New("the other was not asked meanwhile")
	}
}

func TestARequestIsCountedWhileItsAnswerIsRead(t *testing.T) {
	t.Parallel()
	passes, over, away := ratelimit.Decision{Allowed: true}, ratelimit.Decision{RetryAfter: 7 * time.Second}, errors.New("away")
	for name, c := range map[string]struct {
		decision    ratelimit.Decision
		limit, busy error
		status      int
		body        string
		retryAfter  string
	}{
		"both answer":                  {passes, nil, nil, 200, `"computed":true`, ""},
		"over the limit":               {over, nil, nil, 429, `"rate_limited"`, "7"},
		"over the limit, booking away": {over, nil, away, 429, `"rate_limited"`, "7"},
		"booking away":                 {passes, nil, away, 200, `"computed":false`, ""},
		"the limit makes no sense":     {ratelimit.Decision{}, errors.New("no window"), nil, 500, `"internal"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, path := range []string{"slots", "available-dates"} {
				s := start(t, func(n *neighbours) { n.busyErr, n.meeting = c.busy, newMeeting(c.decision, c.limit) })
				got := s.get(t, "harbor/"+path, "date", monday, "start", monday, "end", monday, "service_id", cut.String())
				if got.status != c.status || !strings.Contains(got.body, c.body) || got.header.Get("Retry-After") != c.retryAfter {
					t.Errorf("%s: %d, Retry-After %q, %s", path, got.status, got.header.Get("Retry-After"), got.body)
				}
			}
		})
	}
}

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
