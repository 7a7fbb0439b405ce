package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/peer/rental"
	"github.com/slotmesh/slotmesh/libs/postgres"
	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
)

// Reservation is a reservation as the owner sees it, but for whether it is overdue. EndsAt is the instant at which one
// for hours ends; nil: it is for whole dates.
type Reservation struct {
	rental.Reservation
	EndsAt *time.Time
}

const reservationColumns = `id, rental_id, rental_name, status, quantity, start_date, end_date, start_minute, end_minute,
	ends_at, customer_name, created_at, updated_at`

// listed is a reservation and its place in the list.
type listed struct {
	Reservation
	place cursor
}

func scanReservation(row pgx.CollectableRow) (listed, error) {
	var (
		r          listed
		from, to   time.Time
		start, end *int
	)
	err := row.Scan(&r.ID, &r.RentalID, &r.RentalName, &r.Status, &r.Quantity, &from, &to, &start, &end, &r.EndsAt,
		&r.CustomerName, &r.CreatedAt, &r.UpdatedAt)
	if err != nil {
		return listed{}, err
	}
	r.StartDate, r.EndDate = dateOf(from), dateOf(to)
	r.StartTime, r.EndTime = (*timespan.TimeOfDay)(start), (*timespan.TimeOfDay)(end)
	r.CreatedAt, r.UpdatedAt = r.CreatedAt.UTC(), r.UpdatedAt.UTC()
	r.place = cursor{Date: r.StartDate, ID: r.ID}
	if start != nil {
		r.place.Minute = *start
	}
	return r, nil
}

const listSQL = `
SELECT ` + reservationColumns + ` FROM reservations
WHERE business_id = @business_id
  AND (@from::integer IS NULL OR end_date >= ` + epoch + ` + @from::integer)
  AND (@to::integer IS NULL OR start_date <= ` + epoch + ` + @to::integer)
  AND (@after_date::integer IS NULL
       OR (start_date, coalesce(start_minute, 0), id) > (` + epoch + ` + @after_date::integer, @after_minute, @after_id))
ORDER BY start_date, coalesce(start_minute, 0), id
LIMIT @limit`

// Reservations lists reservations of a business by start: at most limit after the cursor, and the cursor of the page
// that follows, "" after the last. Errors: [ErrBadCursor].
func (s *Store) Reservations(ctx context.Context, businessID uuid.UUID, filter rental.Filter, limit int, after string) ([]Reservation, string, error) {
	from, err := parseCursor(after)
	if err != nil {
		return nil, "", err
	}
	args := pgx.NamedArgs{
		"business_id": businessID, "limit": limit + 1, "from": days(filter.From), "to": days(filter.To),
		"after_date": nil, "after_minute": from.Minute, "after_id": from.ID,
	}
	if after != "" {
		args["after_date"] = int32(from.Date)
	}
	rows, err := s.pool.Query(ctx, listSQL, args)
	if err != nil {
		return nil, "", fmt.Errorf("list reservations: %w", err)
	}
	list, err := pgx.CollectRows(rows, scanReservation)
	if err != nil {
		return nil, "", fmt.Errorf("list reservations: %w", err)
	}
	next := ""
	if len(list) > limit {
		list = list[:limit]
		next = list[limit-1].place.String()
	}
	reservations := make([]Reservation, len(list))
	for i, r := range list {
		reservations[i] = r.Reservation
	}
	return reservations, next, nil
}

func days(d *timespan.Date) *int32 {
	if d == nil {
		return nil
	}
	n := int32(*d)
	return &n
}

// Ahead counts the reservations that hold units on the date or later, and those that are out.
func (s *Store) Ahead(ctx context.Context, businessID uuid.UUID, today timespan.Date) (int, error) {
	var n int
	err := s.pool.QueryRow(ctx, `
		SELECT count(*) FROM reservations
		WHERE business_id = $1 AND (status = $3 AND end_date >= `+epoch+` + $2::integer OR status = $4)`,
		businessID, int32(today), state.Reserved, state.PickedUp).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count reservations ahead: %w", err)
	}
	return n, nil
}

// moveSQL changes the status only from the allowed one; who moves first wins, the other finds another status.
const moveSQL = `
UPDATE reservations SET status = @to, updated_at = @now
WHERE business_id = @business_id AND id = @id AND status = @from
RETURNING ` + reservationColumns

// Move makes a transition, once. Errors: [ErrNotFound], [*NotAllowedError].
func (s *Store) Move(ctx context.Context, businessID, id uuid.UUID, t state.Transition, now time.Time) (Reservation, error) {
	return postgres.Once(ctx, s.pool, businessID, func(ctx context.Context, tx pgx.Tx) (Reservation, error) {
		return move(ctx, tx, businessID, id, t, now)
	})
}

func move(ctx context.Context, tx pgx.Tx, businessID, id uuid.UUID, t state.Transition, now time.Time) (Reservation, error) {
	rows, err := tx.Query(ctx, moveSQL, pgx.NamedArgs{
		"business_id": businessID, "id": id, "from": string(t.From), "to": string(t.To), "now": now,
	})
	if err != nil {
		return Reservation{}, fmt.Errorf("move a reservation: %w", err)
	}
	moved, err := pgx.CollectExactlyOneRow(rows, scanReservation)
	if errors.Is(err, pgx.ErrNoRows) {
		return Reservation{}, whyNot(ctx, tx, businessID, id)
	}
	if err != nil {
		return Reservation{}, fmt.Errorf("move a reservation: %w", err)
	}
	return moved.Reservation, nil
}

func whyNot(ctx context.Context, tx pgx.Tx, businessID, id uuid.UUID) error {
	var status state.State
	err := tx.QueryRow(ctx, `SELECT status FROM reservations WHERE business_id = $1 AND id = $2`, businessID, id).Scan(&status)
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("read the status of a reservation: %w", err)
	}
	return &NotAllowedError{Status: status}
}
