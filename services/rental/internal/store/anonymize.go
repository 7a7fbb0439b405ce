package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

// The statements anonymize reservations: they remove the customer's name, e-mail address, phone number, answers and
// link. The statements keep the rental, the units and the time of the reservation. An empty name marks an anonymized
// customer; no other reservation has an empty name.
//
// The same data are also in the events of the reservation and, for a day, in the idempotency
// results of the owner's writes. Each of the three tables has its own statement.
const (
	anonymizeEventsSQL = `
UPDATE events SET data = data - 'cancel_reason' || '{"customer_name": "", "customer_email": null, "customer_phone": null, "form_data": {}}'
WHERE business_id = @business_id AND subject_id = ANY(@ids::uuid[]) AND data ? 'customer_name'`

	anonymizeReservationsSQL = `
UPDATE reservations SET customer_name = '', customer_email = NULL, customer_phone = NULL, form_data = '{}', link_hash = NULL
WHERE business_id = @business_id AND id = ANY(@ids)`

	deleteResultsSQL = `
UPDATE made_writes
SET answer = convert_to((told.answer || '{"CustomerName": "", "CustomerEmail": null, "CustomerPhone": null, "FormData": {}, "LinkHash": null}')::text, 'UTF8')
FROM (SELECT write_id, convert_from(answer, 'UTF8')::jsonb AS answer FROM made_writes WHERE business_id = @business_id) AS told
WHERE made_writes.business_id = @business_id AND made_writes.write_id = told.write_id
  AND told.answer ? 'CustomerName' AND told.answer->>'ID' = ANY(@ids::uuid[]::text[])`
)

// anonymize anonymizes reservations. The transaction must have locked their rows.
func anonymize(ctx context.Context, tx pgx.Tx, businessID uuid.UUID, ids []uuid.UUID) error {
	if len(ids) == 0 {
		return nil
	}
	args := pgx.NamedArgs{"business_id": businessID, "ids": ids}
	var batch pgx.Batch
	for _, sql := range []string{anonymizeReservationsSQL, anonymizeEventsSQL, deleteResultsSQL} {
		batch.Queue(sql, args)
	}
	return tx.SendBatch(ctx, &batch).Close()
}

// anonymizeBatch is the maximum number of reservations that one transaction
// anonymizes. It limits the number of locks of a transaction.
const anonymizeBatch = 500

// endedSQL is the condition that a reservation ended at or before the instant $2 and is not anonymized.
// A partial index contains the reservations that are not anonymized and not picked up.
const endedSQL = `coalesce(ends_at, (end_date + interval '36 hours') AT TIME ZONE 'UTC') <= $2 AND customer_name <> '' AND status <> 'picked_up'`

// AnonymizeEnded anonymizes the reservations of a business that ended at or before the
// instant in the argument `cutoff`. It returns the number of these reservations. A reservation
// that is picked up and not returned yet has not ended, even if the return is late.
func (s *Store) AnonymizeEnded(ctx context.Context, businessID uuid.UUID, cutoff time.Time) (int64, error) {
	var total int64
	for {
		var ids []uuid.UUID
		err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			if err := eventlog.LockFeed(ctx, tx); err != nil {
				return err
			}
			rows, err := tx.Query(ctx, `SELECT id FROM reservations WHERE business_id = $1 AND `+endedSQL+
				` LIMIT $3 FOR UPDATE`, businessID, cutoff, anonymizeBatch)
			if err != nil {
				return err
			}
			if ids, err = pgx.CollectRows(rows, pgx.RowTo[uuid.UUID]); err != nil {
				return err
			}
			return anonymize(ctx, tx, businessID, ids)
		})
		if err != nil {
			return total, fmt.Errorf("anonymize ended reservations: %w", err)
		}
		if len(ids) == 0 {
			return total, nil
		}
		total += int64(len(ids))
	}
}

// BusinessesToAnonymize returns the ids of businesses that have a reservation to anonymize:
// the reservation ended at or before the instant in the argument `cutoff` and is not anonymized yet.
// The ids are in ascending order and greater than the id in the argument `after`. The result
// has at most `limit` ids. The query uses an index to go from one business to the next.
func (s *Store) BusinessesToAnonymize(ctx context.Context, after uuid.UUID, cutoff time.Time,
	limit int) ([]uuid.UUID, error) {
	return postgres.Rows(ctx, s.pool, pgx.RowTo[uuid.UUID], "list businesses with customers to anonymize",
		businessesToAnonymizeSQL, after, cutoff, limit)
}

var businessesToAnonymizeSQL = postgres.DueBusinesses(postgres.DueRows{
	Table: "reservations", Index: "customer_name <> '' AND status <> 'picked_up'", Condition: endedSQL,
})
