package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
)

// eachSQL and gatheredSQL both return the occupied time of a business in a window.
// eachSQL returns one row for each booking, which costs least for few bookings.
// gatheredSQL returns one row for each resource, which costs less for many.
//
// Both read only the index of the constraint never_twice. They do not sort, because the client sorts at less cost.
//
// The parameters are in subselects to hide their values from PostgreSQL's planner. Otherwise the
// planner would make a new plan for each window, and planning takes longer than reading one day.
const (
	eachSQL = `
SELECT resource_id, lane, holder = '00000000-0000-0000-0000-000000000000', lower(during), upper(during)
FROM occupied_time
WHERE business_id = (SELECT $1::uuid) AND during && (SELECT tstzrange($2, $3))`
	gatheredSQL = `
SELECT resource_id, lane, holder = '00000000-0000-0000-0000-000000000000', array_agg(lower(during)), array_agg(upper(during))
FROM occupied_time
WHERE business_id = (SELECT $1::uuid) AND during && (SELECT tstzrange($2, $3))
GROUP BY 1, 2, 3`
)

// fewDays is the longest window that is read with eachSQL. Longer windows are read with gatheredSQL.
const fewDays = 3 * 24 * time.Hour

func occupiedSQL(from, to time.Time) string {
	if to.Sub(from) <= fewDays {
		return eachSQL
	}
	return gatheredSQL
}

// othersSQL is eachSQL without the time that the appointment $4 occupies.
//
// It does not leave out the time of a class booking, because that time is stored
// under the nil UUID for all guests. This does no harm: a class booking can only
// be rescheduled to a session, and class time does not conflict with sessions.
const othersSQL = eachSQL + ` AND holder <> (SELECT $4::uuid)`

// heldSQL returns the resources that a booking occupies. It includes archived
// time, so that an old booking that is rescheduled keeps its members.
const heldSQL = `
SELECT resource_id FROM occupied_time WHERE business_id = $1 AND booking_id = $2
UNION
SELECT resource_id FROM past_occupied_time WHERE business_id = $1 AND booking_id = $2
ORDER BY 1`

// seatsSQL reads the seats taken in the sessions that start within a window.
const seatsSQL = `
SELECT session_id, starts_at, taken
FROM class_sessions
WHERE business_id = $1 AND starts_at >= $2 AND starts_at < $3 AND taken > 0
ORDER BY starts_at, session_id`

// firstBookingSQL returns whether the new booking would be the customer's first one: no earlier booking,
// except cancelled ones, has the e-mail address (semantics.md §5). Upper and lower case are equal.
const firstBookingSQL = `
SELECT NOT EXISTS (
    SELECT FROM bookings
    WHERE business_id = $1 AND lower(customer_email) = lower($2) AND status <> 'cancelled'
)`

// Occupied returns the time that the bookings of a business occupy within [from, to), in one round trip.
// If seats is true, it also returns the seats taken in class sessions that start within that time.
func (s *Store) Occupied(ctx context.Context, businessID uuid.UUID, from, to time.Time,
	seats bool) (booking.Occupied, error) {
	if seats {
		now, err := s.Snapshot(ctx, businessID, from, to, Asked{Seats: true})
		return now.Occupied, err
	}
	rows, err := s.pool.Query(ctx, occupiedSQL(from, to), inBinary, pgtype.UUID{Bytes: businessID, Valid: true}, from,
		to)
	if err != nil {
		return booking.Occupied{}, fmt.Errorf("read occupied time: %w", err)
	}
	busy, err := collectBusy(rows)
	if err != nil {
		return booking.Occupied{}, fmt.Errorf("read occupied time: %w", err)
	}
	return booking.Occupied{Busy: busy}, nil
}

// Asked selects the data that a decision needs in addition to the occupied time.
type Asked struct {
	FirstBookingOf string       // an e-mail address, or ""
	Seats          bool         // read the seats taken in class sessions
	Moving         uuid.UUID    // the booking whose own time counts as free; the nil UUID for none
	Lock           *LockRequest // the idempotency lock to acquire; nil for none
}

// Snapshot is what a decision about one booking needs to know from the tables, read at one moment.
type Snapshot struct {
	Occupied booking.Occupied
	First    bool        // the customer has no earlier booking; false if it was not asked
	Held     []uuid.UUID // the resources that the booking to reschedule occupies
	Lock     LockResult  // the result of asking for the idempotency lock
}

// Snapshot reads the occupied time within [from, to) and the data that asked names, in one round
// trip. It acquires the idempotency lock first, so that the data are not older than the lock.
func (s *Store) Snapshot(ctx context.Context, businessID uuid.UUID, from, to time.Time, asked Asked) (Snapshot, error) {
	if asked == (Asked{}) {
		occupied, err := s.Occupied(ctx, businessID, from, to, false)
		return Snapshot{Occupied: occupied}, err
	}
	var (
		now   Snapshot
		batch pgx.Batch
	)
	if asked.Lock != nil {
		if err := queueLock(&batch, *asked.Lock, &now.Lock); err != nil {
			return Snapshot{}, err
		}
	}
	sql, args := occupiedSQL(from, to), []any{pgtype.UUID{Bytes: businessID, Valid: true}, from, to}
	if asked.Moving != uuid.Nil {
		sql, args = othersSQL, append(args, asked.Moving)
		batch.Queue(heldSQL, businessID, asked.Moving).Query(func(rows pgx.Rows) error {
			var err error
			now.Held, err = pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
			return err
		})
	}
	batch.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		var err error
		now.Occupied.Busy, err = collectBusy(rows)
		return err
	})
	if asked.Seats {
		batch.Queue(seatsSQL, businessID, from, to).Query(func(rows pgx.Rows) error {
			var err error
			now.Occupied.Seats, err = pgx.CollectRows(rows, scanSeats)
			return err
		})
	}
	if asked.FirstBookingOf != "" {
		batch.Queue(firstBookingSQL, businessID, asked.FirstBookingOf).
			QueryRow(func(row pgx.Row) error { return row.Scan(&now.First) })
	}
	if err := s.pool.SendBatch(ctx, &batch).Close(); err != nil {
		return Snapshot{}, fmt.Errorf("read occupied time: %w", err)
	}
	return now, nil
}

func scanSeats(row pgx.CollectableRow) (booking.SeatsTaken, error) {
	var (
		taken    booking.SeatsTaken
		startsAt time.Time
	)
	err := row.Scan(&taken.SessionID, &startsAt, &taken.Taken)
	taken.StartsAt = startsAt.Unix()
	return taken, err
}
