package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// occupiedSQL is answered from the index of never_twice. It gives a row per resource, not per booking, and does not
// sort: both are cheaper for the client than for the database.
const occupiedSQL = `
SELECT resource_id, lane, holder = '00000000-0000-0000-0000-000000000000', array_agg(lower(during)), array_agg(upper(during))
FROM occupied_time
WHERE business_id = $1 AND during && tstzrange($2, $3)
GROUP BY 1, 2, 3`

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
	now, err := s.Situation(ctx, businessID, from, to, Asked{Seats: seats})
	return now.Occupied, err
}

// Asked says what a decision needs of the tables, beside the occupied time.
type Asked struct {
	FirstBookingOf string // an e-mail address, or ""
	Seats          bool   // those taken in class sessions
}

// Situation is what the decision about one booking needs of the tables.
type Situation struct {
	Occupied booking.Occupied
	First    bool // the customer has no earlier booking; false when it was not asked
}

// Situation reads the occupied time within [from, to) and what else is asked, in one round trip.
func (s *Store) Situation(ctx context.Context, businessID uuid.UUID, from, to time.Time, asked Asked) (Situation, error) {
	var (
		now   Situation
		batch pgx.Batch
	)
	batch.Queue(occupiedSQL, businessID, from, to).Query(func(rows pgx.Rows) error {
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
		return Situation{}, fmt.Errorf("read occupied time: %w", err)
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

// collectBusy puts resources, and the spans of each, in order.
func collectBusy(rows pgx.Rows) ([]booking.Busy, error) {
	all := []booking.Busy{}
	var (
		busy         booking.Busy
		starts, ends []time.Time
		spans        []timespan.Span
	)
	_, err := pgx.ForEachRow(rows, []any{&busy.ID, &busy.Lane, &busy.Class, &starts, &ends}, func() error {
		spans = spans[:0]
		for i := range starts {
			spans = append(spans, timespan.Span{Start: starts[i].Unix(), End: ends[i].Unix()})
		}
		slices.SortFunc(spans, func(a, b timespan.Span) int { return cmp.Compare(a.Start, b.Start) })
		busy.Edges = make([]int64, 0, 2*len(spans))
		for i, span := range spans {
			if i > 0 && span == spans[i-1] {
				continue // guests of one session hold the same time
			}
			busy.Add(span)
		}
		all = append(all, busy)
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b booking.Busy) int {
		return cmp.Or(slices.Compare(a.ID[:], b.ID[:]), cmp.Compare(a.Lane, b.Lane), compareBool(a.Class, b.Class))
	})
	return all, nil
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
