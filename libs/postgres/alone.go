package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Alone does work while no other replica of the service does work of this name, and reports false, having done nothing, where one does.
// The lock is a transaction's, which does nothing else meanwhile: it is free as soon as its connection ends, however the process does, and it
// holds behind a pooler that gives out a connection for one transaction.
func Alone(ctx context.Context, pool *pgxpool.Pool, name string, work func(context.Context) error) (bool, error) {
	var (
		held   bool
		worked error
	)
	err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, `SELECT pg_try_advisory_xact_lock(hashtextextended(current_schema() || '/' || $1, 0))`, name).Scan(&held)
		if err == nil && held {
			worked = work(ctx)
		}
		return err
	})
	if err != nil && !held {
		return false, fmt.Errorf("lock %s: %w", name, err)
	}
	return held, worked // the lock ended with its transaction, however that did
}
