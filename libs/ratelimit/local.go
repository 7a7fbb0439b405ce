package ratelimit

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Clock tells the present instant.
type Clock interface {
	Now() time.Time
}

// maxLocalKeys bounds the memory of a [Local]. With the largest limit of the interface (100) all keys full are about
// 60 MB; an ordinary client has few entries.
const maxLocalKeys = 65_536

// Local counts in this process. Idle keys are forgotten, and beyond 65,536 keys the one unused for longest is: an
// attacker with that many addresses gains more from them than from being forgotten. It is safe for many goroutines.
type Local struct {
	clock Clock
	start time.Time // acceptances are kept as time since it: 8 bytes each, and monotonic where the clock is

	mu      sync.Mutex
	windows *simplelru.LRU[string, *window]
}

var _ Limiter = (*Local)(nil)

// NewLocal returns a limiter without state that goes by the clock.
func NewLocal(clock Clock) *Local { return newLocal(clock, maxLocalKeys) }

func newLocal(clock Clock, maxKeys int) *Local {
	windows, err := simplelru.NewLRU[string, *window](maxKeys, nil)
	if err != nil {
		panic(fmt.Sprintf("a constant size above 0 was refused: %v", err))
	}
	return &Local{clock: clock, start: clock.Now(), windows: windows}
}

// Allow decides in memory. Its error is that of ctx, or says that the limit makes no sense.
func (l *Local) Allow(ctx context.Context, key string, limit Limit) (Decision, error) {
	if err := ctx.Err(); err != nil {
		return Decision{}, err
	}
	if limit.N == 0 {
		return Decision{Allowed: true}, nil
	}
	if err := limit.check(); err != nil {
		return Decision{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now().Sub(l.start)
	l.forgetIdle(now)
	return l.window(key).allow(now, limit), nil
}

// forgetIdle drops keys whose window has passed, beginning with the one unused for longest. One that has not hides
// those behind it for a while, which costs only memory, and that is bounded.
func (l *Local) forgetIdle(now time.Duration) {
	for {
		key, w, ok := l.windows.GetOldest()
		if !ok || now < w.idleAt {
			return
		}
		l.windows.Remove(key)
	}
}

func (l *Local) window(key string) *window {
	if w, ok := l.windows.Get(key); ok {
		return w
	}
	w := &window{}
	l.windows.Add(key, w)
	return w
}

// window is the state of one key: when requests were accepted, oldest first, at most N of them.
type window struct {
	accepted []time.Duration
	idleAt   time.Duration
}

// allow is the script rolling_window.lua in Go; the two change together.
func (w *window) allow(now time.Duration, limit Limit) Decision {
	if i := len(w.accepted) - limit.N; i >= 0 {
		age := now - w.accepted[i]
		if age < 0 {
			w.accepted = w.accepted[:0] // the clock was set back; what it showed before means nothing now
		} else if age < limit.Window {
			return Decision{RetryAfter: limit.Window - age}
		}
	}
	w.accepted = append(w.accepted, now)
	if surplus := len(w.accepted) - limit.N; surplus > 0 {
		w.accepted = w.accepted[:copy(w.accepted, w.accepted[surplus:])]
	}
	w.idleAt = now + limit.Window
	return Decision{Allowed: true}
}
