package periodic_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slotmesh/slotmesh/libs/platform/periodic"
)

func TestRunLogsFailureAndRetries(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var log bytes.Buffer
	times := 0
	err := periodic.Job{Every: time.Microsecond, Timeout: time.Hour, FailureMessage: "old rows stay for now",
		Do: func(ctx context.Context) error {
			if _, bounded := ctx.Deadline(); !bounded {
				t.Error("the context of a run has no deadline")
			}
			if times++; times == 3 {
				stop()
				return ctx.Err() // the end of the service is not a failure
			}
			return errors.New("the database is away")
		}}.Run(ctx, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil || times != 3 {
		t.Errorf("done %d times, want 3: %v", times, err)
	}
	if n := strings.Count(log.String(), `msg="old rows stay for now" error="the database is away"`); n != 2 {
		t.Errorf("logged %d times, want 2:\n%s", n, log.String())
	}
}

func TestRunWithoutTimeoutSetsNoDeadline(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	_ = periodic.Job{Every: time.Hour, Do: func(ctx context.Context) error {
		if _, bounded := ctx.Deadline(); bounded {
			t.Error("the context of a run has a deadline")
		}
		stop()
		return nil
	}}.Run(ctx, slog.New(slog.DiscardHandler))
}

func TestRunDoublesPauseAfterFailures(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		start := time.Now()
		var runs []time.Duration
		_ = periodic.Job{Every: 5 * time.Second, RetryAfter: time.Second, Do: func(context.Context) error {
			if runs = append(runs, time.Since(start)); len(runs) == 7 {
				stop()
			}
			if len(runs) == 5 {
				return nil
			}
			return errors.New("the database is away")
		}}.Run(ctx, slog.New(slog.DiscardHandler))
		// pauses of 1, 2, 4 and 5 s; 5 s after the success; 1 s after the next failure
		want := []time.Duration{0, 1, 3, 7, 12, 17, 18}
		for i := range want {
			want[i] *= time.Second
		}
		if !slices.Equal(runs, want) {
			t.Errorf("runs after %v, want %v", runs, want)
		}
	})
}
