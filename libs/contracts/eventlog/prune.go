package eventlog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/platform/periodic"
)

const (
	pruneEvery = 10 * time.Minute
	pruneStep  = 1000
)

// pruneSQL removes old events in the order of the feed. It stops at the first event
// that is not old enough. pruneSQL stores the position of the last removed event in
// the column `pruned`. All events after this position are still in the feed.
const pruneSQL = `
WITH oldest AS (
    SELECT events.position, at
    FROM events
    WHERE events.position > (SELECT pruned FROM event_feed)
    ORDER BY events.position
    LIMIT @most
), gone AS (
    DELETE FROM events
    WHERE position IN (SELECT position FROM oldest)
      AND position < coalesce((SELECT min(position) FROM oldest WHERE at >= @until), 9223372036854775807)
    RETURNING position
)
UPDATE event_feed SET pruned = gone.last
FROM (SELECT max(position) AS last, count(*) AS n FROM gone) AS gone
WHERE gone.last IS NOT NULL
RETURNING gone.n`

// Prune removes the events whose retention time is over and returns their number. It first
// assigns positions to events that have none, because only events with a position can be removed.
func (l *Log) Prune(ctx context.Context) (int, error) {
	until, total := l.clock.Now().Add(-l.keep), 0
	for {
		if err := l.number(ctx); err != nil {
			return total, err
		}
		var (
			batch pgx.Batch
			n     int
		)
		batch.Queue(byIndexSQL)
		batch.Queue(lockFeedSQL)
		batch.Queue(pruneSQL, pgx.NamedArgs{"most": pruneStep, "until": until}).Query(func(rows pgx.Rows) error {
			var err error
			n, err = pgx.CollectOneRow(rows, pgx.RowTo[int])
			if errors.Is(err, pgx.ErrNoRows) {
				return nil
			}
			return err
		})
		if err := l.pool.SendBatch(ctx, &batch).Close(); err != nil {
			return total, fmt.Errorf("remove old events: %w", err)
		}
		total += n
		l.pruned.Add(ctx, int64(n))
		if n < pruneStep {
			return total, nil
		}
	}
}

// Run removes old events periodically until ctx ends. After an error it tries again at the next interval.
func (l *Log) Run(ctx context.Context) error {
	return periodic.Job{Every: pruneEvery, Timeout: time.Minute, FailureMessage: "old events stay for now",
		Do: func(ctx context.Context) error {
			_, err := l.Prune(ctx)
			return err
		}}.Run(ctx, l.tel.Logger)
}
