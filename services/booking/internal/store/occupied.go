package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/slotmesh/slotmesh/libs/peer/booking"
)

// Both statements are answered from the index of never_twice alone and do not sort, which is cheaper for the client. A row
// for each booking costs the database least where there are few; a row for each resource makes less of many.
//
// The parameters stand in subselects so that the planner cannot look at them: it would find, for each window anew, that a
// plan of its own promises a little less work, and planning takes longer than reading a day.
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

// fewDays is the longest window that is read by booking.
const fewDays = 3 * 24 * time.Hour

func occupiedSQL(from, to time.Time) string {
	if to.Sub(from) <= fewDays {
		return eachSQL
	}
	return gatheredSQL
}

// othersSQL is eachSQL without the time that one appointment holds itself. A class booking's is held by the nil UUID, as that of the
// other guests: it hinders no class session, and a class booking moves to none but such.
const othersSQL = eachSQL + ` AND holder <> (SELECT $4::uuid)`

// heldSQL names what a booking occupies, by its key alone: whoever moves one that ended long ago keeps its members, too.
const heldSQL = `
SELECT resource_id FROM occupied_time WHERE business_id = $1 AND booking_id = $2
UNION
SELECT resource_id FROM past_occupied_time WHERE business_id = $1 AND booking_id = $2
ORDER BY 1`

// seatsSQL reads the sessions that start within a window.
const seatsSQL = `
SELECT session_id, starts_at, taken
FROM class_sessions
WHERE business_id = $1 AND starts_at >= $2 AND starts_at < $3 AND taken > 0
ORDER BY starts_at, session_id`

// firstBookingSQL asks whether a customer has no earlier booking that counts (semantics.md §5). E-mail addresses are
// compared without regard to case.
const firstBookingSQL = `
SELECT NOT EXISTS (
    SELECT FROM bookings
    WHERE business_id = $1 AND lower(customer_email) = lower($2) AND status <> 'cancelled'
)`

// Occupied returns what live bookings of a business occupy within [from, to), and the seats taken in class sessions that
// start then where seats are asked for, in one round trip.
func (s *Store) Occupied(ctx context.Context, businessID uuid.UUID, from, to time.Time, seats bool) (booking.Occupied, error) {
	if seats {
		now, err := s.Snapshot(ctx, businessID, from, to, Asked{Seats: true})
		return now.Occupied, err
	}
	rows, err := s.pool.Query(ctx, occupiedSQL(from, to), inBinary, pgtype.UUID{Bytes: businessID, Valid: true}, from, to)
	if err != nil {
		return booking.Occupied{}, fmt.Errorf("read occupied time: %w", err)
	}
	busy, err := collectBusy(rows)
	if err != nil {
		return booking.Occupied{}, fmt.Errorf("read occupied time: %w", err)
	}
	return booking.Occupied{Busy: busy}, nil
}

// Asked says what a decision needs of the tables, beside the occupied time.
type Asked struct {
	FirstBookingOf string    // an e-mail address, or ""
	Seats          bool      // those taken in class sessions
	Moving         uuid.UUID // a booking whose own time is to count as free; the nil UUID for none
	Claim          *Claiming // the right to answer an idempotency key; nil where none is asked for
}

// Snapshot is what the decision about one booking needs of the tables.
type Snapshot struct {
	Occupied booking.Occupied
	First    bool        // the customer has no earlier booking; false when it was not asked
	Held     []uuid.UUID // the resources that the booking holds that is moved
	Claimed  Claimed     // what became of the claim that was asked for
}

// Snapshot reads the occupied time within [from, to) and what else is asked, in one round trip. A claim is asked for first, so that what its holder reads is
// not older.
func (s *Store) Snapshot(ctx context.Context, businessID uuid.UUID, from, to time.Time, asked Asked) (Snapshot, error) {
	if asked == (Asked{}) {
		occupied, err := s.Occupied(ctx, businessID, from, to, false)
		return Snapshot{Occupied: occupied}, err
	}
	var (
		now   Snapshot
		batch pgx.Batch
	)
	if asked.Claim != nil {
		if err := queueClaim(&batch, *asked.Claim, &now.Claimed); err != nil {
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
