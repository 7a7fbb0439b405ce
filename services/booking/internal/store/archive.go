package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

// ArchiveAge is the time from the end of a booking until its occupied time is archived (lifecycle.md
// §6). Calendar feeds show a booking for the same time after its end (lifecycle.md §2).
const ArchiveAge = 90 * 24 * time.Hour

// archiveBatchSize is the maximum number of bookings that one transaction
// archives. It limits the number of locks that a transaction holds.
const archiveBatchSize = 500

const (
	// archivableSQL returns the ids of bookings that may have data to archive: occupied time
	// that ended at or before the instant $2, or seats in a class session that began at or
	// before $2. The ids are greater than $3.
	//
	// The query finds the occupied time by the index of the constraint never_twice. It does not join
	// the table bookings, because PostgreSQL could then choose a plan that reads all past bookings.
	archivableSQL = `
SELECT booking_id FROM occupied_time
WHERE business_id = $1 AND during << tstzrange($2, NULL) AND booking_id > $3
UNION
SELECT booking_id FROM class_seats
WHERE business_id = $1 AND starts_at <= $2 AND booking_id > $3
ORDER BY 1 LIMIT $4`

	// lockEndedSQL locks the bookings that have ended. It skips bookings that another transaction
	// has locked, for example for a cancellation; the next run archives these bookings.
	lockEndedSQL = `
SELECT id FROM bookings
WHERE business_id = $1 AND id = ANY($2) AND ends_at <= $3
ORDER BY id FOR UPDATE SKIP LOCKED`

	// archiveSQL archives the occupied time of bookings that its transaction has
	// locked. It also deletes the seats of these bookings and lowers the counters
	// of seats. For each booking, it archives either all occupied time or nothing.
	//
	// Like bookSQL and rescheduleSQL, archiveSQL locks occupied time before counters of seats. It
	// locks the counters in the order of their keys. Therefore these statements do not deadlock.
	archiveSQL = `
WITH due AS MATERIALIZED (
    SELECT id FROM unnest(@ids::uuid[]) AS id
    WHERE NOT EXISTS (
        SELECT FROM occupied_time o
        WHERE o.business_id = @business_id AND o.booking_id = id AND NOT o.during << tstzrange(@then, NULL))
), gone AS (
    DELETE FROM occupied_time o USING due
    WHERE o.business_id = @business_id AND o.booking_id = due.id
    RETURNING o.booking_id, o.part, o.resource_id, o.lane, o.during, o.holder
), kept AS (
    INSERT INTO past_occupied_time (business_id, booking_id, part, resource_id, lane, during, holder)
    SELECT @business_id, booking_id, part, resource_id, lane, during, holder FROM gone
), unseated AS (
    DELETE FROM class_seats c USING due
    WHERE c.business_id = @business_id AND c.booking_id = due.id
    RETURNING c.starts_at, c.session_id, c.seats
), left_session AS MATERIALIZED (
    SELECT session.starts_at, session.session_id, sums.seats
    FROM class_sessions session
    JOIN (SELECT starts_at, session_id, sum(seats) AS seats FROM unseated GROUP BY 1, 2) AS sums USING (starts_at, session_id)
    WHERE session.business_id = @business_id
    ORDER BY session.starts_at, session.session_id FOR UPDATE OF session
), given_back AS (
    UPDATE class_sessions AS session SET taken = session.taken - left_session.seats
    FROM left_session
    WHERE session.business_id = @business_id
      AND session.starts_at = left_session.starts_at AND session.session_id = left_session.session_id
)
SELECT count(*) FROM due`

	// emptySessionsSQL deletes the counters of past class sessions without taken seats.
	// A counter with taken seats stays, so that a late cancellation can lower it.
	emptySessionsSQL = `
DELETE FROM class_sessions
WHERE (business_id, starts_at, session_id) IN (
    SELECT business_id, starts_at, session_id FROM class_sessions
    WHERE business_id = $1 AND starts_at <= $2 AND taken = 0
    LIMIT $3 FOR UPDATE SKIP LOCKED)`
)

// ArchiveOccupied archives the occupied time of the bookings of a business that ended at or before the time in the
// argument `cutoff`. It also deletes the seats of these bookings, and the counters of past sessions without taken
// seats.
//
// ArchiveOccupied returns the number of archived bookings. It skips a booking that
// another transaction is changing; the next run archives this booking.
func (s *Store) ArchiveOccupied(ctx context.Context, businessID uuid.UUID, cutoff time.Time) (int64, error) {
	var total int64
	for after := uuid.Nil; ; {
		ids, err := s.findArchivable(ctx, businessID, after, cutoff)
		if err != nil {
			return total, err
		}
		if len(ids) == 0 {
			return total, s.deleteEmptySessions(ctx, businessID, cutoff)
		}
		n, err := s.archiveBatch(ctx, businessID, ids, cutoff)
		total += n
		if err != nil {
			return total, err
		}
		after = ids[len(ids)-1]
	}
}

func (s *Store) findArchivable(ctx context.Context, businessID, after uuid.UUID,
	cutoff time.Time) ([]uuid.UUID, error) {
	return postgres.Rows(ctx, s.pool, pgx.RowTo[uuid.UUID], "find occupied time to archive", archivableSQL, businessID,
		cutoff, after, archiveBatchSize)
}

func (s *Store) archiveBatch(ctx context.Context, businessID uuid.UUID, ids []uuid.UUID,
	cutoff time.Time) (int64, error) {
	var n int64
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, lockEndedSQL, businessID, ids, cutoff)
		if err != nil {
			return err
		}
		locked, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
		if err != nil {
			return err
		}
		args := pgx.NamedArgs{"business_id": businessID, "ids": locked, "then": cutoff}
		return tx.QueryRow(ctx, archiveSQL, args).Scan(&n)
	})
	if err != nil {
		return 0, fmt.Errorf("archive occupied time: %w", err)
	}
	return n, nil
}

func (s *Store) deleteEmptySessions(ctx context.Context, businessID uuid.UUID, cutoff time.Time) error {
	for {
		tag, err := s.pool.Exec(ctx, emptySessionsSQL, businessID, cutoff, archiveBatchSize)
		if err != nil {
			return fmt.Errorf("delete ended class sessions: %w", err)
		}
		if tag.RowsAffected() < archiveBatchSize {
			return nil
		}
	}
}

// BusinessesToArchive returns the ids of businesses whose data [Store.ArchiveOccupied] may have to
// archive, at most `limit` ids in ascending order. The ids are greater than the
// argument `after`. The query uses an index to go from one business to the next.
func (s *Store) BusinessesToArchive(ctx context.Context, after uuid.UUID, cutoff time.Time,
	limit int) ([]uuid.UUID, error) {
	return postgres.Rows(ctx, s.pool, pgx.RowTo[uuid.UUID], "list businesses with occupied time to archive",
		businessesToArchiveSQL, after, cutoff, limit)
}

var businessesToArchiveSQL = postgres.DueBusinesses(
	postgres.DueRows{Table: "occupied_time", Condition: "during << tstzrange($2, NULL)"},
	postgres.DueRows{Table: "class_sessions", Condition: "starts_at <= $2"},
)
