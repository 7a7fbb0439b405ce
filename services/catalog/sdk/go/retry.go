package slotmesh

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"
)

// retries say how often, and after how long at the most, a request is sent again.
type retries struct {
	most    int
	longest time.Duration
}

// wait waits before a request is sent again that failed with err after so many others, and returns nil then. It returns the error where
// the request would fail again, was sent often enough, or would have to wait for longer than it may or its context lasts.
func (r retries) wait(ctx context.Context, before int, err error) error {
	if ctx.Err() != nil || before >= r.most || !passesLater(err) {
		return err
	}
	pause := pauseAfter(before, err)
	if deadline, bound := ctx.Deadline(); pause > r.longest || bound && time.Until(deadline) <= pause {
		return err
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w; %w", err, ctx.Err())
	}
}

// passesLater reports whether the very same request may pass later. All that are sent may be sent twice: reads change nothing, and bookings
// carry an Idempotency-Key.
func passesLater(err error) bool {
	var refused *Error
	if errors.As(err, &refused) {
		switch refused.Status {
		case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return true
		}
		return refused.Code == CodeRateLimited || refused.Code == CodeIdempotencyInProgress
	}
	var certificate *tls.CertificateVerificationError
	return !errors.Is(err, ErrNotSent) && !errors.Is(err, errTooLarge) && !errors.As(err, &certificate)
}

const (
	firstPause   = 250 * time.Millisecond
	longestPause = 8 * time.Second
)

// pauseAfter is what an answer asked for, else twice the pause before, of which a half is left to chance, so that those who failed together
// do not come back together.
func pauseAfter(before int, err error) time.Duration {
	var refused *Error
	if errors.As(err, &refused) && refused.RetryAfter > 0 {
		return refused.RetryAfter
	}
	pause := min(firstPause<<min(before, 10), longestPause)
	return pause/2 + rand.N(pause/2)
}
