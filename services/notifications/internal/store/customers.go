package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

// ErasureCounts holds the numbers of deleted rows about a customer.
type ErasureCounts struct {
	Messages   int // messages, and stored events whose messages were not yet written
	Deliveries int // webhook deliveries
}

// Erasure is a request to delete the data of a customer.
type Erasure struct {
	BusinessID   uuid.UUID
	Email        string      // upper and lower case are equal
	KeptSubjects []uuid.UUID // future bookings, orders and reservations, whose data is kept
}

// EraseCustomer deletes the data of a customer (lifecycle.md §6), once per Idempotency-Key. EraseCustomer deletes the
// customer's messages, the stored events about the customer, and the webhook deliveries in any status. EraseCustomer
// also deletes the idempotency results with the ID of a deleted row. If another delivery waited for a deleted delivery,
// the waiting delivery becomes due. EraseCustomer then calls `wake` with the delivery's endpoint.
func (s *Store) EraseCustomer(ctx context.Context, erasure Erasure, now time.Time,
	wake func(context.Context, pgx.Tx, uuid.UUID, EndpointState) error) (ErasureCounts, error) {
	if erasure.KeptSubjects == nil {
		erasure.KeptSubjects = []uuid.UUID{} // comparisons with NULL match nothing
	}
	return postgres.WriteIdempotently(ctx, s.pool, erasure.BusinessID,
		func(ctx context.Context, tx pgx.Tx) (ErasureCounts, error) {
			if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(`+erasureLockSQL+`)`,
				erasure.BusinessID); err != nil {
				return ErasureCounts{}, fmt.Errorf("erase a customer: %w", err)
			}
			if err := discardPages(ctx, tx); err != nil {
				return ErasureCounts{}, err
			}
			states, err := lockEndpoints(ctx, tx, erasure.BusinessID)
			if err != nil {
				return ErasureCounts{}, err
			}
			messages, err := eraseMessages(ctx, tx, erasure)
			if err != nil {
				return ErasureCounts{}, fmt.Errorf("erase a customer's messages: %w", err)
			}
			deliveries, err := eraseDeliveries(ctx, tx, erasure)
			if err != nil {
				return ErasureCounts{}, fmt.Errorf("erase a customer's deliveries: %w", err)
			}
			if err := deleteResults(ctx, tx, erasure.BusinessID, messages, deliveries); err != nil {
				return ErasureCounts{}, err
			}
			if err := makeWaitingDue(ctx, tx, erasure.BusinessID, deliveries, states, now, wake); err != nil {
				return ErasureCounts{}, err
			}
			return ErasureCounts{Messages: len(messages), Deliveries: len(deliveries)}, nil
		})
}

// erasureLockSQL is the key of the advisory lock that serializes the erasing of customers of the business $1.
const erasureLockSQL = `hashtextextended('erasing customers of ' || $1::uuid::text, 0)`

// DatabaseTime returns the database's current time, for the argument `since` of [Store.LockErasure].
func (s *Store) DatabaseTime(ctx context.Context) (time.Time, error) {
	var now time.Time
	if err := s.pool.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&now); err != nil {
		return time.Time{}, fmt.Errorf("ask for the time: %w", err)
	}
	return now, nil
}

// LockErasure reports whether the transaction tx may store customer data that was read from other services at the time
// `since` or later. If it returns false, a customer may have been erased after the read, and the caller must read the
// data again. LockErasure also blocks the erasing of the business's customers until tx ends.
//
// Each erasing stores an idempotency result. LockErasure returns false if any idempotency result of the business is
// newer than the argument `since`. A result of another kind of write therefore only causes an unnecessary second read.
func (s *Store) LockErasure(ctx context.Context, tx pgx.Tx, businessID uuid.UUID, since time.Time) (bool, error) {
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock_shared(`+erasureLockSQL+`)`, businessID); err != nil {
		return false, fmt.Errorf("block erasures: %w", err)
	}
	var isCurrent bool
	err := tx.QueryRow(ctx, `SELECT NOT EXISTS (SELECT FROM made_writes WHERE business_id = $1 AND made_at > $2)`,
		businessID, since).Scan(&isCurrent)
	if err != nil {
		return false, fmt.Errorf("look for an erasure after the read: %w", err)
	}
	return isCurrent, nil
}

// discardPages makes every replica discard a page of events that the replica has read but not stored. Such a page may
// contain the data of an erased customer. discardPages removes the lock of every feed from the replicas, so that their
// calls of [Store.TakePage] store nothing. To prevent deadlocks, discardPages locks the rows of feeds before the rows
// of endpoints, as TakePage does.
func discardPages(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx, `UPDATE feeds SET reader = NULL, reader_until = '-infinity' WHERE name IN (SELECT name FROM feeds ORDER BY name FOR UPDATE)`)
	if err != nil {
		return fmt.Errorf("drop pages that were read: %w", err)
	}
	return nil
}

// lockEndpoints locks the rows of all endpoints of a business, as lockEndpoint locks one row.
func lockEndpoints(ctx context.Context, tx pgx.Tx, businessID uuid.UUID) (map[uuid.UUID]EndpointState, error) {
	rows, err := tx.Query(ctx, `SELECT id, failing_since IS NOT NULL FROM webhook_endpoints WHERE business_id = $1 ORDER BY id FOR NO KEY UPDATE`, businessID)
	if err != nil {
		return nil, fmt.Errorf("lock endpoints: %w", err)
	}
	states := map[uuid.UUID]EndpointState{}
	var (
		id    uuid.UUID
		state EndpointState
	)
	if _, err := pgx.ForEachRow(rows, []any{&id, &state.IsFailing},
		func() error { states[id] = state; return nil }); err != nil {
		return nil, fmt.Errorf("lock endpoints: %w", err)
	}
	return states, nil
}

// eraseMessages deletes a customer's messages, and the stored events about the customer. eraseMessages returns the IDs
// of the deleted messages and events.
func eraseMessages(ctx context.Context, tx pgx.Tx, erasure Erasure) ([]uuid.UUID, error) {
	var erased []uuid.UUID
	for _, sql := range []string{
		`DELETE FROM message_events WHERE business_id = $1 AND lower(event->'data'->>'customer_email') = lower($2) AND subject_id <> ALL($3) RETURNING event_id`,
		`DELETE FROM messages WHERE business_id = $1 AND (customer_email = lower($2) OR lower(recipient) = lower($2) AND kind <> 'owner_notice')
		 AND about_id <> ALL($3) RETURNING id`,
	} {
		rows, err := tx.Query(ctx, sql, erasure.BusinessID, erasure.Email, erasure.KeptSubjects)
		if err != nil {
			return nil, err
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
		if err != nil {
			return nil, err
		}
		erased = append(erased, ids...)
	}
	return erased, nil
}

// erasedDelivery holds the columns of a deleted delivery that are needed after the deletion.
type erasedDelivery struct {
	ID, EndpointID, SubjectID uuid.UUID
	WasPending                bool
}

func eraseDeliveries(ctx context.Context, tx pgx.Tx, erasure Erasure) ([]erasedDelivery, error) {
	rows, err := tx.Query(ctx,
		`DELETE FROM webhook_deliveries WHERE business_id = $1 AND customer_email = lower($2) AND subject_id <> ALL($3)
RETURNING id, endpoint_id, subject_id, status = 'pending'`, erasure.BusinessID, erasure.Email, erasure.KeptSubjects)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[erasedDelivery])
}

// deleteResults deletes the idempotency results that contain the ID of a deleted message or delivery, such as the
// result of a retry. If a client then repeats the retry request, the service finds no message.
func deleteResults(ctx context.Context, tx pgx.Tx, businessID uuid.UUID, messages []uuid.UUID,
	deliveries []erasedDelivery) error {
	ids := make([]string, 0, len(messages)+len(deliveries))
	for _, id := range messages {
		ids = append(ids, id.String())
	}
	for _, d := range deliveries {
		ids = append(ids, d.ID.String())
	}
	_, err := tx.Exec(ctx, `DELETE FROM made_writes WHERE business_id = $1 AND convert_from(answer, 'UTF8')::jsonb->>'ID' = ANY($2)`, businessID, ids)
	if err != nil {
		return fmt.Errorf("delete idempotency results of erased messages: %w", err)
	}
	return nil
}

// makeWaitingDueSQL makes the first pending delivery of each given subject due, because this delivery may have waited
// for a deleted one.
const makeWaitingDueSQL = `
UPDATE webhook_deliveries SET due_at = $4 WHERE business_id = $1 AND due_at IS NULL AND id IN (
    SELECT DISTINCT ON (d.endpoint_id, d.subject_id) d.id
    FROM webhook_deliveries d JOIN unnest($2::uuid[], $3::uuid[]) AS gone (endpoint_id, subject_id) USING (endpoint_id, subject_id)
    WHERE d.business_id = $1 AND d.status = 'pending' AND NOT d.again
    ORDER BY d.endpoint_id, d.subject_id, d.sequence)
RETURNING endpoint_id`

// makeWaitingDue makes each delivery due that waited for an erased delivery. The waiting delivery is about a later
// event of the same subject and contains no data of the customer. makeWaitingDue then calls `wake` once with the
// endpoint of each such delivery.
//
// The order of events is kept even if a call to an endpoint is in progress: the holder of the delivery lock reads due
// deliveries only after the end of that call.
func makeWaitingDue(ctx context.Context, tx pgx.Tx, businessID uuid.UUID, erased []erasedDelivery,
	states map[uuid.UUID]EndpointState, now time.Time,
	wake func(context.Context, pgx.Tx, uuid.UUID, EndpointState) error,
) error {
	var endpoints, subjects []uuid.UUID
	for _, d := range erased {
		if d.WasPending {
			endpoints, subjects = append(endpoints, d.EndpointID), append(subjects, d.SubjectID)
		}
	}
	if len(endpoints) == 0 {
		return nil
	}
	released, err := postgres.Rows(ctx, tx, pgx.RowTo[uuid.UUID], "make waiting deliveries due", makeWaitingDueSQL,
		businessID,
		endpoints, subjects, now)
	if err != nil {
		return err
	}
	isWoken := map[uuid.UUID]bool{}
	for _, id := range released {
		if isWoken[id] {
			continue
		}
		isWoken[id] = true
		if err := wake(ctx, tx, id, states[id]); err != nil {
			return err
		}
	}
	return nil
}

// retentionStep is the maximum number of subjects, or of messages, whose rows one transaction deletes. The maximum
// limits the number of locks that the transaction holds.
const retentionStep = 100

// endedSQL finds subjects that have ended. It reads the end of a subject from the messages about the subject, because
// only the messages contain the end. After a reschedule the messages differ, and the latest end applies.
const endedSQL = `
SELECT about_id FROM messages WHERE business_id = $1 AND about_kind IN ('booking', 'ticket', 'reservation')
GROUP BY about_id HAVING max(about_ends_at) <= $2 LIMIT $3`

// AnonymizeEnded deletes old data of a business: the messages about subjects that have ended, and all webhook
// deliveries of those subjects. The argument `before` is the latest end of these subjects. AnonymizeEnded uses several
// transactions and returns the number of deleted rows.
//
// One transaction deletes all deliveries of a subject, so that no delivery waits for a deleted one. The transaction
// locks the business's endpoints, so that no delivery is added at the same time.
func (s *Store) AnonymizeEnded(ctx context.Context, businessID uuid.UUID, before time.Time) (int64, error) {
	var total int64
	for {
		n, err := s.deleteEndedBatch(ctx, businessID, before)
		if err != nil {
			return total, fmt.Errorf("delete messages after the retention time: %w", err)
		}
		if n == 0 {
			return total, nil
		}
		total += n
	}
}

func (s *Store) deleteEndedBatch(ctx context.Context, businessID uuid.UUID, before time.Time) (int64, error) {
	var deleted int64
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := lockEndpoints(ctx, tx, businessID); err != nil {
			return err
		}
		ended, err := postgres.Rows(ctx, tx, pgx.RowTo[uuid.UUID], "find ended bookings and orders", endedSQL,
			businessID, before,
			retentionStep)
		if err != nil {
			return err
		}
		if ended == nil {
			ended = []uuid.UUID{} // comparisons with NULL match nothing
		}
		for _, sql := range []string{
			`DELETE FROM webhook_deliveries WHERE business_id = @business_id AND subject_id = ANY(@ended)`,
			`DELETE FROM messages WHERE business_id = @business_id AND about_id = ANY(@ended) AND about_ends_at <= @then`,
		} {
			tag, err := tx.Exec(ctx, sql, pgx.NamedArgs{"business_id": businessID, "ended": ended, "then": before})
			if err != nil {
				return err
			}
			deleted += tag.RowsAffected()
		}
		if deleted > 0 {
			return nil
		}
		// Each message that this statement deletes contains an end time that has passed. Either another message
		// contains a later end time of the same subject, or the message is not about a booking, ticket order or
		// reservation.
		tag, err := tx.Exec(ctx, `DELETE FROM messages WHERE business_id = $1
AND id IN (SELECT id FROM messages WHERE business_id = $1 AND about_ends_at <= $2 LIMIT $3)`, businessID, before, retentionStep)
		deleted = tag.RowsAffected()
		return err
	})
	return deleted, err
}

// BusinessesToAnonymize returns the IDs of businesses that have a message about a subject that has ended. The argument
// `before` is the latest end of such a subject. The IDs follow the ID in the argument `after`, in ascending order. The
// argument `limit` is their maximum number. The query finds each next business by an index.
func (s *Store) BusinessesToAnonymize(ctx context.Context, after uuid.UUID, before time.Time,
	limit int) ([]uuid.UUID, error) {
	return postgres.Rows(ctx, s.pool, pgx.RowTo[uuid.UUID], "list businesses with customers to anonymize",
		businessesWithEndedSQL, after, before, limit)
}

var businessesWithEndedSQL = postgres.DueBusinesses(postgres.DueRows{Table: "messages",
	Condition: "about_ends_at <= $2"})
