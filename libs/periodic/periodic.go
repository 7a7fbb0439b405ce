// Package periodic does work again and again, for as long as a service runs.
package periodic

import (
	"context"
	"log/slog"
	"time"
)

// Job is work that is done again and again. Nothing waits for it: where it fails, it is done the next time.
type Job struct {
	Every  time.Duration
	Within time.Duration // bounds each time; 0: none
	Failed string        // the line that is logged where it fails
	Do     func(ctx context.Context) error
}

// Run does the job at once and then every so often, until ctx ends, and returns nil then.
func (j Job) Run(ctx context.Context, log *slog.Logger) error {
	ticker := time.NewTicker(j.Every)
	defer ticker.Stop()
	for ctx.Err() == nil {
		if err := j.once(ctx); err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, j.Failed, "error", err)
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
	return nil
}

func (j Job) once(ctx context.Context) error {
	if j.Within > 0 {
		bounded, cancel := context.WithTimeout(ctx, j.Within)
		defer cancel()
		ctx = bounded
	}
	return j.Do(ctx)
}
