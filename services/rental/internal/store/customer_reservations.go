package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

// KnowsCustomer reports whether a reservation of the business has the e-mail address, in its canonical spelling.
func (s *Store) KnowsCustomer(ctx context.Context, businessID uuid.UUID, email string) (bool, error) {
	var isKnown bool
	if err := s.pool.QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM reservations WHERE business_id = $1 AND lower(customer_email) = $2)`,
		businessID, email).Scan(&isKnown); err != nil {
		return false, fmt.Errorf("look for a customer: %w", err)
	}
	return isKnown, nil
}

// CustomerQuery selects a page of the reservations of one customer. Email is the canonical spelling. A reservation for
// whole dates starts and ends at midnight in Zone if its own time zone is unknown.
type CustomerQuery struct {
	Email  string
	IsPast bool
	After  *booking.SalePosition // position of the last reservation on the page before; nil: first page
	Limit  int
	Now    time.Time
	Zone   *time.Location
}

// CustomerReservation is a reservation with its position in the list.
type CustomerReservation struct {
	Position booking.SalePosition
	Reservation
}

// customerPageSQL returns the statement that lists a page of the reservations of one customer. If `isPast` is false,
// the page has those that are neither cancelled nor returned nor over, from the next to the last. A reservation whose
// units are out is never over. Otherwise the page has all others, from the latest to the earliest.
func customerPageSQL(isPast bool) string {
	not, order, beyond := "", "", ">"
	if isPast {
		not, order, beyond = "NOT ", " DESC", "<"
	}
	const zone = `coalesce(nullif(timezone, ''), @zone)`
	return `
		SELECT begins, ` + reservationColumns + `
		FROM (SELECT *, coalesce(starts_at, start_date::timestamp AT TIME ZONE ` + zone + `) AS begins,
		             coalesce(ends_at, (end_date + 1)::timestamp AT TIME ZONE ` + zone + `) AS ended
		      FROM reservations WHERE business_id = @business_id AND lower(customer_email) = @email) AS r
		WHERE ` + not + `(status = 'picked_up' OR status IN ('pending', 'reserved') AND ended > @now)
		  AND (@after::timestamptz IS NULL OR (begins, id) ` + beyond + ` (@after, @after_id))
		ORDER BY begins` + order + `, id` + order + ` LIMIT @limit`
}

// beginRow reads the first column of a row as the start of a reservation, and the other columns as the reservation.
type beginRow struct {
	pgx.CollectableRow
	begins *time.Time
}

func (r beginRow) Scan(columns ...any) error {
	return r.CollectableRow.Scan(append([]any{r.begins}, columns...)...)
}

// CustomerReservations returns a page of the reservations of one customer with one business.
func (s *Store) CustomerReservations(ctx context.Context, businessID uuid.UUID,
	q CustomerQuery) ([]CustomerReservation, error) {
	args := pgx.NamedArgs{"business_id": businessID, "email": q.Email, "now": q.Now, "limit": q.Limit,
		"zone": q.Zone.String(), "after": nil, "after_id": uuid.Nil}
	if q.After != nil {
		args["after"], args["after_id"] = q.After.StartsAt, q.After.ID
	}
	return postgres.Rows(ctx, s.pool, func(row pgx.CollectableRow) (CustomerReservation, error) {
		var (
			found CustomerReservation
			err   error
		)
		found.Reservation, err = scanReservation(beginRow{row, &found.Position.StartsAt})
		found.Position.StartsAt, found.Position.ID = found.Position.StartsAt.UTC(), found.ID
		return found, err
	}, "list the reservations of a customer", customerPageSQL(q.IsPast), args)
}
