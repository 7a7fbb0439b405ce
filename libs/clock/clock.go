// Package clock gives the time to whoever needs it, so that no rule reads the wall by itself (semantics.md §1).
package clock

import (
	"sync"
	"time"
)

// Clock tells the present instant.
type Clock interface {
	Now() time.Time
}

// System is the machine's clock.
func System() Clock { return systemClock{} }

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

// shifted is a clock that runs at the machine's pace, ahead of it by a fixed time.
type shifted struct{ by time.Duration }

func (s shifted) Now() time.Time { return time.Now().Add(s.by) }

// Parse returns [System] for an empty text, and for an RFC 3339 instant a clock that shows it now and runs on at the machine's pace.
func Parse(now string) (Clock, error) {
	if now == "" {
		return System(), nil
	}
	t, err := time.Parse(time.RFC3339, now)
	if err != nil {
		return nil, err
	}
	return shifted{by: time.Until(t)}, nil
}

// Manual is a clock that moves only when told to. It is safe for use by many goroutines.
type Manual struct {
	mu  sync.Mutex
	now time.Time
}

// Fixed returns a [Manual] clock that shows t.
func Fixed(t time.Time) *Manual { return &Manual{now: t} }

// Now returns the instant the clock was last set to.
func (m *Manual) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// Set moves the clock to t.
func (m *Manual) Set(t time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = t
}

// Advance moves the clock on by d.
func (m *Manual) Advance(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = m.now.Add(d)
}

var _ Clock = (*Manual)(nil)
