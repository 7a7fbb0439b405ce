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

// These statements anonymize bookings and orders of tickets. They remove the customer's name,
// e-mail address, phone number, address, answers and link. They keep the sold items, times and amounts.
//
// An empty name marks an anonymized customer; no other customer has an empty name. The statements also anonymize
// the copies of the customer's data in events and in idempotency results. Idempotency results are stored for a day.
const (
	anonymizeBookingsSQL = `
UPDATE bookings SET customer_name = '', customer_email = '', customer_phone = NULL, customer_address = NULL, form_data = '{}', link_hash = NULL
WHERE business_id = @business_id AND id = ANY(@bookings)`

	anonymizeTicketsSQL = `
UPDATE tickets SET customer_name = '', customer_email = NULL, customer_phone = NULL, form_data = '{}', link_hash = NULL
WHERE business_id = @business_id AND id = ANY(@tickets)`

	anonymizeEventsSQL = `
UPDATE events
SET data = data - 'cancel_reason' || CASE subject_kind WHEN 'booking' THEN '{"customer_name": "", "customer_email": "", "customer_phone": null, "customer_address": null, "form_data": {}}'::jsonb
                                     ELSE '{"customer_name": "", "customer_email": null, "customer_phone": null, "form_data": {}}' END
WHERE business_id = @business_id AND subject_id = ANY(@bookings::uuid[] || @tickets::uuid[]) AND data ? 'customer_name'`

	deleteResultsSQL = `
UPDATE made_writes
SET answer = convert_to((told.answer || CASE WHEN told.answer ? 'Customer'
                                             THEN '{"Customer": {"Name": "", "Email": "", "Phone": null}, "FormData": {}, "LinkHash": null}'::jsonb
                                             ELSE '{"CustomerName": "", "CustomerEmail": null, "CustomerPhone": null, "FormData": {}, "LinkHash": null}' END)::text, 'UTF8')
FROM (SELECT write_id, convert_from(answer, 'UTF8')::jsonb AS answer FROM made_writes WHERE business_id = @business_id) AS told
WHERE made_writes.business_id = @business_id AND made_writes.write_id = told.write_id
  AND (told.answer ? 'Customer' OR told.answer ? 'CustomerName') AND told.answer->>'ID' = ANY(@ids)`
)

// deleteReservationsSQL deletes the rows that count reservations of e-mail addresses for the limit of
// open bookings. If the third parameter is false, it deletes only the reservations that have ended.
const deleteReservationsSQL = `
DELETE FROM open_reservations WHERE business_id = $1 AND lower(customer_email) = ANY($2) AND ($3 OR ends_at <= $4)`

// anonymize anonymizes bookings and orders of tickets. The caller must lock
// their rows and the row of the event feed in the same transaction.
func anonymize(ctx context.Context, tx pgx.Tx, businessID uuid.UUID, bookings, tickets []uuid.UUID) error {
	if len(bookings)+len(tickets) == 0 {
		return nil
	}
	ids := make([]string, 0, len(bookings)+len(tickets))
	for _, list := range [][]uuid.UUID{bookings, tickets} {
		for _, id := range list {
			ids = append(ids, id.String())
		}
	}
	args := pgx.NamedArgs{"business_id": businessID, "bookings": bookings, "tickets": tickets, "ids": ids}
	var batch pgx.Batch
	for _, sql := range []string{anonymizeBookingsSQL, anonymizeTicketsSQL, anonymizeEventsSQL, deleteResultsSQL} {
		batch.Queue(sql, args)
	}
	return tx.SendBatch(ctx, &batch).Close()
}

// anonymizeBatchSize is the maximum number of bookings, and of orders, that one
// transaction anonymizes. It limits the number of locks that a transaction holds.
const anonymizeBatchSize = 500

// AnonymizeEnded anonymizes the bookings and orders of a business that ended at or
// before the time in the argument `cutoff`. It then removes the records of customers that are unused since then. It
// returns the number of anonymized and removed rows.
func (s *Store) AnonymizeEnded(ctx context.Context, businessID uuid.UUID, cutoff time.Time) (int64, error) {
	var total int64
	for {
		n, err := s.anonymizeBatch(ctx, businessID, cutoff)
		total += n
		if err != nil {
			return total, err
		}
		if n == 0 {
			removed, err := s.removeUnusedRecords(ctx, businessID, cutoff)
			return total + removed, err
		}
	}
}

func (s *Store) anonymizeBatch(ctx context.Context, businessID uuid.UUID, cutoff time.Time) (int64, error) {
	var n int
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := eventlog.LockFeed(ctx, tx); err != nil {
			return err
		}
		bookings, err := lockToAnonymize(ctx, tx, "bookings", businessID, cutoff)
		if err != nil {
			return err
		}
		tickets, err := lockToAnonymize(ctx, tx, "tickets", businessID, cutoff)
		if err != nil {
			return err
		}
		n = len(bookings) + len(tickets)
		return anonymize(ctx, tx, businessID, bookings, tickets)
	})
	if err != nil {
		return 0, fmt.Errorf("anonymize ended bookings: %w", err)
	}
	return int64(n), nil
}

// lockToAnonymize locks the rows of bookings or orders that ended at or before the time in the
// argument `cutoff` and are not anonymized. It locks at most anonymizeBatchSize rows and returns
// the ids of these rows. A partial index contains exactly the rows that are not anonymized.
func lockToAnonymize(ctx context.Context, tx pgx.Tx, table string, businessID uuid.UUID,
	cutoff time.Time) ([]uuid.UUID, error) {
	rows, err := tx.Query(ctx, `
		SELECT id FROM `+table+`
		WHERE business_id = $1 AND ends_at <= $2 AND customer_name <> ''
		ORDER BY ends_at LIMIT $3 FOR UPDATE`, businessID, cutoff, anonymizeBatchSize)
	if err != nil {
		return nil, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if ids == nil {
		ids = []uuid.UUID{} // a NULL array would match no row
	}
	return ids, err
}

// BusinessesToAnonymize returns the ids of businesses with bookings or orders to anonymize, or with records of customers
// that may be unused, at most `limit` ids in ascending order. A booking or order is anonymized if it ended at or before
// the time in the argument `cutoff`. The ids are greater than the argument `after`.
//
// The query uses an index to go from one business to the next.
func (s *Store) BusinessesToAnonymize(ctx context.Context, after uuid.UUID, cutoff time.Time,
	limit int) ([]uuid.UUID, error) {
	return postgres.Rows(ctx, s.pool, pgx.RowTo[uuid.UUID], "list businesses with customers to anonymize",
		businessesToAnonymizeSQL, after, cutoff, limit)
}

var businessesToAnonymizeSQL = postgres.DueBusinesses(
	postgres.DueRows{Table: "bookings", Index: "customer_name <> ''",
		Condition: "ends_at <= $2 AND customer_name <> ''"},
	postgres.DueRows{Table: "tickets", Index: "customer_name <> ''",
		Condition: "ends_at <= $2 AND customer_name <> ''"},
	postgres.DueRows{Table: "customer_records", Condition: "changed_at <= $2"},
)
