package store

import (
	"context"
	"fmt"

	"github.com/google/uuid"
)

// eraseStep is how many rows a statement deletes at most, so that none holds many locks.
const eraseStep = 1000

// eraseSQL deletes a step of what is kept of businesses, from each table in turn.
var eraseSQL = []string{
	`DELETE FROM refused_writes WHERE ctid IN (SELECT ctid FROM refused_writes t WHERE business_id = ANY($1) LIMIT $2)`,
	`DELETE FROM made_writes WHERE ctid IN (SELECT ctid FROM made_writes t WHERE business_id = ANY($1) LIMIT $2)`,
	`DELETE FROM reservations WHERE ctid IN (SELECT ctid FROM reservations t WHERE business_id = ANY($1) LIMIT $2)`,
	`DELETE FROM rentals WHERE ctid IN (SELECT ctid FROM rentals t WHERE business_id = ANY($1) LIMIT $2)`,
}

// Erase deletes all that is kept of these businesses and returns how many rows that were, not counting those that go with
// others.
func (s *Store) Erase(ctx context.Context, businesses []uuid.UUID) (int64, error) {
	var erased int64
	for _, sql := range eraseSQL {
		for {
			tag, err := s.pool.Exec(ctx, sql, businesses, eraseStep)
			if err != nil {
				return erased, fmt.Errorf("erase: %w", err)
			}
			erased += tag.RowsAffected()
			if tag.RowsAffected() < eraseStep {
				break
			}
		}
	}
	return erased, nil
}
