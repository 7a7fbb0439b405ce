package ratelimit_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/ratelimit"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestLocalMeetsContract(t *testing.T) {
	t.Parallel()
	manualClock := clock.Fixed(noon)
	runContract(t, contract{
		limiter: ratelimit.NewLocal(manualClock),
		now:     func(testing.TB) time.Time { return manualClock.Now() },
		pass:    func(_ testing.TB, d time.Duration) { manualClock.Advance(d) },
		key:     uuid.NewString,
	})
}

func TestLocalMinuteIsExact(t *testing.T) {
	t.Parallel()
	manualClock := clock.Fixed(noon)
	b := contract{limiter: ratelimit.NewLocal(manualClock)}
	limit := ratelimit.PerMinute("", 2)
	for _, step := range []struct {
		at    time.Duration
		pass  bool
		after time.Duration
	}{
		{0, true, 0},
		{10 * time.Second, true, 0},
		{20 * time.Second, false, 40 * time.Second},
		{time.Minute - 1, false, 1},
		{time.Minute, true, 0},
		{time.Minute, false, 10 * time.Second},
		{70*time.Second - 1, false, 1},
		{70 * time.Second, true, 0},
	} {
		manualClock.Set(noon.Add(step.at))
		if d := b.ask(t, "client", limit); d.Allowed != step.pass || d.RetryAfter != step.after {
			t.Errorf("at %s: %+v, want Allowed %v, RetryAfter %s", step.at, d, step.pass, step.after)
		}
	}
}

func TestLocalDropsIdleKeys(t *testing.T) {
	t.Parallel()
	manualClock := clock.Fixed(noon)
	local := ratelimit.NewLocal(manualClock)
	b := contract{limiter: local}
	for i := range 1000 {
		b.ask(t, strconv.Itoa(i), ratelimit.PerMinute("", 1))
	}
	manualClock.Advance(time.Minute)
	b.ask(t, "another", ratelimit.PerMinute("", 1))
	if n := ratelimit.CountKeys(local); n != 1 {
		t.Errorf("%d keys are remembered, want 1", n)
	}
}

func TestLocalMemoryIsBounded(t *testing.T) {
	t.Parallel()
	local := ratelimit.NewSizedLocal(clock.Fixed(noon), 10, 1000)
	b := contract{limiter: local}
	limit := ratelimit.PerMinute("", 1)
	b.ask(t, "busy", limit)
	for i := range 100 {
		b.ask(t, strconv.Itoa(i), limit)
		if b.ask(t, "busy", limit).Allowed {
			t.Fatal("a client that keeps asking was forgotten")
		}
	}
	if n := ratelimit.CountKeys(local); n != 10 {
		t.Errorf("%d keys are remembered, want 10", n)
	}
}

func TestLocalClockSetBackResetsCount(t *testing.T) {
	t.Parallel()
	manualClock := clock.Fixed(noon)
	b := contract{limiter: ratelimit.NewLocal(manualClock)}
	b.ask(t, "client", ratelimit.PerMinute("", 1))
	manualClock.Set(noon.Add(-time.Hour))
	if d := b.ask(t, "client", ratelimit.PerMinute("", 1)); !d.Allowed {
		t.Errorf("%+v, want it to pass", d)
	}
}

func TestLocalBoundsRecordedRequests(t *testing.T) {
	t.Parallel()
	local := ratelimit.NewSizedLocal(clock.Fixed(noon), 1000, 50)
	b := contract{limiter: local}
	limit := ratelimit.PerMinute("", 20)
	for range 20 {
		b.ask(t, "busy", limit)
	}
	for i := range 200 {
		b.ask(t, strconv.Itoa(i), limit)
		if b.ask(t, "busy", limit).Allowed {
			t.Fatal("a client that keeps asking was forgotten")
		}
		if n := ratelimit.CountTimes(local); n > 50 {
			t.Fatalf("%d requests are stored, want at most 50", n)
		}
	}
}
