// Package jobs runs the jobs of the notifications service with River. River uses the service's database and the
// service's clock.
package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/sethvargo/go-retry"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
)

// Work collects the jobs of the service: each part of the service adds its workers, queues and periodic jobs. The
// arguments of each job that belongs to a business must contain a business_id, because store.Erase finds the jobs of a
// business by that field.
type Work struct {
	Workers  *river.Workers
	Queues   map[string]river.QueueConfig
	Periodic []*river.PeriodicJob
	// PollEvery is the interval at which River looks for due jobs. 0 means one second; tests use a shorter interval.
	PollEvery time.Duration
}

// NewWork returns an empty Work.
func NewWork() *Work {
	return &Work{Workers: river.NewWorkers(), Queues: map[string]river.QueueConfig{}}
}

// Client inserts jobs into River's queues and runs them.
type Client struct {
	*river.Client[pgx.Tx]
	tel *telemetry.Telemetry
}

const (
	// Timeout limits one run of a job.
	Timeout = time.Minute
	// rescueAfter is the time after which River runs a job again if the job's process died.
	rescueAfter = 2 * Timeout
	// stopTimeout is how long a stopping service waits for the running jobs. The service then cancels these jobs, and
	// they run again later.
	stopTimeout = 10 * time.Second
	// fetchPause is the pause between two fetches from a queue that has jobs. Each fetch returns at most one job per
	// worker. River's default of 100 ms would therefore limit a queue of 8 workers to 80 jobs a second.
	fetchPause = 20 * time.Millisecond
	// startRetryPause is the pause after a failed start of the client, for example while the database is unavailable.
	startRetryPause = time.Second
)

// Open returns a client that runs the jobs of `work`. Open does not connect to the database yet.
//
// The client polls for jobs and does not listen for PostgreSQL's notifications. A listener would occupy one of a pod's
// few connections, and it does not work through a connection pooler. River's reindexing is off, because the statements
// for it exceed the pool's statement timeout; autovacuum keeps the indexes small enough.
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
		// Despite its name, the Test configuration is used in production too.
		Test: river.TestConfig{Time: riverClock{now}},
	})
	if err != nil {
		return nil, fmt.Errorf("river: %w", err)
	}
	return &Client{client, tel}, nil
}

// riverClock makes River use the service's clock, even in statements that would otherwise use the database's clock.
type riverClock struct{ clock.Clock }

// NowOrNil returns the current time. River stores this time and compares stored times with it.
func (c riverClock) NowOrNil() *time.Time {
	now := c.Now().UTC()
	return &now
}

// Run runs jobs until ctx ends, and then waits for the running jobs. If the client cannot start because the database is
// unavailable, Run retries the start.
func (c *Client) Run(ctx context.Context) error {
	err := retry.Constant(ctx, startRetryPause, func(ctx context.Context) error {
		err := c.Start(context.WithoutCancel(ctx))
		if err != nil {
			c.tel.Logger.WarnContext(ctx, "the start of the jobs failed; it is retried", "error", err)
		}
		return retry.RetryableError(err)
	})
	if err != nil {
		return nil // ctx ended before the client could start
	}
	<-ctx.Done()
	return c.Stop(context.WithoutCancel(ctx))
}
