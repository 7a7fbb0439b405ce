package server

import (
	"context"
	"sync"
	"time"
)

// deadline is a context that ends at a given time. It starts a timer only when Done
// is called, because most reads finish without a call of Done and timers cost CPU.
type deadline struct {
	context.Context // the parent
	at              time.Time

	mu    sync.Mutex
	timed context.Context // nil until Done is called
	stop  context.CancelFunc
	ended bool
}

// within returns a context that ends at a time, and a function that ends it earlier.
func within(parent context.Context, at time.Time) (context.Context, context.CancelFunc) {
	d := &deadline{Context: parent, at: at}
	return d, d.end
}

// end ends the context.
func (d *deadline) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	if d.stop != nil {
		d.stop()
	}
}

// begun starts the timer once and returns the context with the timer.
func (d *deadline) begun() context.Context {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timed == nil {
		d.timed, d.stop = context.WithDeadline(d.Context, d.at)
		if d.ended {
			d.stop()
		}
	}
	return d.timed
}

// Deadline returns the earlier of its own and its parent's deadline.
func (d *deadline) Deadline() (time.Time, bool) {
	if nearer, ok := d.Context.Deadline(); ok && nearer.Before(d.at) {
		return nearer, true
	}
	return d.at, true
}

// Done returns a channel that is closed when the context ends.
func (d *deadline) Done() <-chan struct{} { return d.begun().Done() }

// Err returns why the context has ended, or nil before that. It starts no timer.
func (d *deadline) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.timed != nil:
		return d.timed.Err()
	case d.Context.Err() != nil:
		return d.Context.Err()
	case d.ended:
		return context.Canceled
	case time.Until(d.at) <= 0:
		return context.DeadlineExceeded
	}
	return nil
}

// Value returns the parent's value. If the timer is running, it also answers
// the context package's own key, so that child contexts need no goroutine.
func (d *deadline) Value(key any) any {
	d.mu.Lock()
	timed := d.timed
	d.mu.Unlock()
	if timed != nil {
		return timed.Value(key)
	}
	return d.Context.Value(key)
}
