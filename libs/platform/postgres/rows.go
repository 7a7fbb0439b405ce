package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Querier is a pool, a connection or a transaction.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Rows returns the rows of a query. The argument what describes the operation; it is the prefix of errors.
func Rows[T any](ctx context.Context, q Querier, scan pgx.RowToFunc[T], what, sql string, args ...any) ([]T, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	list, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return list, nil
}

// Row returns the single row of a query, like [Rows]. The error is [pgx.ErrNoRows] if there is no row.
func Row[T any](ctx context.Context, q Querier, scan pgx.RowToFunc[T], what, sql string, args ...any) (T, error) {
	var none T
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return none, fmt.Errorf("%s: %w", what, err)
	}
	row, err := pgx.CollectExactlyOneRow(rows, scan)
	if err != nil {
		return none, fmt.Errorf("%s: %w", what, err)
	}
	return row, nil
}
