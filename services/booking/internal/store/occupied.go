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
SELECT resource_id, lane, array_agg(lower(during)), array_agg(upper(during))
FROM occupied_time
WHERE business_id = $1 AND during && tstzrange($2, $3)
GROUP BY resource_id, lane`

// firstBookingSQL asks whether a customer has no earlier booking that counts (semantics.md §5). E-mail addresses are
// compared without regard to case.
const firstBookingSQL = `
SELECT NOT EXISTS (
    SELECT FROM bookings
    WHERE business_id = $1 AND lower(customer_email) = lower($2) AND status <> 'cancelled'
)`

// Occupied returns what live bookings of a business occupy within [from, to).
func (s *Store) Occupied(ctx context.Context, businessID uuid.UUID, from, to time.Time) (booking.Occupied, error) {
	rows, err := s.pool.Query(ctx, occupiedSQL, businessID, from, to)
	if err != nil {
		return booking.Occupied{}, fmt.Errorf("read occupied time: %w", err)
	}
	return collectOccupied(rows)
}

// Situation is what the decision about one booking needs of the tables.
type Situation struct {
	Occupied booking.Occupied
	First    bool // the customer has no earlier booking; false when it was not asked
}

// Situation reads the occupied time within [from, to) and, where email is not "", whether that customer has no earlier
// booking, in one round trip.
func (s *Store) Situation(ctx context.Context, businessID uuid.UUID, from, to time.Time, email string) (Situation, error) {
	var (
		now   Situation
		batch pgx.Batch
	)
	batch.Queue(occupiedSQL, businessID, from, to).Query(func(rows pgx.Rows) error {
		var err error
		now.Occupied, err = collectOccupied(rows)
		return err
	})
	if email != "" {
		batch.Queue(firstBookingSQL, businessID, email).QueryRow(func(row pgx.Row) error { return row.Scan(&now.First) })
	}
	if err := s.pool.SendBatch(ctx, &batch).Close(); err != nil {
		return Situation{}, fmt.Errorf("read the situation of a booking: %w", err)
	}
	return now, nil
}

// collectOccupied puts resources, and the spans of each, in order.
func collectOccupied(rows pgx.Rows) (booking.Occupied, error) {
	occupied := booking.Occupied{Busy: []booking.Busy{}}
	var (
		resource     booking.Resource
		starts, ends []time.Time
		spans        []timespan.Span
	)
	_, err := pgx.ForEachRow(rows, []any{&resource.ID, &resource.Lane, &starts, &ends}, func() error {
		spans = spans[:0]
		for i := range starts {
			spans = append(spans, timespan.Span{Start: starts[i].Unix(), End: ends[i].Unix()})
		}
		slices.SortFunc(spans, func(a, b timespan.Span) int { return cmp.Compare(a.Start, b.Start) })
		busy := booking.Busy{Resource: resource, Edges: make([]int64, 0, 2*len(spans))}
		for _, span := range spans {
			busy.Add(span)
		}
		occupied.Busy = append(occupied.Busy, busy)
		return nil
	})
	if err != nil {
		return booking.Occupied{}, fmt.Errorf("read occupied time: %w", err)
	}
	slices.SortFunc(occupied.Busy, func(a, b booking.Busy) int {
		return cmp.Or(slices.Compare(a.ID[:], b.ID[:]), cmp.Compare(a.Lane, b.Lane))
	})
	return occupied, nil
}
