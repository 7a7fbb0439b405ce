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

// retries holds the maximum number of retries and the longest pause before one.
type retries struct {
	most    int
	longest time.Duration
}

// wait waits before the next attempt and returns nil. before is the number of retries so far and err
// the error of the last attempt. It returns the error at once if a retry is useless, the maximum is
// reached, or the pause would exceed the longest pause or the deadline of ctx.
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

// passesLater reports whether the same request may succeed later. Every request can be sent twice:
// reads change nothing, and bookings carry an Idempotency-Key.
func passesLater(err error) bool {
	var refused *Error
	if errors.As(err, &refused) {
		switch refused.Status {
		case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable,
			http.StatusGatewayTimeout:
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

// pauseAfter returns the pause that the answer asked for with Retry-After. Otherwise the pause doubles
// with each retry. Half of it is random, so that clients that failed together do not retry together.
func pauseAfter(before int, err error) time.Duration {
	var refused *Error
	if errors.As(err, &refused) && refused.RetryAfter > 0 {
		return refused.RetryAfter
	}
	pause := min(firstPause<<min(before, 10), longestPause)
	return pause/2 + rand.N(pause/2)
}
