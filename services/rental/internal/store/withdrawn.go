package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
)

// BusinessesWithReservationsAhead returns the ids of businesses with reservations that are
// not picked up yet and end on the date `today` or later. The ids are in ascending order
// and greater than the id in the argument `after`. The result has at most `limit` ids.
func (s *Store) BusinessesWithReservationsAhead(ctx context.Context, after uuid.UUID, today timespan.Date,
	limit int) ([]uuid.UUID, error) {
	return postgres.Rows(ctx, s.pool, pgx.RowTo[uuid.UUID], "find businesses with reservations ahead", `
		SELECT DISTINCT business_id FROM reservations
		WHERE business_id > $1 AND status IN ('pending', 'reserved') AND end_date >= `+epoch+` + $2::integer
		ORDER BY business_id LIMIT $3`, after, int32(today), limit)
}

// withdrawnBatch is the maximum number of reservations that one
// statement changes. It limits the number of locks of a transaction.
const withdrawnBatch = 500

// withdrawnSQL corrects the mark `withdrawn` of the reservations with the given status. It sets the mark if the offer
// no longer contains the rental or one of its extras, and removes the mark if the offer contains all of them again. It
// records one event for each changed reservation, except for reservations whose payment is not open yet.
var withdrawnSQL = `
WITH before AS MATERIALIZED (
    SELECT id, NOT withdrawn AS withdraws FROM reservations AS r
    WHERE business_id = @business_id AND status = @status AND status IN ('pending', 'reserved') AND end_date >= ` + epoch + ` + @today::integer
      AND withdrawn <> (NOT (rental_id = ANY(@offered::uuid[])
            AND NOT EXISTS (SELECT FROM jsonb_to_recordset(r.extras) AS e (rental_id uuid) WHERE e.rental_id <> ALL(@offered::uuid[]))))
    ORDER BY id LIMIT @limit FOR UPDATE
), changed AS (
    UPDATE reservations AS r
    SET withdrawn = before.withdraws, updated_at = @now::timestamptz, sequence = r.sequence + CASE WHEN r.sequence = 0 THEN 0 ELSE 1 END
    FROM before WHERE r.business_id = @business_id AND r.id = before.id
    RETURNING r.*
), withdrawn AS (
    ` + eventlog.Record(event.Reservation, event.ReservationWithdrawn, "changed WHERE withdrawn AND sequence > 0", eventDataSQL("changed")) + `
), restored AS (
    ` + eventlog.Record(event.Reservation, event.ReservationRestored, "changed WHERE NOT withdrawn AND sequence > 0", eventDataSQL("changed")) + `
)
SELECT count(*) FROM changed`

// UpdateWithdrawn updates those reservations of a business that are not picked up yet. It marks a
// reservation as withdrawn if its rental or one of its extras is no longer offered. It removes the
// mark if the rental and all extras are offered again. The argument `offeredIDs` contains the ids of
// the offered rentals. UpdateWithdrawn returns the number of changed reservations. It is idempotent.
func (s *Store) UpdateWithdrawn(ctx context.Context, businessID uuid.UUID, offeredIDs []uuid.UUID, today timespan.Date,
	now time.Time) (int, error) {
	total := 0
	for _, status := range []state.State{state.Reserved, state.Pending} {
		for n := withdrawnBatch; n == withdrawnBatch; total += n {
			err := s.pool.QueryRow(ctx, withdrawnSQL, eventlog.Add(ctx, pgx.NamedArgs{
				"business_id": businessID, "status": string(status), "today": int32(today), "offered": offeredIDs,
				"limit": withdrawnBatch, "now": now,
			}, now)).Scan(&n)
			if err != nil {
				return total, fmt.Errorf("update withdrawn reservations: %w", err)
			}
		}
	}
	return total, nil
}
