// Package clock provides the current time. Rules take the time from a [Clock] instead
// of the machine's clock, so that tests and demos can set the time (semantics.md §1).
package clock

import (
	"sync"
	"time"
)

// Clock returns the current instant.
type Clock interface {
	Now() time.Time
}

// System returns a [Clock] that shows the time of the machine's clock.
func System() Clock { return systemClock{} }

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

// shiftedClock is a clock with a fixed offset from the machine's clock.
type shiftedClock struct{ offset time.Duration }

func (s shiftedClock) Now() time.Time { return time.Now().Add(s.offset) }

// Parse returns [System] if the argument `now` is empty. If `now` is an RFC 3339 instant, Parse returns a clock that
// shows this instant at the time of the call. The clock then advances at normal speed.
func Parse(now string) (Clock, error) {
	if now == "" {
		return System(), nil
	}
	t, err := time.Parse(time.RFC3339, now)
	if err != nil {
		return nil, err
	}
	return shiftedClock{offset: time.Until(t)}, nil
}

// Manual is a clock that changes only through its methods. It is safe for concurrent use.
type Manual struct {
	mu  sync.Mutex
	now time.Time
}

// Fixed returns a [Manual] clock that shows `t` until one of its methods changes the time.
func Fixed(t time.Time) *Manual { return &Manual{now: t} }

// Now returns the instant that the clock shows.
func (m *Manual) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// Set sets the clock to `t`.
func (m *Manual) Set(t time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = t
}

// Advance adds `d` to the time of the clock.
func (m *Manual) Advance(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = m.now.Add(d)
}

var _ Clock = (*Manual)(nil)
