package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// RunExclusively calls the function `work`, unless another replica of the service is running a function with the same
// `name`. If another replica is running it, RunExclusively returns false without an error.
//
// A separate transaction holds an advisory lock while `work` runs. PostgreSQL releases the lock when the connection
// ends, even after a crash. The lock also works with a pooler that assigns a connection per transaction.
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
	return acquired, workErr // the end of the transaction has released the lock, even if the commit failed
}
