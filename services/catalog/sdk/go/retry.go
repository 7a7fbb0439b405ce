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

// retries holds the maximum number of retries and the longest allowed wait before a retry.
type retries struct {
	most    int
	longest time.Duration
}

// wait waits before the next attempt and returns nil. The argument `before` is the number of retries so far; `err` is
// the error of the last attempt. Without waiting, wait returns `err` if a retry is useless or the maximum number of
// retries is reached. It also returns `err` at once if the pause would exceed the longest wait or the deadline of ctx.
func (r retries) wait(ctx context.Context, before int, err error) error {
	if ctx.Err() != nil || before >= r.most || !isTemporary(err) {
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

// isTemporary reports whether the same request may succeed later. The client can repeat
// every request safely, because reads change nothing and bookings have an Idempotency-Key.
func isTemporary(err error) bool {
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

// pauseAfter returns how long to wait before the next attempt: the time in Retry-After if the
// answer has this header. Without Retry-After, the pause doubles with each retry. Half of the
// pause is random, so that clients that failed at the same time do not retry at the same time.
func pauseAfter(before int, err error) time.Duration {
	var refused *Error
	if errors.As(err, &refused) && refused.RetryAfter > 0 {
		return refused.RetryAfter
	}
	pause := min(firstPause<<min(before, 10), longestPause)
	return pause/2 + rand.N(pause/2)
}
