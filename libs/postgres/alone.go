package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Alone does work while no other replica of the service does work of this name, and reports false, having done nothing, where one does.
// The lock is a connection's: it is free as soon as that ends, however the process does.
func Alone(ctx context.Context, pool *pgxpool.Pool, name string, work func(context.Context) error) (bool, error) {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return false, fmt.Errorf("lock %s: %w", name, err)
	}
	defer conn.Release()
	const key = `(hashtextextended(current_schema() || '/' || $1, 0))`
	var held bool
	if err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock`+key, name).Scan(&held); err != nil || !held {
		if err != nil {
			err = fmt.Errorf("lock %s: %w", name, err)
		}
		return false, err
	}
	worked := work(ctx)
	if _, err := conn.Exec(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock`+key, name); err != nil {
		_ = conn.Conn().Close(context.WithoutCancel(ctx)) // the lock ends with it
	}
	return true, worked
}
