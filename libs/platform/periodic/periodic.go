// Package periodic runs work repeatedly while a service runs.
package periodic

import (
	"context"
	"log/slog"
	"time"
)

// Job is work that runs repeatedly. No caller waits for it: after a failure it runs again at the next interval.
type Job struct {
	Every          time.Duration
	Timeout        time.Duration // timeout of each run; 0: none
	FailureMessage string        // log message after a failure
	Do             func(ctx context.Context) error
}

// Run runs the job immediately and then at every interval until ctx ends. It returns nil.
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
