package server

import (
	"context"
	"sync"
	"time"
)

// deadline is a context that ends at a given time. It starts a timer only when Done is
// called. Most read requests finish without a call of Done, and a timer costs CPU time.
type deadline struct {
	context.Context // parent context
	at              time.Time

	mu       sync.Mutex
	timerCtx context.Context // context with the timer; nil until Done is called
	stop     context.CancelFunc
	isEnded  bool
}

// newDeadline returns a context that ends at the given time, and a function that ends the context earlier.
func newDeadline(parent context.Context, at time.Time) (context.Context, context.CancelFunc) {
	d := &deadline{Context: parent, at: at}
	return d, d.end
}

// end ends the context before its deadline.
func (d *deadline) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.isEnded = true
	if d.stop != nil {
		d.stop()
	}
}

// startTimer returns the context with the timer. The first call starts the timer.
func (d *deadline) startTimer() context.Context {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timerCtx == nil {
		d.timerCtx, d.stop = context.WithDeadline(d.Context, d.at)
		if d.isEnded {
			d.stop()
		}
	}
	return d.timerCtx
}

// Deadline returns the deadline of this context or of its parent, whichever is earlier.
func (d *deadline) Deadline() (time.Time, bool) {
	if nearer, ok := d.Context.Deadline(); ok && nearer.Before(d.at) {
		return nearer, true
	}
	return d.at, true
}

// Done returns a channel that is closed when the context ends.
func (d *deadline) Done() <-chan struct{} { return d.startTimer().Done() }

// Err returns the reason for which the context has ended, or
// nil if the context has not ended. It does not start a timer.
func (d *deadline) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.timerCtx != nil:
		return d.timerCtx.Err()
	case d.Context.Err() != nil:
		return d.Context.Err()
	case d.isEnded:
		return context.Canceled
	case time.Until(d.at) <= 0:
		return context.DeadlineExceeded
	}
	return nil
}

// Value returns the value that the parent has for key. If the timer is running, it also returns
// values for the private key of package context. Child contexts then need no goroutine.
func (d *deadline) Value(key any) any {
	d.mu.Lock()
	timed := d.timerCtx
	d.mu.Unlock()
	if timed != nil {
		return timed.Value(key)
	}
	return d.Context.Value(key)
}
