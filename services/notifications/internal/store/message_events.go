package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
)

const storeEventsSQL = `
INSERT INTO message_events (business_id, event_id, subject_id, sequence, event)
SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::integer[], $5::jsonb[]) ON CONFLICT DO NOTHING`

// StoreEvents stores the given events until the messages about them are written. If an event is already stored,
// StoreEvents does not store it again.
func (s *Store) StoreEvents(ctx context.Context, tx pgx.Tx, events []event.Event) error {
	var (
		businesses = make([]uuid.UUID, len(events))
		ids        = make([]uuid.UUID, len(events))
		subjects   = make([]uuid.UUID, len(events))
		sequences  = make([]int, len(events))
	)
	for i, e := range events {
		businesses[i], ids[i], subjects[i], sequences[i] = e.BusinessID, e.ID, e.Subject.ID, e.Sequence
	}
	if _, err := tx.Exec(ctx, storeEventsSQL, businesses, ids, subjects, sequences, events); err != nil {
		return fmt.Errorf("keep events: %w", err)
	}
	return nil
}

// backlogSQL counts the stored events of each business in $1, at most $2 per business. Duplicates in $1 have no effect.
// ORDER BY makes PostgreSQL read only the counted part of the index. Without ORDER BY, PostgreSQL reads all events of a
// new backlog that its statistics do not cover yet.
const backlogSQL = `
SELECT b.id, (SELECT count(*) FROM (SELECT FROM message_events WHERE business_id = b.id ORDER BY event_id LIMIT $2) AS kept)
FROM (SELECT DISTINCT unnest($1::uuid[]) AS id) AS b`

// CountBacklog returns the number of stored events of each business in the argument `businesses`, at most maxCount per
// business. The argument may contain duplicates.
func (s *Store) CountBacklog(ctx context.Context, tx pgx.Tx, businesses []uuid.UUID,
	maxCount int) (map[uuid.UUID]int, error) {
	rows, err := tx.Query(ctx, backlogSQL, businesses, maxCount)
	if err != nil {
		return nil, fmt.Errorf("count kept events: %w", err)
	}
	counts := make(map[uuid.UUID]int, len(businesses))
	var (
		id uuid.UUID
		n  int
	)
	if _, err := pgx.ForEachRow(rows, []any{&id, &n}, func() error { counts[id] = n; return nil }); err != nil {
		return nil, fmt.Errorf("count kept events: %w", err)
	}
	return counts, nil
}

// maxBatch is the maximum number of events of one subject whose messages are written together.
const maxBatch = 100

const subjectEventsSQL = `
SELECT f.event
FROM message_events AS e JOIN message_events AS f ON f.business_id = e.business_id AND f.subject_id = e.subject_id
WHERE e.business_id = $1 AND e.event_id = $2
ORDER BY f.sequence LIMIT $3`

// SubjectEvents returns the first stored events of the subject of the given event, in order, at most maxBatch. Error:
// [ErrNotFound] if the given event is not stored.
func (s *Store) SubjectEvents(ctx context.Context, businessID, eventID uuid.UUID) ([]event.Event, error) {
	rows, err := s.pool.Query(ctx, subjectEventsSQL, businessID, eventID, maxBatch)
	if err != nil {
		return nil, fmt.Errorf("read kept events: %w", err)
	}
	events, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (event.Event, error) {
		var (
			body []byte
			e    event.Event
		)
		if err := row.Scan(&body); err != nil {
			return e, err
		}
		return e, json.Unmarshal(body, &e)
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("read kept events: %w", err)
	case len(events) == 0:
		return nil, ErrNotFound
	}
	return events, nil
}

// DropEvents deletes the given stored events in the transaction that stores the messages about them. Error:
// [ErrNotFound] if one of the events is not stored.
func (s *Store) DropEvents(ctx context.Context, tx pgx.Tx, events []event.Event) error {
	ids := make([]uuid.UUID, len(events))
	for i, e := range events {
		ids[i] = e.ID
	}
	tag, err := tx.Exec(ctx, `DELETE FROM message_events WHERE business_id = $1 AND event_id = ANY($2)`,
		events[0].BusinessID, ids)
	if err != nil {
		return fmt.Errorf("drop kept events: %w", err)
	}
	if tag.RowsAffected() != int64(len(events)) {
		return ErrNotFound
	}
	return nil
}

// sweepStep is the maximum number of rows that one statement deletes.
const sweepStep = 1000

// SweepMessages deletes old messages and returns their number. The argument `before` is the time before which these
// messages were written.
func (s *Store) SweepMessages(ctx context.Context, before time.Time) (int64, error) {
	var deleted int64
	for {
		tag, err := s.pool.Exec(ctx, `
			DELETE FROM messages WHERE (business_id, id) IN (SELECT business_id, id FROM messages WHERE created_at < $1 LIMIT $2)`, before, sweepStep)
		if err != nil {
			return deleted, fmt.Errorf("sweep messages: %w", err)
		}
		deleted += tag.RowsAffected()
		if tag.RowsAffected() < sweepStep {
			return deleted, nil
		}
	}
}
