package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Querier runs queries. It is implemented by pools, connections and transactions of pgx.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Rows runs a query and returns its rows. The argument `what` describes the operation and becomes the prefix of errors.
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

// Row runs a query, as [Rows] does, and returns its single row. It returns [pgx.ErrNoRows] if the query finds no row.
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
