package api

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/ratelimit"
	"github.com/slotmesh/slotmesh/libs/telemetry"
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

// numbered is a limiter that says how often it was asked.
type numbered struct {
	ratelimit.Limiter
	asked int
}

// Allow asks the limiter.
func (n *numbered) Allow(ctx context.Context, key string, limit ratelimit.Limit) (ratelimit.Decision, error) {
	n.asked++
	return n.Limiter.Allow(ctx, key, limit)
}

// Whoever is remembered as refused must be let through when the limiter itself would, and not before.
func TestRememberedRefusalsAreAsExactAsTheLimit(t *testing.T) {
	t.Parallel()
	remembered := 0
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 6))
		hands := clock.Fixed(time.Date(2027, time.March, 1, 8, 0, 0, 0, time.UTC))
		plain, behind := ratelimit.NewLocal(hands), &numbered{Limiter: ratelimit.NewLocal(hands)}
		l := newLimits(behind, hands, telemetry.Discard())
		limit := ratelimit.PerMinute(5)
		for range 400 {
			hands.Advance(time.Duration(r.IntN(15_000)) * time.Millisecond)
			key := []string{"slots:a", "slots:b"}[r.IntN(2)]
			want, err := plain.Allow(t.Context(), key, limit)
			if err != nil {
				t.Fatal(err)
			}
			asked := behind.asked
			wait := l.left(key)
			if wait == 0 {
				err = l.ask(t.Context(), key, limit)
				wait = fault.Of(err).RetryAfter
			}
			if passes := wait == 0; passes != want.Allowed || wait != want.RetryAfter {
				t.Fatalf("seed %d: passes %v after %s, want %+v", seed, passes, wait, want)
			}
			if behind.asked == asked {
				remembered++
			}
		}
	}
	if remembered == 0 {
		t.Error("no refusal was remembered")
	}
}

func TestAClientOverItsLimitCostsNobodyAnything(t *testing.T) {
	t.Parallel()
	counted := &numbered{Limiter: ratelimit.NewLocal(clock.System())}
	s := start(t, func(n *neighbours) { n.limiter = counted })
	slots := func() reply {
		return s.get(t, "harbor/slots", "date", monday, "service_id", cut.String())
	}
	for range 60 {
		if got := slots(); got.status != 200 {
			t.Fatalf("below the limit: %d %s", got.status, got.body)
		}
	}
	slots().mustFail(t, 429, "rate_limited")
	read := len(s.askedWindow)
	for range 5 {
		if got := slots(); got.status != 429 || got.header.Get("Retry-After") == "" {
			t.Errorf("%d, Retry-After %q", got.status, got.header.Get("Retry-After"))
		}
	}
	if counted.asked != 61 || len(s.askedWindow) != read {
		t.Errorf("Redis was asked %d times, booking %d times after the first refusal", counted.asked, len(s.askedWindow)-read)
	}
}

func TestRefusalsAreForgottenWhereThereAreTooMany(t *testing.T) {
	t.Parallel()
	hands := clock.Fixed(time.Date(2027, time.March, 1, 8, 0, 0, 0, time.UTC))
	l := newLimits(nil, hands, telemetry.Discard())
	for i := range 3 * mostRefusals {
		l.remember(strconv.Itoa(i), hands.Now().Add(time.Minute))
	}
	if len(l.until) > mostRefusals || l.left(strconv.Itoa(3*mostRefusals-1)) != time.Minute {
		t.Errorf("%d are remembered, the last for %s", len(l.until), l.left(strconv.Itoa(3*mostRefusals-1)))
	}
}
