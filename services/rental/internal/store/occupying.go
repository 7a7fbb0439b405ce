package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/rental/internal/occupancy"
)

// occupyingSQL reads the reservations and extras that may occupy units on a range of dates. It may also
// return reservations and extras that occupy no units on these dates. The caller computes the exact times.
//
// The query always returns reservations that are picked up and not returned, because their units
// also occupy the current date. Only the caller knows whether the current date is in the range.
//
// A reservation for hours is stored with the dates of its request. If the business has changed
// its time zone since then, the reservation can lie up to two dates before or after the stored
// dates. Therefore the query extends the range by two dates on each side ([zoneMargin]).
const occupyingSQL = `
SELECT rental_id, quantity, status = 'picked_up', start_date, end_date, starts_at, ends_at
FROM reservations
WHERE business_id = @business_id AND rental_id = ANY(@rental_ids) AND status IN ('pending', 'reserved', 'picked_up')
  AND (end_date >= ` + epoch + ` + @from::integer AND start_date <= ` + epoch + ` + @to::integer OR status = 'picked_up')
UNION ALL
SELECT e.rental_id, e.quantity, r.status = 'picked_up', r.start_date, r.end_date,
       CASE WHEN NOT e.by_day THEN r.starts_at END, CASE WHEN NOT e.by_day THEN r.ends_at END
FROM extra_units AS e JOIN reservations AS r ON r.business_id = e.business_id AND r.id = e.reservation_id
WHERE e.business_id = @business_id AND e.rental_id = ANY(@rental_ids) AND e.held_until >= ` + epoch + ` + @from::integer
  AND (r.start_date <= ` + epoch + ` + @to::integer OR r.status = 'picked_up')`

// zoneMargin is the number of dates by which a change of the time zone can shift a reservation.
const zoneMargin = 2

func occupyingArgs(businessID uuid.UUID, rentalIDs []uuid.UUID, dates occupancy.Dates) pgx.NamedArgs {
	return pgx.NamedArgs{
		"business_id": businessID, "rental_ids": rentalIDs,
		"from": int32(dates.From - zoneMargin), "to": int32(dates.To + zoneMargin),
	}
}

// FindOccupying returns the reservations and extras that may occupy units of
// the rentals on the dates. The keys of the result are the ids of the rentals.
func (s *Store) FindOccupying(ctx context.Context, businessID uuid.UUID, rentalIDs []uuid.UUID,
	dates occupancy.Dates) (map[uuid.UUID][]occupancy.Reservation, error) {
	rows, err := s.pool.Query(ctx, occupyingSQL, occupyingArgs(businessID, rentalIDs, dates))
	if err != nil {
		return nil, fmt.Errorf("read reservations that occupy units: %w", err)
	}
	occupying, err := collectOccupying(rows)
	if err != nil {
		return nil, fmt.Errorf("read reservations that occupy units: %w", err)
	}
	return occupying, nil
}

func collectOccupying(rows pgx.Rows) (map[uuid.UUID][]occupancy.Reservation, error) {
	occupying := make(map[uuid.UUID][]occupancy.Reservation)
	var (
		id           uuid.UUID
		r            occupancy.Reservation
		from, to     time.Time
		starts, ends *time.Time
	)
	_, err := pgx.ForEachRow(rows, []any{&id, &r.Units, &r.IsOut, &from, &to, &starts, &ends}, func() error {
		r.Dates = occupancy.Dates{From: dateOf(from), To: dateOf(to)}
		r.Span = timespan.Span{}
		if starts != nil && ends != nil {
			r.Span = timespan.Span{Start: starts.Unix(), End: ends.Unix()}
		}
		occupying[id] = append(occupying[id], r)
		return nil
	})
	return occupying, err
}
