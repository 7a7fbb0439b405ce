package ratelimit

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/slotmesh/slotmesh/libs/clock"
)

// Bounds of the memory of a [Local]: keys, and times of requests over all keys (8 bytes each, with room to grow twice that).
const (
	maxLocalKeys  = 65_536
	maxLocalTimes = 2 << 20
)

// Local counts in this process. Idle windows are forgotten, and beyond 65,536 of them, or 2,097,152 requests kept, the one unused
// for longest is: an attacker with that many addresses gains more from them than from being forgotten. It is safe for
// many goroutines.
type Local struct {
	clock clock.Clock
	start time.Time // acceptances are kept as time since it: 8 bytes each, and monotonic where the clock is
	times int       // at most

	mu      sync.Mutex
	windows *simplelru.LRU[windowKey, *window]
	kept    int // times in all windows
}

// windowKey is one window of a client under one limit.
type windowKey struct{ limit, group, share string }

var _ Limiter = (*Local)(nil)

// NewLocal returns a limiter without state that goes by the clock.
func NewLocal(now clock.Clock) *Local { return newLocal(now, maxLocalKeys, maxLocalTimes) }

func newLocal(now clock.Clock, keys, times int) *Local {
	l := &Local{clock: now, start: now.Now(), times: times}
	windows, err := simplelru.NewLRU(keys, func(_ windowKey, w *window) { l.kept -= len(w.accepted) })
	if err != nil {
		panic(fmt.Sprintf("a constant size above 0 was refused: %v", err))
	}
	l.windows = windows
	return l
}

// Allow decides in memory. Its error is that of ctx, or says that the limit makes no sense.
func (l *Local) Allow(ctx context.Context, who Client, limit Limit) (Decision, error) {
	return only(ctx, l, Question{who, limit})
}

// AllowInTurn decides in memory. Errors as of Allow.
func (l *Local) AllowInTurn(ctx context.Context, asked ...Question) ([]Decision, error) {
	if err := check(ctx, asked); err != nil {
		return nil, err
	}
	return l.inTurn(asked), nil
}

func (l *Local) inTurn(asked []Question) []Decision {
	var decisions []Decision
	for _, q := range asked {
		d := l.allow(q.Who, q.Limit)
		if decisions = append(decisions, d); !d.Allowed {
			break
		}
	}
	return decisions
}

// now is the time since the start.
func (l *Local) now() time.Duration { return l.clock.Now().Sub(l.start) }

// allow is the script rolling_window.lua in Go; the two change together.
func (l *Local) allow(who Client, limit Limit) Decision {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	l.forgetIdle(now)
	var wait time.Duration
	passes := Decision{Allowed: true}
	for i, s := range who.shares() {
		w, n := l.window(who, limit, s), limit.N*s.times
		l.kept -= w.forget(now, limit.Window)
		count, oldest := w.live(now)
		if count >= n {
			if age := now - w.accepted[count-n]; age < 0 {
				l.kept -= w.clear() // the clock was set back; what it showed before means nothing now
				count, oldest = 0, now
			} else {
				wait = max(wait, limit.Window-age)
			}
		}
		if left := n - count - 1; i == 0 || left < passes.Left {
			passes.Left, passes.Reset = left, min(limit.Window, limit.Window-(now-oldest))
		}
	}
	if wait > 0 {
		return refused(wait)
	}
	l.note(who, limit, now)
	return passes
}

// Refused is how long the client is known to be refused, by what was counted here and by what Redis said; 0 where that is not
// known.
func (l *Local) Refused(who Client, limit Limit) time.Duration {
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
		if full := len(w.accepted) - limit.N*s.times; full >= 0 && now >= w.accepted[full] {
			wait = max(wait, limit.Window-(now-w.accepted[full]))
		}
	}
	return max(0, min(wait, limit.Window))
}

// accept notes a request that Redis let pass. at is when Redis was asked, not when it answered: what is kept here is then never
// younger than in Redis, and nobody is refused here whom Redis would let pass.
func (l *Local) accept(who Client, limit Limit, at time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	l.forgetIdle(now)
	for _, s := range who.shares() {
		l.kept -= l.window(who, limit, s).forget(now, limit.Window)
	}
	l.note(who, limit, at)
}

// refuse notes that Redis refuses the client until then.
func (l *Local) refuse(who Client, limit Limit, until time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forgetIdle(l.now())
	w := l.window(who, limit, who.shares()[0])
	w.refusedUntil = until
	w.idleAt = max(w.idleAt, until)
}

// note counts a request in all windows of the client.
func (l *Local) note(who Client, limit Limit, at time.Duration) {
	for _, s := range who.shares() {
		w := l.window(who, limit, s)
		w.insert(at)
		l.kept++
		w.idleAt = max(w.idleAt, at+limit.Window)
	}
	for l.kept > l.times {
		l.windows.RemoveOldest()
	}
}

// forgetIdle drops windows in which nothing counts any more, beginning with the one unused for longest. One that is not idle
// hides those behind it for a while, which costs only memory, and that is bounded.
func (l *Local) forgetIdle(now time.Duration) {
	for {
		key, w, ok := l.windows.GetOldest()
		if !ok || now < w.idleAt {
			return
		}
		l.windows.Remove(key)
	}
}

func (l *Local) window(who Client, limit Limit, s share) *window {
	key := windowKey{limit.Name, who.group, s.name}
	if w, ok := l.windows.Get(key); ok {
		return w
	}
	w := &window{}
	l.windows.Add(key, w)
	return w
}

// window is the state of one key.
type window struct {
	accepted     []time.Duration // when requests were accepted, oldest first
	refusedUntil time.Duration   // by Redis
	idleAt       time.Duration   // nothing counts from here on
}

// forget drops what is a window old, and returns how many it were.
func (w *window) forget(now, length time.Duration) int {
	old := sort.Search(len(w.accepted), func(i int) bool { return now-w.accepted[i] < length })
	w.accepted = w.accepted[old:]
	return old
}

// live is how many count, and the oldest of them.
func (w *window) live(now time.Duration) (int, time.Duration) {
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

// insert keeps the order: requests are answered in another order than they were asked in.
func (w *window) insert(at time.Duration) {
	i := len(w.accepted)
	for i > 0 && w.accepted[i-1] > at {
		i--
	}
	w.accepted = slices.Insert(w.accepted, i, at)
}
