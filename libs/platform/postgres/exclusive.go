package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// RunExclusively runs work while no other replica of the service runs work with the same
// name. If another replica does, RunExclusively returns false and does not run work.
//
// A separate transaction holds an advisory lock. The lock is released when its connection ends,
// even after a crash, and it works with a pooler that assigns a connection per transaction.
func RunExclusively(ctx context.Context, pool *pgxpool.Pool, name string,
	work func(context.Context) error) (bool, error) {
	var (
		acquired bool
		workErr  error
	)
	err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, `SELECT pg_try_advisory_xact_lock(hashtextextended(current_schema() || '/' || $1, 0))`,
			name).Scan(&acquired)
		if err == nil && acquired {
			workErr = work(ctx)
		}
		return err
	})
	if err != nil && !acquired {
		return false, fmt.Errorf("lock %s: %w", name, err)
	}
	return acquired, workErr // the transaction's end has released the lock, also if the commit failed
}
