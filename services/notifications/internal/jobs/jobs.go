// Package jobs runs what the service has to do as jobs of River, in the tables of the service and by its clock.
package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/telemetry"
)

// Work is what the parts of the service do in jobs: each adds its workers, its queues and what is to be done from time to time.
// The arguments of every job hold a business_id, by which store.Erase finds the jobs of a business.
type Work struct {
	Workers  *river.Workers
	Queues   map[string]river.QueueConfig
	Periodic []*river.PeriodicJob
	// PollEvery is how often due jobs are looked for. 0 means once per second; tests ask more often.
	PollEvery time.Duration
}

// NewWork returns work without anything to do yet.
func NewWork() *Work {
	return &Work{Workers: river.NewWorkers(), Queues: map[string]river.QueueConfig{}}
}

// Client inserts jobs and works them.
type Client struct {
	*river.Client[pgx.Tx]
	tel *telemetry.Telemetry
}

const (
	// Timeout bounds one run of a job.
	Timeout = time.Minute
	// rescueAfter is when a job whose process died is run again.
	rescueAfter = 2 * Timeout
	// stopWithin is how long a stopping service waits for running jobs before it breaks them off; they are run again.
	stopWithin = 10 * time.Second
	// fetchPause is the pause between two fetches of jobs while there are some: it bounds what a queue does to as many jobs as it has workers
	// in each pause, which River's own of 100 ms holds to 80 messages a second.
	fetchPause = 20 * time.Millisecond
	// startAgain is the pause after a start that failed, as where the database is away.
	startAgain = time.Second
)

// Open returns a client that does this work. It connects to nothing yet.
//
// It asks for jobs every second instead of listening: a listener holds a connection of its own, of the few that a pod has, and
// a pooler between would not let it through. River rebuilds no index by itself, as its statements would not end within the
// pool's time; autovacuum keeps them small enough for jobs that come and go by the thousand.
func Open(pool *pgxpool.Pool, work *Work, now clock.Clock, tel *telemetry.Telemetry) (*Client, error) {
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
		Workers: work.Workers, Queues: work.Queues, PeriodicJobs: work.Periodic,
		Logger:               tel.Logger,
		PollOnly:             true,
		FetchCooldown:        fetchPause,
		FetchPollInterval:    work.PollEvery,
		JobTimeout:           Timeout,
		RescueStuckJobsAfter: rescueAfter,
		SoftStopTimeout:      stopWithin,
		ReindexerIndexNames:  []string{},
		Test:                 river.TestConfig{Time: riverClock{now}}, // River's name for it; production may use it too
	})
	if err != nil {
		return nil, fmt.Errorf("river: %w", err)
	}
	return &Client{client, tel}, nil
}

// riverClock is the service's clock as River asks for it, also where River would otherwise take the database's.
type riverClock struct{ clock.Clock }

// NowOrNil is what River writes and compares with in statements.
func (c riverClock) NowOrNil() *time.Time {
	now := c.Now().UTC()
	return &now
}

// Run works jobs until ctx ends, and then waits for those that run. A database that is away is waited for.
func (c *Client) Run(ctx context.Context) error {
	for {
		err := c.Start(context.WithoutCancel(ctx))
		if err == nil {
			break
		}
		c.tel.Logger.WarnContext(ctx, "jobs do not run yet", "error", err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(startAgain):
		}
	}
	<-ctx.Done()
	return c.Stop(context.WithoutCancel(ctx))
}
