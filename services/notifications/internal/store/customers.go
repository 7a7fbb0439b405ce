package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/postgres"
)

// Erased counts what was deleted of a customer, or of what has ended.
type Erased struct {
	Messages   int // written, or still to be written
	Deliveries int // of webhooks, their attempts with them
}

// Erase asks to forget a customer.
type Erase struct {
	BusinessID uuid.UUID
	Email      string      // in whatever case
	Stay       []uuid.UUID // what lies ahead: bookings, orders and reservations about which all is kept
}

// EraseCustomer deletes what holds data of a customer, once for each Idempotency-Key: messages, what is kept to make messages of, deliveries of
// webhooks, sent or not, and the noted answers to the owner's writes that show one (lifecycle.md §6). Where an event that was waiting behind
// an erased one is due by that, it calls wake with its endpoint.
func (s *Store) EraseCustomer(ctx context.Context, asked Erase, now time.Time, wake func(context.Context, pgx.Tx, uuid.UUID, LaneState) error) (Erased, error) {
	if asked.Stay == nil {
		asked.Stay = []uuid.UUID{} // NULL would compare with nothing
	}
	return postgres.Once(ctx, s.pool, asked.BusinessID, func(ctx context.Context, tx pgx.Tx) (Erased, error) {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(`+erasingSQL+`)`, asked.BusinessID); err != nil {
			return Erased{}, fmt.Errorf("erase a customer: %w", err)
		}
		if err := dropPages(ctx, tx); err != nil {
			return Erased{}, err
		}
		lanes, err := lockLanes(ctx, tx, asked.BusinessID)
		if err != nil {
			return Erased{}, err
		}
		messages, err := eraseMessages(ctx, tx, asked)
		if err != nil {
			return Erased{}, fmt.Errorf("erase a customer's messages: %w", err)
		}
		deliveries, err := eraseDeliveries(ctx, tx, asked)
		if err != nil {
			return Erased{}, fmt.Errorf("erase a customer's deliveries: %w", err)
		}
		if err := forgetAnswers(ctx, tx, asked.BusinessID, messages, deliveries); err != nil {
			return Erased{}, err
		}
		if err := releaseBehind(ctx, tx, asked.BusinessID, deliveries, lanes, now, wake); err != nil {
			return Erased{}, err
		}
		return Erased{Messages: len(messages), Deliveries: len(deliveries)}, nil
	})
}

// erasingSQL is the lock of erasing customers of the business $1.
const erasingSQL = `hashtextextended('erasing customers of ' || $1::uuid::text, 0)`

// Moment is the present by the database's clock, for [Store.Unerased].
func (s *Store) Moment(ctx context.Context) (time.Time, error) {
	var now time.Time
	if err := s.pool.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&now); err != nil {
		return time.Time{}, fmt.Errorf("ask for the time: %w", err)
	}
	return now, nil
}

// Unerased keeps the customers of a business from being erased until the transaction ends, and reports whether what was read of them elsewhere
// since the moment may be written down: false where one may have been erased meanwhile. It goes by the notes of the owner's writes, as an
// erasing leaves one; any other one leads to nothing worse than reading once more.
func (s *Store) Unerased(ctx context.Context, tx pgx.Tx, businessID uuid.UUID, since time.Time) (bool, error) {
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock_shared(`+erasingSQL+`)`, businessID); err != nil {
		return false, fmt.Errorf("hold erasing up: %w", err)
	}
	var unerased bool
	err := tx.QueryRow(ctx, `SELECT NOT EXISTS (SELECT FROM made_writes WHERE business_id = $1 AND made_at > $2)`, businessID, since).Scan(&unerased)
	if err != nil {
		return false, fmt.Errorf("look for erasing: %w", err)
	}
	return unerased, nil
}

// dropPages has every page of events that a replica has asked for, and not taken yet, asked for again: it may hold the customer's data as it
// was before the services that own it forgot it. The replica finds that it lost the feed and takes nothing (TakePage). The rows are
// locked before those of endpoints, as TakePage locks them.
func dropPages(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx, `UPDATE feeds SET reader = NULL, reader_until = '-infinity' WHERE name IN (SELECT name FROM feeds ORDER BY name FOR UPDATE)`)
	if err != nil {
		return fmt.Errorf("drop pages that were read: %w", err)
	}
	return nil
}

// lockLanes locks the endpoints of a business, as lockLane locks one.
func lockLanes(ctx context.Context, tx pgx.Tx, businessID uuid.UUID) (map[uuid.UUID]LaneState, error) {
	rows, err := tx.Query(ctx, `SELECT id, failing_since IS NOT NULL FROM webhook_endpoints WHERE business_id = $1 ORDER BY id FOR NO KEY UPDATE`, businessID)
	if err != nil {
		return nil, fmt.Errorf("lock endpoints: %w", err)
	}
	lanes := map[uuid.UUID]LaneState{}
	var (
		id    uuid.UUID
		state LaneState
	)
	if _, err := pgx.ForEachRow(rows, []any{&id, &state.Failing}, func() error { lanes[id] = state; return nil }); err != nil {
		return nil, fmt.Errorf("lock endpoints: %w", err)
	}
	return lanes, nil
}

// eraseMessages returns the ids of messages, and of the events that were kept to make messages of.
func eraseMessages(ctx context.Context, tx pgx.Tx, asked Erase) ([]uuid.UUID, error) {
	var all []uuid.UUID
	for _, sql := range []string{
		`DELETE FROM message_events WHERE business_id = $1 AND lower(event->'data'->>'customer_email') = lower($2) AND subject_id <> ALL($3) RETURNING event_id`,
		`DELETE FROM messages WHERE business_id = $1 AND (customer_email = lower($2) OR lower(recipient) = lower($2) AND kind <> 'owner_notice')
		 AND about_id <> ALL($3) RETURNING id`,
	} {
		rows, err := tx.Query(ctx, sql, asked.BusinessID, asked.Email, asked.Stay)
		if err != nil {
			return nil, err
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
		if err != nil {
			return nil, err
		}
		all = append(all, ids...)
	}
	return all, nil
}

// erasedDelivery is what is to be known of a delivery after it is erased.
type erasedDelivery struct {
	ID, EndpointID, SubjectID uuid.UUID
	Pending                   bool
}

func eraseDeliveries(ctx context.Context, tx pgx.Tx, asked Erase) ([]erasedDelivery, error) {
	rows, err := tx.Query(ctx, `DELETE FROM webhook_deliveries WHERE business_id = $1 AND customer_email = lower($2) AND subject_id <> ALL($3)
RETURNING id, endpoint_id, subject_id, status = 'pending'`, asked.BusinessID, asked.Email, asked.Stay)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[erasedDelivery])
}

// forgetAnswers deletes the answers to the owner's writes that show what was erased, as to a retry: repeated, it finds nothing to retry.
func forgetAnswers(ctx context.Context, tx pgx.Tx, businessID uuid.UUID, messages []uuid.UUID, deliveries []erasedDelivery) error {
	ids := make([]string, 0, len(messages)+len(deliveries))
	for _, id := range messages {
		ids = append(ids, id.String())
	}
	for _, d := range deliveries {
		ids = append(ids, d.ID.String())
	}
	_, err := tx.Exec(ctx, `DELETE FROM made_writes WHERE business_id = $1 AND convert_from(answer, 'UTF8')::jsonb->>'ID' = ANY($2)`, businessID, ids)
	if err != nil {
		return fmt.Errorf("forget answers about what is erased: %w", err)
	}
	return nil
}

// releaseBehindSQL makes the first pending event of each subject due, where it waited for one that is gone.
const releaseBehindSQL = `
UPDATE webhook_deliveries SET due_at = $4 WHERE business_id = $1 AND due_at IS NULL AND id IN (
    SELECT DISTINCT ON (d.endpoint_id, d.subject_id) d.id
    FROM webhook_deliveries d JOIN unnest($2::uuid[], $3::uuid[]) AS gone (endpoint_id, subject_id) USING (endpoint_id, subject_id)
    WHERE d.business_id = $1 AND d.status = 'pending' AND NOT d.again
    ORDER BY d.endpoint_id, d.subject_id, d.sequence)
RETURNING endpoint_id`

// releaseBehind lets go what waited behind erased deliveries: later events of their subjects that hold nothing of the customer. One that is on its way
// is answered before the lane looks at what is due, so that the order stays.
func releaseBehind(ctx context.Context, tx pgx.Tx, businessID uuid.UUID, gone []erasedDelivery, lanes map[uuid.UUID]LaneState, now time.Time,
	wake func(context.Context, pgx.Tx, uuid.UUID, LaneState) error,
) error {
	var endpoints, subjects []uuid.UUID
	for _, d := range gone {
		if d.Pending {
			endpoints, subjects = append(endpoints, d.EndpointID), append(subjects, d.SubjectID)
		}
	}
	if len(endpoints) == 0 {
		return nil
	}
	released, err := postgres.Rows(ctx, tx, pgx.RowTo[uuid.UUID], "let go what waited", releaseBehindSQL, businessID, endpoints, subjects, now)
	if err != nil {
		return err
	}
	woken := map[uuid.UUID]bool{}
	for _, id := range released {
		if woken[id] {
			continue
		}
		woken[id] = true
		if err := wake(ctx, tx, id, lanes[id]); err != nil {
			return err
		}
	}
	return nil
}

// forgetStep is of how many subjects one transaction forgets, and how many messages, so that none holds many locks.
const forgetStep = 100

// endedSQL goes by messages, which alone know when a subject ends: the last that was told of it counts, as bookings move.
const endedSQL = `
SELECT about_id FROM messages WHERE business_id = $1 AND about_kind IN ('booking', 'ticket', 'reservation')
GROUP BY about_id HAVING max(about_ends_at) <= $2 LIMIT $3`

// ForgetEnded deletes a business's messages about what had ended by then, and all deliveries of what the last message says had, a part of them at a time.
// It returns how many rows these were. With all of a subject gone nothing waits behind it; the lock keeps one from being added behind what goes.
func (s *Store) ForgetEnded(ctx context.Context, businessID uuid.UUID, then time.Time) (int64, error) {
	var total int64
	for {
		n, err := s.forgetSome(ctx, businessID, then)
		if err != nil {
			return total, fmt.Errorf("forget what has ended: %w", err)
		}
		if n == 0 {
			return total, nil
		}
		total += n
	}
}

func (s *Store) forgetSome(ctx context.Context, businessID uuid.UUID, then time.Time) (int64, error) {
	var n int64
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := lockLanes(ctx, tx, businessID); err != nil {
			return err
		}
		ended, err := postgres.Rows(ctx, tx, pgx.RowTo[uuid.UUID], "find what has ended", endedSQL, businessID, then, forgetStep)
		if err != nil {
			return err
		}
		if ended == nil {
			ended = []uuid.UUID{} // NULL would compare with nothing
		}
		for _, sql := range []string{
			`DELETE FROM webhook_deliveries WHERE business_id = @business_id AND subject_id = ANY(@ended)`,
			`DELETE FROM messages WHERE business_id = @business_id AND about_id = ANY(@ended) AND about_ends_at <= @then`,
		} {
			tag, err := tx.Exec(ctx, sql, pgx.NamedArgs{"business_id": businessID, "ended": ended, "then": then})
			if err != nil {
				return err
			}
			n += tag.RowsAffected()
		}
		if n > 0 {
			return nil
		}
		// What is left is about what ends later, by a later message, or about nothing that ends.
		tag, err := tx.Exec(ctx, `DELETE FROM messages WHERE business_id = $1
AND id IN (SELECT id FROM messages WHERE business_id = $1 AND about_ends_at <= $2 LIMIT $3)`, businessID, then, forgetStep)
		n = tag.RowsAffected()
		return err
	})
	return n, err
}

// RemembersEnded names up to limit businesses after one, in the order of their ids, of which there is a message about what had ended by then. It goes from
// business to business by index.
func (s *Store) RemembersEnded(ctx context.Context, after uuid.UUID, then time.Time, limit int) ([]uuid.UUID, error) {
	return postgres.Rows(ctx, s.pool, pgx.RowTo[uuid.UUID], "list businesses with customers to forget", remembersEndedSQL, after, then, limit)
}

var remembersEndedSQL = postgres.DueBusinesses(postgres.DueRows{Table: "messages", When: "about_ends_at <= $2"})
