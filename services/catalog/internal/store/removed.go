package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

// Predecessors returns how many removed businesses had the slug. If an owner
// chooses no id for a business, its id is derived from the slug and this number.
func (s *Store) Predecessors(ctx context.Context, slug string) (int, error) {
	var n int
	if err := s.pool.QueryRow(ctx, `SELECT count(*) FROM businesses WHERE removed_slug = $1`,
		slug).Scan(&n); err != nil {
		return 0, fmt.Errorf("count removed businesses: %w", err)
	}
	return n, nil
}

// ListRemoved returns up to `limit` ids of businesses that were removed at or before the instant `before`.
// The ids are in ascending order, and only ids greater than the argument `after` are returned.
func (s *Store) ListRemoved(ctx context.Context, before time.Time, after uuid.UUID, limit int) ([]uuid.UUID, error) {
	return postgres.Rows(ctx, s.pool, pgx.RowTo[uuid.UUID], "list removed businesses",
		`SELECT id FROM businesses WHERE removed_at <= $1 AND id > $2 ORDER BY id LIMIT $3`, before, after, limit)
}

// EraseEvents deletes the events of businesses that were removed at or before the instant
// `before`. EraseEvents returns the number of deleted events. EraseEvents keeps the rows
// of the businesses, so that their ids and version numbers are never used again.
func (s *Store) EraseEvents(ctx context.Context, before time.Time) (int64, error) {
	var count int64
	for {
		tag, err := s.pool.Exec(ctx, `DELETE FROM events WHERE (business_id, subject_id, sequence) IN (
			SELECT e.business_id, e.subject_id, e.sequence FROM businesses b JOIN events e ON e.business_id = b.id
			WHERE b.removed_at <= $1 LIMIT $2)`, before, eraseBatch)
		count += tag.RowsAffected()
		if err != nil {
			return count, fmt.Errorf("erase events of removed businesses: %w", err)
		}
		if tag.RowsAffected() < eraseBatch {
			return count, nil
		}
	}
}

// eraseBatch is the maximum number of rows that one statement deletes. It limits how many rows are locked at once.
const eraseBatch = 1000
