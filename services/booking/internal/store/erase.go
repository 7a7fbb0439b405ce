package store

import (
	"context"
	"fmt"

	"github.com/google/uuid"
)

// eraseStep is how many rows a statement deletes at most, so that none holds many locks.
const eraseStep = 1000

// eraseSQL deletes a step of what is kept of businesses, from each table in turn. Occupied time, seats and
// payments go with their bookings. A booking whose charge is not final stays until it is: no refund may be forgotten.
var eraseSQL = []string{
	`DELETE FROM idempotency_records WHERE ctid IN (SELECT ctid FROM idempotency_records t WHERE business_id = ANY($1) LIMIT $2)`,
	`DELETE FROM refused_writes WHERE ctid IN (SELECT ctid FROM refused_writes t WHERE business_id = ANY($1) LIMIT $2)`,
	`DELETE FROM made_writes WHERE ctid IN (SELECT ctid FROM made_writes t WHERE business_id = ANY($1) LIMIT $2)`,
	`DELETE FROM api_keys WHERE ctid IN (SELECT ctid FROM api_keys t WHERE business_id = ANY($1) LIMIT $2)`,
	`DELETE FROM tickets WHERE ctid IN (SELECT ctid FROM tickets t WHERE business_id = ANY($1) LIMIT $2)`,
	`DELETE FROM tier_sales WHERE ctid IN (SELECT ctid FROM tier_sales t WHERE business_id = ANY($1) LIMIT $2)`,
	`DELETE FROM event_sales WHERE ctid IN (SELECT ctid FROM event_sales t WHERE business_id = ANY($1) LIMIT $2)`,
	`DELETE FROM bookings WHERE ctid IN (SELECT ctid FROM bookings t WHERE business_id = ANY($1)
		AND NOT EXISTS (SELECT FROM payments p WHERE p.business_id = t.business_id AND p.booking_id = t.id
			AND p.status IN ('creating', 'open', 'cancelling', 'refunding')) LIMIT $2)`,
	`DELETE FROM class_sessions WHERE ctid IN (SELECT ctid FROM class_sessions t WHERE business_id = ANY($1) LIMIT $2)`,
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
