package ratelimit_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/ratelimit"
)

// bench is one limiter with the clock it goes by.
type bench struct {
	limiter ratelimit.Limiter
	now     func(testing.TB) time.Time
	pass    func(testing.TB, time.Duration) // let so much time pass on that clock
	key     func() string                   // a key nobody used before
}

// suite is what every limiter promises. A clock that cannot be set by hand is watched instead, so windows are short
// where time must pass.
func suite(t *testing.T, b bench) {
	t.Run("N pass at once and the next is refused until the oldest is one window old", b.passesN)
	t.Run("refused requests do not count", b.refusedDoNotCount)
	t.Run("keys do not share a limit", b.keysAreApart)
	t.Run("of 200 at once exactly N pass", b.exactUnderConcurrency)
	t.Run("no limit lets everything pass", b.zeroLimit)
	t.Run("a senseless limit is an error", b.senselessLimit)
	t.Run("a cancelled request is an error", b.cancelled)
	t.Run("agrees with the oracle", b.agreesWithOracle)
}

func (b bench) ask(t testing.TB, key string, limit ratelimit.Limit) ratelimit.Decision {
	t.Helper()
	d, err := b.limiter.Allow(t.Context(), key, limit)
	if err != nil {
		t.Fatalf("Allow(%q, %v): %v", key, limit, err)
	}
	return d
}

func (b bench) passesN(t *testing.T) {
	t.Parallel()
	limit, key := ratelimit.Limit{N: 3, Window: 50 * time.Millisecond}, b.key()
	b.ask(t, key, ratelimit.Limit{N: 3, Window: time.Hour}) // the oldest
	b.pass(t, 20*time.Millisecond)
	long := ratelimit.Limit{N: 3, Window: time.Hour}
	b.ask(t, key, long)
	b.ask(t, key, long)
	d := b.ask(t, key, long)
	if d.Allowed || d.RetryAfter > time.Hour-20*time.Millisecond || d.RetryAfter < 59*time.Minute {
		t.Errorf("4th of 3 per hour, 20 ms after the first: %+v, want a refusal until the first is an hour old", d)
	}
	b.pass(t, limit.Window)
	if d := b.ask(t, key, limit); !d.Allowed || d.RetryAfter != 0 {
		t.Errorf("after the window: %+v, want it to pass", d)
	}
}

func (b bench) refusedDoNotCount(t *testing.T) {
	t.Parallel()
	limit, key := ratelimit.Limit{N: 1, Window: 20 * time.Millisecond}, b.key()
	var o oracle
	for passed := 0; passed < 3; b.pass(t, time.Millisecond) {
		before := b.now(t)
		d := b.ask(t, key, limit)
		if fault := o.judge(limit, before, b.now(t), d); fault != "" {
			t.Fatal(fault)
		}
		if d.Allowed {
			passed++
		}
	}
}

func (b bench) keysAreApart(t *testing.T) {
	t.Parallel()
	limit := ratelimit.PerMinute(1)
	if !b.ask(t, b.key(), limit).Allowed || !b.ask(t, b.key(), limit).Allowed {
		t.Error("the first request of a key was refused")
	}
}

func (b bench) exactUnderConcurrency(t *testing.T) {
	t.Parallel()
	const n, callers = 61, 200
	key := b.key()
	var passed atomic.Int32
	var group sync.WaitGroup
	for range callers {
		group.Go(func() {
			if b.ask(t, key, ratelimit.PerMinute(n)).Allowed {
				passed.Add(1)
			}
		})
	}
	group.Wait()
	if passed.Load() != n {
		t.Errorf("%d of %d passed, want exactly %d", passed.Load(), callers, n)
	}
}

func (b bench) zeroLimit(t *testing.T) {
	t.Parallel()
	key := b.key()
	for range 3 {
		if !b.ask(t, key, ratelimit.Limit{}).Allowed {
			t.Fatal("refused without a limit")
		}
	}
}

func (b bench) senselessLimit(t *testing.T) {
	t.Parallel()
	for _, limit := range []ratelimit.Limit{{N: -1, Window: time.Minute}, {N: 1}, {N: 1, Window: -time.Second}} {
		if d, err := b.limiter.Allow(t.Context(), b.key(), limit); err == nil {
			t.Errorf("Allow(%v) = %+v, want an error", limit, d)
		}
	}
}

func (b bench) cancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if d, err := b.limiter.Allow(ctx, b.key(), ratelimit.PerMinute(1)); err == nil {
		t.Errorf("Allow = %+v, want the error of the context", d)
	}
}

// agreesWithOracle asks in random order and at random times and compares with the words of semantics.md §8. Between
// the two readings of the clock around a question the oracle does not know when it was answered, and there alone it
// takes either answer.
func (b bench) agreesWithOracle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		limit := ratelimit.Limit{N: rapid.IntRange(1, 5).Draw(r, "n"), Window: 4 * time.Millisecond}
		keys := []string{b.key(), b.key()}
		oracles := make([]oracle, len(keys))
		for range rapid.IntRange(1, 30).Draw(r, "steps") {
			if rapid.Bool().Draw(r, "wait") {
				b.pass(t, time.Duration(rapid.IntRange(1, 3000).Draw(r, "µs"))*time.Microsecond)
			}
			k := rapid.IntRange(0, len(keys)-1).Draw(r, "key")
			before := b.now(t)
			d := b.ask(t, keys[k], limit)
			if fault := oracles[k].judge(limit, before, b.now(t), d); fault != "" {
				r.Fatal(fault)
			}
		}
	})
}

// oracle remembers every acceptance of one key, each known to lie between two readings of the clock.
type oracle struct{ accepted []span }

type span struct{ from, to time.Time }

// judge says what is wrong with the decision on a request that was made within [from, to], if anything.
func (o *oracle) judge(limit ratelimit.Limit, from, to time.Time, d ratelimit.Decision) string {
	possibly, surely := 0, 0 // acceptances that are younger than the window
	for _, a := range o.accepted {
		if from.Sub(a.to) < limit.Window {
			possibly++
		}
		if to.Sub(a.from) < limit.Window {
			surely++
		}
	}
	if d.Allowed {
		o.accepted = append(o.accepted, span{from, to})
		if surely >= limit.N {
			return fmt.Sprintf("passed, though %d of %v had passed within the window", surely, limit)
		}
		return ""
	}
	if possibly < limit.N {
		return fmt.Sprintf("refused, though only %d of %v had passed within the window", possibly, limit)
	}
	oldest := o.accepted[len(o.accepted)-limit.N] // once it is too old, N-1 are left
	least, most := oldest.from.Add(limit.Window).Sub(to), oldest.to.Add(limit.Window).Sub(from)
	if d.RetryAfter <= 0 || d.RetryAfter < least || d.RetryAfter > most {
		return fmt.Sprintf("refused for %s, want above 0 and from %s to %s", d.RetryAfter, least, most)
	}
	return ""
}
