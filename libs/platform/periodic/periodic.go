// Package periodic runs a function at regular intervals while a service runs.
package periodic

import (
	"context"
	"log/slog"
	"time"
)

// Job is a function that runs at regular intervals. No caller waits for its result. If a run fails, the job runs again
// at the next interval.
type Job struct {
	Every          time.Duration
	Timeout        time.Duration // maximal duration of each run; 0: no maximum
	FailureMessage string        // message that is logged when a run fails
	Do             func(ctx context.Context) error
}

// Run runs the job immediately and then once per interval, until ctx ends. It logs failures and returns nil.
func (j Job) Run(ctx context.Context, log *slog.Logger) error {
	ticker := time.NewTicker(j.Every)
	defer ticker.Stop()
	for ctx.Err() == nil {
		if err := j.runOnce(ctx); err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, j.FailureMessage, "error", err)
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
	return nil
}

func (j Job) runOnce(ctx context.Context) error {
	if j.Timeout > 0 {
		bounded, cancel := context.WithTimeout(ctx, j.Timeout)
		defer cancel()
		ctx = bounded
	}
	return j.Do(ctx)
}
