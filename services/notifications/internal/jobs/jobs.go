// Package jobs runs the service's jobs with River, in the tables of the service and by its clock.
package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
)

// Work collects the jobs of the service: each part adds its workers, queues and periodic jobs. The arguments
// of every job must contain a business_id, because store.Erase finds the jobs of a business by it.
type Work struct {
	Workers  *river.Workers
	Queues   map[string]river.QueueConfig
	Periodic []*river.PeriodicJob
	// PollEvery is how often River looks for due jobs. 0 means once per second; tests poll more often.
	PollEvery time.Duration
}

// NewWork returns an empty Work.
func NewWork() *Work {
	return &Work{Workers: river.NewWorkers(), Queues: map[string]river.QueueConfig{}}
}

// Client inserts and runs jobs.
type Client struct {
	*river.Client[pgx.Tx]
	tel *telemetry.Telemetry
}

const (
	// Timeout limits one run of a job.
	Timeout = time.Minute
	// rescueAfter is the time after which River reruns a job whose process died.
	rescueAfter = 2 * Timeout
	// stopTimeout is how long a stopping service waits for running
	// jobs before it cancels them. A cancelled job runs again.
	stopTimeout = 10 * time.Second
	// fetchPause is the pause between two fetches of a queue while it has jobs. A queue fetches at most
	// one job per worker each time, so River's default of 100 ms would limit it to 80 messages a second.
	fetchPause = 20 * time.Millisecond
	// startRetryPause is the pause after a failed start, for example while the database is unavailable.
	startRetryPause = time.Second
)

// Open returns a client that runs the jobs of work. It does not connect yet.
//
// The client polls for jobs every second and does not listen for notifications of PostgreSQL. A listener would
// occupy one of the few connections of a pod, and does not work through a connection pooler. River's reindexing
// is off, because its statements exceed the pool's statement timeout; autovacuum keeps the indexes small enough.
func Open(pool *pgxpool.Pool, work *Work, now clock.Clock, tel *telemetry.Telemetry) (*Client, error) {
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
		Workers: work.Workers, Queues: work.Queues, PeriodicJobs: work.Periodic,
		Logger:               tel.Logger,
		PollOnly:             true,
		FetchCooldown:        fetchPause,
		FetchPollInterval:    work.PollEvery,
		JobTimeout:           Timeout,
		RescueStuckJobsAfter: rescueAfter,
		SoftStopTimeout:      stopTimeout,
		ReindexerIndexNames:  []string{},
		// used in production too, despite its name
		Test: river.TestConfig{Time: riverClock{now}},
	})
	if err != nil {
		return nil, fmt.Errorf("river: %w", err)
	}
	return &Client{client, tel}, nil
}

// riverClock gives River the service's clock, also for statements that would otherwise use the clock of the database.
type riverClock struct{ clock.Clock }

// NowOrNil returns the time that River writes and compares with in statements.
func (c riverClock) NowOrNil() *time.Time {
	now := c.Now().UTC()
	return &now
}

// Run runs jobs until ctx ends, and then waits for the running
// ones. If the database is unavailable, it retries the start.
func (c *Client) Run(ctx context.Context) error {
	for {
		err := c.Start(context.WithoutCancel(ctx))
		if err == nil {
			break
		}
		c.tel.Logger.WarnContext(ctx, "the start of the jobs failed; it is retried", "error", err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(startRetryPause):
		}
	}
	<-ctx.Done()
	return c.Stop(context.WithoutCancel(ctx))
}
