package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Predecessors returns how many businesses had the slug before and were removed.
func (s *Store) Predecessors(ctx context.Context, slug string) (int, error) {
	var n int
	if err := s.pool.QueryRow(ctx, `SELECT count(*) FROM businesses WHERE removed_slug = $1`, slug).Scan(&n); err != nil {
		return 0, fmt.Errorf("count removed businesses: %w", err)
	}
	return n, nil
}

// Removed returns the ids, after the given one and in their order, of up to limit businesses that were removed at or
// before the instant.
func (s *Store) Removed(ctx context.Context, before time.Time, after uuid.UUID, limit int) ([]uuid.UUID, error) {
	rows, err := s.pool.Query(ctx, `SELECT id FROM businesses WHERE removed_at <= $1 AND id > $2 ORDER BY id LIMIT $3`, before, after, limit)
	if err != nil {
		return nil, fmt.Errorf("list removed businesses: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return nil, fmt.Errorf("list removed businesses: %w", err)
	}
	return ids, nil
}
