package ratelimit_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/platform/ratelimit"
)

// contract is one limiter with its clock.
type contract struct {
	limiter ratelimit.Limiter
	now     func(testing.TB) time.Time
	pass    func(testing.TB, time.Duration) // moves that clock on by the duration
	key     func() string                   // returns a new key
}

// runContract tests what every limiter must do. If a test cannot set the clock, it waits, so windows are short when
// time must pass.
func runContract(t *testing.T, b contract) {
	t.Run("N pass at once and the next is refused until the oldest is one window old", b.passesN)
	t.Run("refused requests do not count", b.ignoresRefusals)
	t.Run("keys do not share a limit", b.separatesKeys)
	t.Run("of 200 at once exactly N pass", b.isExactUnderConcurrency)
	t.Run("no limit lets everything pass", b.ignoresZeroLimit)
	t.Run("a senseless limit is an error", b.rejectsInvalidLimit)
	t.Run("a cancelled request is an error", b.rejectsCancelledContext)
	t.Run("agrees with the oracle", b.agreesWithOracle)
	t.Run("what is left counts down", b.countsDown)
	t.Run("addresses of one /64 share a limit", b.sharesNetworkLimit)
	t.Run("ten /64s of one /56 have ten times the limit together", b.limitsWiderNetwork)
	t.Run("networks agree with the oracle", b.networksAgreeWithOracle)
	t.Run("asked in turn, limits decide as one after the other", b.decidesInTurn)
}

func (b contract) ask(t testing.TB, key string, limit ratelimit.Limit) ratelimit.Decision {
	t.Helper()
	return b.askAs(t, ratelimit.ID(key), limit)
}

func (b contract) askAs(t testing.TB, who ratelimit.Client, limit ratelimit.Limit) ratelimit.Decision {
	t.Helper()
	d, err := b.limiter.Allow(t.Context(), who, limit)
	if err != nil {
		t.Fatalf("Allow(%v, %v): %v", who, limit, err)
	}
	return d
}

// perHour returns a limit whose window is longer than a test on a slow machine.
func perHour(n int) ratelimit.Limit { return ratelimit.Limit{N: n, Window: time.Hour} }

// network returns a new /48.
func network() [16]byte {
	whole := [16]byte{0xfd}
	for i := 1; i < 6; i++ {
		whole[i] = byte(rand.IntN(256))
	}
	return whole
}

// host returns an address in the /48. The next byte selects the /56, the one after it the /64, and the last one the
// host.
func host(whole [16]byte, wide, near, last byte) ratelimit.Client {
	whole[6], whole[7], whole[15] = wide, near, last
	return ratelimit.Address(netip.AddrFrom16(whole))
}

func (b contract) passesN(t *testing.T) {
	t.Parallel()
	long, key := ratelimit.Limit{N: 3, Window: time.Hour}, b.key()
	b.ask(t, key, long) // the oldest
	b.pass(t, 20*time.Millisecond)
	b.ask(t, key, long)
	b.ask(t, key, long)
	d := b.ask(t, key, long)
	if d.Allowed || d.RetryAfter > time.Hour-20*time.Millisecond || d.RetryAfter < 59*time.Minute {
		t.Errorf("4th of 3 per hour, 20 ms after the first: %+v, want a refusal until the first is an hour old", d)
	}
	limit, key := ratelimit.Limit{N: 3, Window: 50 * time.Millisecond}, b.key()
	for range 3 {
		b.ask(t, key, limit)
	}
	b.pass(t, limit.Window)
	if d := b.ask(t, key, limit); !d.Allowed || d.RetryAfter != 0 {
		t.Errorf("after the window: %+v, want it to pass", d)
	}
}

func (b contract) ignoresRefusals(t *testing.T) {
	t.Parallel()
	limit, key := ratelimit.Limit{N: 1, Window: 20 * time.Millisecond}, b.key()
	o := oracle{n: limit.N}
	for passed := 0; passed < 3; b.pass(t, time.Millisecond) {
		before := b.now(t)
		d := b.ask(t, key, limit)
		if fault := checkOracle(limit, before, b.now(t), d, &o); fault != "" {
			t.Fatal(fault)
		}
		if d.Allowed {
			passed++
		}
	}
}

func (b contract) separatesKeys(t *testing.T) {
	t.Parallel()
	limit := perHour(1)
	if !b.ask(t, b.key(), limit).Allowed || !b.ask(t, b.key(), limit).Allowed {
		t.Error("the first request of a key was refused")
	}
}

func (b contract) isExactUnderConcurrency(t *testing.T) {
	t.Parallel()
	const n, callers = 61, 200
	key := b.key()
	var passed atomic.Int32
	var group sync.WaitGroup
	for range callers {
		group.Go(func() {
			if b.ask(t, key, perHour(n)).Allowed {
				passed.Add(1)
			}
		})
	}
	group.Wait()
	if passed.Load() != n {
		t.Errorf("%d of %d passed, want exactly %d", passed.Load(), callers, n)
	}
}

func (b contract) ignoresZeroLimit(t *testing.T) {
	t.Parallel()
	key := b.key()
	for range 3 {
		if !b.ask(t, key, ratelimit.Limit{}).Allowed {
			t.Fatal("refused without a limit")
		}
	}
}

func (b contract) rejectsInvalidLimit(t *testing.T) {
	t.Parallel()
	for _, limit := range []ratelimit.Limit{{N: -1, Window: time.Minute}, {N: 1}, {N: 1, Window: -time.Second}} {
		if d, err := b.limiter.Allow(t.Context(), ratelimit.ID(b.key()), limit); err == nil {
			t.Errorf("Allow(%v) = %+v, want an error", limit, d)
		}
	}
}

func (b contract) rejectsCancelledContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if d, err := b.limiter.Allow(ctx, ratelimit.ID(b.key()), ratelimit.PerMinute("", 1)); err == nil {
		t.Errorf("Allow = %+v, want the error of the context", d)
	}
}

// agreesWithOracle sends requests in random order at random times and compares with semantics.md §8. The oracle knows
// only two readings of the clock around each decision. It accepts either decision if the result depends on the time
// between them.
func (b contract) agreesWithOracle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		limit := ratelimit.Limit{N: rapid.IntRange(1, 5).Draw(r, "n"), Window: 4 * time.Millisecond}
		keys := []string{b.key(), b.key()}
		oracles := []oracle{{n: limit.N}, {n: limit.N}}
		for range rapid.IntRange(1, 30).Draw(r, "steps") {
			if rapid.Bool().Draw(r, "wait") {
				b.pass(t, time.Duration(rapid.IntRange(1, 3000).Draw(r, "µs"))*time.Microsecond)
			}
			k := rapid.IntRange(0, len(keys)-1).Draw(r, "key")
			before := b.now(t)
			d := b.ask(t, keys[k], limit)
			if fault := checkOracle(limit, before, b.now(t), d, &oracles[k]); fault != "" {
				r.Fatal(fault)
			}
		}
	})
}

// networksAgreeWithOracle sends requests from four /64s in one /48. Two of them are in one /56. The limits of all
// networks are reached at some times.
func (b contract) networksAgreeWithOracle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		limit := ratelimit.Limit{N: rapid.IntRange(1, 2).Draw(r, "n"), Window: 20 * time.Millisecond}
		whole, nets := network(), map[[2]byte]*oracle{}
		of := func(kind, n byte, times int) *oracle {
			at := [2]byte{kind, n}
			if nets[at] == nil {
				nets[at] = &oracle{n: limit.N * times}
			}
			return nets[at]
		}
		for range rapid.IntRange(1, 60).Draw(r, "steps") {
			if rapid.IntRange(0, 9).Draw(r, "wait") == 0 {
				b.pass(t, time.Duration(rapid.IntRange(1, 15000).Draw(r, "µs"))*time.Microsecond)
			}
			wide, near := byte(rapid.IntRange(0, 1).Draw(r, "/56")), byte(rapid.IntRange(0, 15).Draw(r, "/64"))
			before := b.now(t)
			d := b.askAs(t, host(whole, wide, near, byte(rapid.IntRange(0, 255).Draw(r, "host"))), limit)
			if fault := checkOracle(limit, before, b.now(t), d, of(64, wide<<4|near, 1), of(56, wide, 10),
				of(48, 0, 10)); fault != "" {
				r.Fatal(fault)
			}
		}
	})
}

func (b contract) countsDown(t *testing.T) {
	t.Parallel()
	limit, key := ratelimit.Limit{N: 3, Window: time.Hour}, b.key()
	for left := 2; left >= 0; left-- {
		if d := b.ask(t, key, limit); !d.Allowed || d.Left != left || d.Reset > time.Hour || d.Reset < 59*time.Minute {
			t.Errorf("%+v, want %d left, and the first to count for an hour", d, left)
		}
	}
	if d := b.ask(t, key, limit); d.Allowed || d.Left != 0 || d.Reset != d.RetryAfter || d.Reset <= 0 {
		t.Errorf("over the limit: %+v", d)
	}
}

func (b contract) sharesNetworkLimit(t *testing.T) {
	t.Parallel()
	limit, whole := perHour(3), network()
	for last := range byte(3) {
		if !b.askAs(t, host(whole, 1, 1, last), limit).Allowed {
			t.Fatal("refused below the limit")
		}
	}
	if b.askAs(t, host(whole, 1, 1, 9), limit).Allowed {
		t.Error("a neighbour in the same /64 passed beyond its limit")
	}
	if !b.askAs(t, host(whole, 1, 2, 0), limit).Allowed {
		t.Error("another /64 was refused")
	}
}

func (b contract) limitsWiderNetwork(t *testing.T) {
	t.Parallel()
	limit, whole := perHour(3), network()
	for near := range byte(10) {
		for range 3 {
			if !b.askAs(t, host(whole, 1, near, 0), limit).Allowed {
				t.Fatalf("the /64 %d was refused below its limit", near)
			}
		}
	}
	for range 5 { // refused requests, which must not count in the /64
		if b.askAs(t, host(whole, 1, 10, 0), limit).Allowed {
			t.Error("an 11th /64 passed beyond the limit of its /56")
		}
	}
	if b.askAs(t, host(whole, 2, 0, 0), limit).Allowed {
		t.Error("another /56 passed beyond the limit of the /48")
	}
	if !b.askAs(t, host(network(), 1, 1, 0), limit).Allowed {
		t.Error("another /48 was refused")
	}
}

// oracle records every accepted request of one window of n. Each acceptance lies between two readings of the clock.
type oracle struct {
	n        int
	accepted []span
}

type span struct{ from, to time.Time }

// count returns how many acceptances are possibly, and how many certainly, younger than the window.
func (o *oracle) count(window time.Duration, from, to time.Time) (int, int) {
	possibly, surely := 0, 0
	for _, a := range o.accepted {
		if from.Sub(a.to) < window {
			possibly++
		}
		if to.Sub(a.from) < window {
			surely++
		}
	}
	return possibly, surely
}

// checkOracle returns an error if the decision on a request within [from, to] is wrong. The request counts in all these
// windows.
func checkOracle(limit ratelimit.Limit, from, to time.Time, d ratelimit.Decision, oracles ...*oracle) string {
	mostLeft, leastLeft := 1<<30, 1<<30
	var least, most time.Duration // of the wait
	full := false
	for _, o := range oracles {
		possibly, surely := o.count(limit.Window, from, to)
		mostLeft, leastLeft = min(mostLeft, o.n-1-surely), min(leastLeft, max(0, o.n-1-possibly))
		if possibly < o.n {
			continue
		}
		full = true
		oldest := o.accepted[len(o.accepted)-o.n] // once it is too old, N-1 are left
		most = max(most, oldest.to.Add(limit.Window).Sub(from))
		if surely >= o.n {
			least = max(least, oldest.from.Add(limit.Window).Sub(to))
		}
	}
	if d.Allowed {
		if mostLeft < 0 {
			return fmt.Sprintf("passed, though as many as %v allows had passed within the window", limit)
		}
		for _, o := range oracles {
			o.accepted = append(o.accepted, span{from, to})
		}
		if d.Left < leastLeft || d.Left > mostLeft || d.Reset <= 0 || d.Reset > limit.Window {
			return fmt.Sprintf("%+v, want from %d to %d left", d, leastLeft, mostLeft)
		}
		return ""
	}
	if !full {
		return fmt.Sprintf("refused, though fewer than %v allows had passed within the window", limit)
	}
	if d.RetryAfter <= 0 || d.RetryAfter < least || d.RetryAfter > most {
		return fmt.Sprintf("refused for %s, want above 0 and from %s to %s", d.RetryAfter, least, most)
	}
	return ""
}

// Two limits in one round trip decide like two calls. The first limit counts even if the second refuses. The second
// does not count if the first refuses. The oracle calls the limits one after the other for copies of the two clients.
func (b contract) decidesInTurn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		whole, twin := network(), network()
		keys, twins := []string{b.key(), b.key()}, []string{b.key(), b.key()}
		first := ratelimit.Limit{Name: "first", N: rapid.IntRange(1, 4).Draw(r, "first"), Window: time.Hour}
		second := ratelimit.Limit{Name: "second", N: rapid.IntRange(1, 4).Draw(r, "second"), Window: time.Hour}
		for range rapid.IntRange(1, 20).Draw(r, "requests") {
			near, key := byte(rapid.IntRange(0, 2).Draw(r, "address")), rapid.IntRange(0, 1).Draw(r, "key")
			got, err := b.limiter.AllowInTurn(t.Context(), ratelimit.Question{Client: host(whole, 0, near, 1),
				Limit: first},
				ratelimit.Question{Client: ratelimit.ID(keys[key]), Limit: second})
			if err != nil {
				t.Fatal(err)
			}
			want := []ratelimit.Decision{b.askAs(t, host(twin, 0, near, 1), first)}
			if want[0].Allowed {
				want = append(want, b.ask(t, twins[key], second))
			}
			if len(got) != len(want) {
				r.Fatalf("%d decisions, want %d: %+v, %+v", len(got), len(want), got, want)
			}
			for i := range want {
				if got[i].Allowed != want[i].Allowed || got[i].Left != want[i].Left {
					r.Fatalf("limit %d: %+v, want %+v", i, got[i], want[i])
				}
			}
		}
	})
}
