package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

// singleSQL and groupedSQL return the occupied time of a business in a window. singleSQL returns one row for each
// stored time; it is faster for few bookings. groupedSQL returns one row for each resource; it is faster for many
// bookings.
//
// Both statements read only the index of the constraint never_twice.
// They do not sort the rows, because sorting in Go takes less time.
//
// The parameters are in subselects to hide their values from PostgreSQL's planner. Without the subselects,
// the planner would make a new plan for each window, and planning takes longer than reading one day.
const (
	singleSQL = `
SELECT resource_id, lane, holder = '00000000-0000-0000-0000-000000000000', lower(during), upper(during)
FROM occupied_time
WHERE business_id = (SELECT $1::uuid) AND during && (SELECT tstzrange($2, $3))`
	groupedSQL = `
SELECT resource_id, lane, holder = '00000000-0000-0000-0000-000000000000', array_agg(lower(during)), array_agg(upper(during))
FROM occupied_time
WHERE business_id = (SELECT $1::uuid) AND during && (SELECT tstzrange($2, $3))
GROUP BY 1, 2, 3`
)

// maxSingleWindow is the length of the longest window that singleSQL reads. For longer windows, groupedSQL is faster.
const maxSingleWindow = 3 * 24 * time.Hour

func occupiedSQL(from, to time.Time) string {
	if to.Sub(from) <= maxSingleWindow {
		return singleSQL
	}
	return groupedSQL
}

// othersSQL is singleSQL without the occupied time of one appointment, whose id is the parameter $4.
//
// othersSQL cannot leave out the time of a class booking, because this time is stored under the nil UUID
// for all guests of the class. The result is correct nevertheless: a class booking can only be rescheduled
// to another class session, and the occupied time of classes does not conflict with a class session.
const othersSQL = singleSQL + ` AND holder <> (SELECT $4::uuid)`

// ownResourcesSQL returns the resources that a booking occupies, including archived time. An old booking
// has only archived time; without this time, a rescheduled old booking would not keep its staff members.
const ownResourcesSQL = `
SELECT resource_id FROM occupied_time WHERE business_id = $1 AND booking_id = $2
UNION
SELECT resource_id FROM past_occupied_time WHERE business_id = $1 AND booking_id = $2
ORDER BY 1`

// seatsSQL reads the number of seats taken in each class session that starts within a window.
const seatsSQL = `
SELECT session_id, starts_at, taken
FROM class_sessions
WHERE business_id = $1 AND starts_at >= $2 AND starts_at < $3 AND taken > 0
ORDER BY starts_at, session_id`

// firstBookingSQL returns whether a new booking is the first booking of its customer
// (semantics.md §5). A booking is the first if no other booking, except cancelled
// ones, has the customer's e-mail address. The comparison of addresses ignores case.
const firstBookingSQL = `
SELECT NOT EXISTS (
    SELECT FROM bookings
    WHERE business_id = $1 AND lower(customer_email) = lower($2) AND status <> 'cancelled'
)`

// Occupied returns the time that the bookings of a business occupy in a window, in one round trip.
// The arguments `from` (included) and `to` (excluded) are the limits of the window. If `seats` is
// true, Occupied also returns the number of seats taken in class sessions that start in the window.
func (s *Store) Occupied(ctx context.Context, businessID uuid.UUID, from, to time.Time,
	seats bool) (booking.Occupied, error) {
	if seats {
		now, err := s.Snapshot(ctx, businessID, from, to, SnapshotRequest{Seats: true})
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

// SnapshotRequest selects the data that [Store.Snapshot] reads in addition to the occupied time.
type SnapshotRequest struct {
	FirstBookingOf string                // the e-mail address whose earlier bookings are looked up; "" for none
	Seats          bool                  // read the number of seats taken in class sessions
	Locations      bool                  // read the locations of the occupied time
	Except         uuid.UUID             // the booking to reschedule, whose time counts as free; the nil UUID for none
	Lock           *postgres.LockRequest // the idempotency lock to acquire; nil for none
}

// Snapshot is the stored data that a decision about one booking depends on.
type Snapshot struct {
	Occupied     booking.Occupied
	IsFirst      bool        // the customer has no earlier booking; false if FirstBookingOf was ""
	OwnResources []uuid.UUID // the resources that the booking to reschedule occupies now
	Lock         LockResult  // the result of the request for the idempotency lock
}

// Snapshot reads the occupied time in a window and the data that the argument `req` selects, in
// one round trip. The arguments `from` (included) and `to` (excluded) are the limits of the window.
// Snapshot acquires the idempotency lock first, so that the data are not older than the lock.
func (s *Store) Snapshot(ctx context.Context, businessID uuid.UUID, from, to time.Time,
	req SnapshotRequest) (Snapshot, error) {
	if req == (SnapshotRequest{}) {
		occupied, err := s.Occupied(ctx, businessID, from, to, false)
		return Snapshot{Occupied: occupied}, err
	}
	var (
		now   Snapshot
		batch pgx.Batch
	)
	if req.Lock != nil {
		queueLock(&batch, *req.Lock, &now.Lock)
	}
	sql, args := occupiedSQL(from, to), []any{pgtype.UUID{Bytes: businessID, Valid: true}, from, to}
	if req.Except != uuid.Nil {
		sql, args = othersSQL, append(args, req.Except)
		batch.Queue(ownResourcesSQL, businessID, req.Except).Query(func(rows pgx.Rows) error {
			var err error
			now.OwnResources, err = pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
			return err
		})
	}
	if req.Locations {
		except := pgtype.UUID{Bytes: req.Except, Valid: req.Except != uuid.Nil}
		batch.Queue(locatedSQL, businessID, from, to, except).Query(func(rows pgx.Rows) error {
			spans, err := pgx.CollectRows(rows, scanLocatedSpan)
			now.Occupied.Busy = groupLocated(spans)
			return err
		})
	} else {
		batch.Queue(sql, args...).Query(func(rows pgx.Rows) error {
			var err error
			now.Occupied.Busy, err = collectBusy(rows)
			return err
		})
	}
	if req.Seats {
		batch.Queue(seatsSQL, businessID, from, to).Query(func(rows pgx.Rows) error {
			var err error
			now.Occupied.Seats, err = pgx.CollectRows(rows, scanSeats)
			return err
		})
	}
	if req.FirstBookingOf != "" {
		batch.Queue(firstBookingSQL, businessID, req.FirstBookingOf).
			QueryRow(func(row pgx.Row) error { return row.Scan(&now.IsFirst) })
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
