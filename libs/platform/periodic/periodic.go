// Package periodic runs a function at regular intervals while a service runs.
package periodic

import (
	"context"
	"log/slog"
	"time"
)

// Job is a function that runs at regular intervals. No caller waits for its result. If a run fails, the job runs again.
type Job struct {
	Every          time.Duration // pause after a successful run
	RetryAfter     time.Duration // pause after the first failed run, doubled up to Every after each further; 0: Every
	Timeout        time.Duration // maximal duration of each run; 0: no maximum
	FailureMessage string        // message that is logged when a run fails
	Do             func(ctx context.Context) error
}

// Run runs the job immediately and then after each pause, until ctx ends. It logs failures and returns nil.
func (j Job) Run(ctx context.Context, log *slog.Logger) error {
	retryAfter := j.firstRetry()
	for ctx.Err() == nil {
		pause := j.Every
		if err := j.runOnce(ctx); err == nil {
			retryAfter = j.firstRetry()
		} else if ctx.Err() == nil {
			log.WarnContext(ctx, j.FailureMessage, "error", err)
			pause, retryAfter = retryAfter, min(2*retryAfter, j.Every)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	return nil
}

func (j Job) firstRetry() time.Duration {
	if j.RetryAfter == 0 {
		return j.Every
	}
	return j.RetryAfter
}

func (j Job) runOnce(ctx context.Context) error {
	if j.Timeout > 0 {
		bounded, cancel := context.WithTimeout(ctx, j.Timeout)
		defer cancel()
		ctx = bounded
	}
	return j.Do(ctx)
}
