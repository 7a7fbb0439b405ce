package ratelimit

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
)

// maxLocalKeys and maxLocalTimes bound the memory of a [Local]. maxLocalKeys is the maximal number of windows.
// maxLocalTimes is the maximal number of recorded request times in all windows together. One time takes 8 bytes, or up
// to 16 bytes with spare capacity.
const (
	maxLocalKeys  = 65_536
	maxLocalTimes = 2 << 20
)

// Local counts requests in the memory of this process. It is safe for concurrent use. It drops windows that
// are idle. Above 65,536 windows or 2,097,152 recorded requests, it drops the least recently used window.
//
// The requests of a dropped window no longer count. Only an attacker with very many addresses can make Local drop
// windows that are not idle. Such an attacker can bypass limits per address in any case.
type Local struct {
	clock    clock.Clock
	start    time.Time // origin of the stored times; a time relative to start takes 8 bytes
	maxTimes int       // maximal value of timeCount

	mu        sync.Mutex
	windows   *simplelru.LRU[windowKey, *window]
	timeCount int          // number of recorded times in all windows
	busy      []busyWindow // windows to report to other replicas; only a Guard takes them
	isGuard   bool
}

// windowKey identifies one window of a client for one limit.
type windowKey struct{ limit, group, share string }

var _ Limiter = (*Local)(nil)

// NewLocal returns a limiter without counts. The argument `now` is its clock.
func NewLocal(now clock.Clock) *Local { return newLocal(now, maxLocalKeys, maxLocalTimes) }

func newLocal(now clock.Clock, keys, times int) *Local {
	l := &Local{clock: now, start: now.Now(), maxTimes: times}
	windows, err := simplelru.NewLRU(keys, func(_ windowKey, w *window) { l.timeCount -= len(w.accepted) })
	if err != nil {
		panic(fmt.Sprintf("a constant size above 0 was refused: %v", err))
	}
	l.windows = windows
	return l
}

// Allow counts a request in memory. It returns an error if ctx is done or the limit is invalid.
func (l *Local) Allow(ctx context.Context, who Client, limit Limit) (Decision, error) {
	return decideSingle(ctx, l, Question{who, limit})
}

// AllowInTurn counts a request against several limits in memory. It returns the same errors as Allow.
func (l *Local) AllowInTurn(ctx context.Context, questions ...Question) ([]Decision, error) {
	if err := check(ctx, questions); err != nil {
		return nil, err
	}
	return l.decideInTurn(questions), nil
}

func (l *Local) decideInTurn(questions []Question) []Decision {
	var decisions []Decision
	for _, q := range questions {
		d := l.allow(q.Client, q.Limit)
		if decisions = append(decisions, d); !d.Allowed {
			break
		}
	}
	return decisions
}

// now returns the time since `l.start`.
func (l *Local) now() time.Duration { return l.clock.Now().Sub(l.start) }

// allow decides about one request. It has the same rules as the Redis script rolling_window.lua; change both together.
func (l *Local) allow(who Client, limit Limit) Decision {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	l.dropIdle(now)
	var wait time.Duration
	passes := Decision{Allowed: true}
	for i, s := range who.shares() {
		w := l.findWindow(who, limit, s)
		n := l.findQuota(windowKey{limit.Name, who.group, s.name}, w, limit.N*s.factor, limit.Window, now)
		l.timeCount -= w.dropExpired(now, limit.Window)
		count, oldest := w.countLive(now)
		if count >= n {
			if age := now - w.accepted[count-n]; age < 0 {
				l.timeCount -= w.clear() // the clock was set back, so the recorded times are meaningless
				count, oldest = 0, now
			} else {
				wait = max(wait, limit.Window-age)
			}
		}
		if remainder := n - count - 1; i == 0 || remainder < passes.Left {
			passes.Left, passes.Reset = remainder, min(limit.Window, limit.Window-(now-oldest))
		}
	}
	if wait > 0 {
		return newRefusal(wait)
	}
	l.record(who, limit, now)
	return passes
}

// KnownRefusal returns the time for which the limit will still refuse the client, by the local counts and by earlier
// refusals of Redis. It returns 0 if no refusal is known.
func (l *Local) KnownRefusal(who Client, limit Limit) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	var wait time.Duration
	for _, s := range who.shares() {
		w, ok := l.windows.Get(windowKey{limit.Name, who.group, s.name})
		if !ok {
			continue
		}
		wait = max(wait, w.refusedUntil-now)
		if full := len(w.accepted) - limit.N*s.factor; full >= 0 && now >= w.accepted[full] {
			wait = max(wait, limit.Window-(now-w.accepted[full]))
		}
	}
	return max(0, min(wait, limit.Window))
}

// accept records a request that Redis allowed. The argument `at` is the time at which the request was sent to Redis.
// The recorded time is therefore never later than the time that Redis recorded. Because of this, the local limiter
// refuses no request that Redis would allow.
func (l *Local) accept(who Client, limit Limit, at time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	l.dropIdle(now)
	for _, s := range who.shares() {
		l.timeCount -= l.findWindow(who, limit, s).dropExpired(now, limit.Window)
	}
	l.record(who, limit, at)
}

// refuse records that Redis refuses the client. The argument `until` is the end of the refusal, relative to l.start.
func (l *Local) refuse(who Client, limit Limit, until time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dropIdle(l.now())
	w := l.findWindow(who, limit, who.shares()[0])
	w.refusedUntil = until
	w.idleAt = max(w.idleAt, until)
}

// record adds a request to all windows of the client. The argument `at` is the time of the request, relative to
// l.start.
func (l *Local) record(who Client, limit Limit, at time.Duration) {
	for _, s := range who.shares() {
		w := l.findWindow(who, limit, s)
		w.insert(at)
		l.timeCount++
		w.idleAt = max(w.idleAt, at+limit.Window)
	}
	for l.timeCount > l.maxTimes {
		l.windows.RemoveOldest()
	}
}

// dropIdle drops idle windows, beginning with the least recently used one. It stops at the first window that is not
// idle. Idle windows after this window remain and count against the bounds of memory.
func (l *Local) dropIdle(now time.Duration) {
	for {
		key, w, ok := l.windows.GetOldest()
		if !ok || now < w.idleAt {
			return
		}
		l.windows.Remove(key)
	}
}

func (l *Local) findWindow(who Client, limit Limit, s share) *window {
	key := windowKey{limit.Name, who.group, s.name}
	if w, ok := l.windows.Get(key); ok {
		return w
	}
	w := &window{}
	l.windows.Add(key, w)
	return w
}

// window holds the recorded requests of a client for one limit and one network.
type window struct {
	accepted     []time.Duration // times of accepted requests, oldest first
	refusedUntil time.Duration   // time until which requests are refused, because the limit in Redis refused one
	idleAt       time.Duration   // time from which the window is empty
	demand       *demand         // requests to all replicas; only a Guard has it
}

// dropExpired drops the times that are older than the window, and returns the number of dropped times.
func (w *window) dropExpired(now, length time.Duration) int {
	old := sort.Search(len(w.accepted), func(i int) bool { return now-w.accepted[i] < length })
	w.accepted = w.accepted[old:]
	return old
}

// countLive returns the number of recorded requests and the time of the oldest one.
func (w *window) countLive(now time.Duration) (int, time.Duration) {
	if len(w.accepted) == 0 {
		return 0, now
	}
	return len(w.accepted), w.accepted[0]
}

func (w *window) clear() int {
	n := len(w.accepted)
	w.accepted = nil
	return n
}

// insert adds a time to the accepted times and keeps these in ascending
// order. Redis may answer requests in another order than they were sent.
func (w *window) insert(at time.Duration) {
	i := len(w.accepted)
	for i > 0 && w.accepted[i-1] > at {
		i--
	}
	w.accepted = slices.Insert(w.accepted, i, at)
}
