package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/rental/internal/occupancy"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
)

// Reservation is a stored reservation. If Hours is set, the reservation is for hours, otherwise for whole dates.
type Reservation struct {
	ID           uuid.UUID
	RentalID     uuid.UUID
	RentalName   string
	Status       state.State
	Quantity     int
	Dates        occupancy.Dates
	Hours        *Hours
	Extras       []Extra
	Units        []Unit                // the units handed out at the pick-up; kept after the return
	Price        *Price                // nil if the owner made the reservation
	Payment      *booking.PaymentState // as last reported by the booking service; nil: not paid online
	CustomerName string
	// CustomerEmail is nil if the customer has no e-mail address; such a customer gets no mail.
	CustomerEmail *string
	CustomerPhone *string
	FormData      json.RawMessage // a JSON object with the answers to the business's own questions
	Locale        string          // the customer's language, which is one of the business's languages
	Timezone      string          // the time zone in which the reservation was made: an IANA name, or "" if unknown
	CreatedAt     time.Time
	UpdatedAt     time.Time
	LinkHash      []byte // hash of the customer's link (libs/sale/link); nil if the customer was anonymized
	Withdrawn     bool   // the business no longer offers the rental or one of the extras
	Sequence      int    // the number of the newest event of the reservation; 0 before the first event
	// Warnings are the rules for customers that the owner's
	// reservation breaks. Only the answer to the owner contains them.
	Warnings []booking.Warning `json:",omitempty"`
}

const reservationColumns = `id, rental_id, rental_name, status, quantity, start_date, end_date, start_minute, end_minute,
	starts_at, ends_at, extras, price, total, currency, customer_name, customer_email, customer_phone, form_data, locale, created_at, updated_at, link_hash, payment, sequence,
	coalesce(timezone, ''), units, coalesce(withdrawn, false), price_changes`

func scanReservation(row pgx.CollectableRow) (Reservation, error) {
	var (
		r            Reservation
		from, to     time.Time
		start, end   *timespan.TimeOfDay
		starts, ends *time.Time
		own, total   *int64
		currency     *string
		changes      []booking.PriceChange
	)
	err := row.Scan(
		&r.ID,
		&r.RentalID,
		&r.RentalName,
		&r.Status,
		&r.Quantity,
		&from,
		&to,
		&start,
		&end,
		&starts,
		&ends,
		&r.Extras,
		&own,
		&total,
		&currency,
		&r.CustomerName,
		&r.CustomerEmail,
		&r.CustomerPhone,
		&r.FormData,
		&r.Locale,
		&r.CreatedAt,
		&r.UpdatedAt,
		&r.LinkHash,
		&r.Payment,
		&r.Sequence,
		&r.Timezone,
		&r.Units,
		&r.Withdrawn,
		&changes,
	)
	if err != nil {
		return Reservation{}, err
	}
	r.Dates = occupancy.Dates{From: dateOf(from), To: dateOf(to)}
	if start != nil { // the four columns of Hours are all null or all set
		r.Hours = &Hours{Start: *start, End: *end, Span: timespan.Span{Start: starts.Unix(), End: ends.Unix()}}
	}
	r.CreatedAt, r.UpdatedAt = r.CreatedAt.UTC(), r.UpdatedAt.UTC()
	if own == nil { // the three columns of Price are all null or all set
		return r, nil
	}
	r.Price = &Price{Own: *own, Total: *total, Changes: changes}
	r.Price.Currency, err = money.ParseCurrency(*currency)
	return r, err
}

const listSQL = `
SELECT ` + reservationColumns + ` FROM reservations
WHERE business_id = @business_id
  AND (@from::integer IS NULL OR end_date >= ` + epoch + ` + @from::integer)
  AND (@to::integer IS NULL OR start_date <= ` + epoch + ` + @to::integer)
  AND (@status = '' OR status = @status)
  AND (@charges::text[] IS NULL OR payment->>'status' = ANY(@charges)
       AND (@payment <> 'refund_failed' OR payment->>'refund_status' = 'refused')
       AND (@payment <> 'disputed' OR payment->>'dispute_status' <> ''))
  AND (@after_date::integer IS NULL
       OR (start_date, coalesce(start_minute, 0), id) > (` + epoch + ` + @after_date::integer, @after_minute::integer, @after_id::uuid))
ORDER BY start_date, coalesce(start_minute, 0), id
LIMIT @limit`

// firstStart and lastStart are the smallest and the largest start that the cursor of a list of
// reservations may contain. The list is sorted by the local start, in minutes since 1970-01-01 00:00.
// A reservation for whole dates starts at midnight. The bounds allow all years with up to four digits.
var firstStart, lastStart = int64(timespan.NewDate(0, 1, 1)) * timespan.MinutesPerDay,
	int64(timespan.NewDate(10_000, 1, 1))*timespan.MinutesPerDay - 1

// newCursor returns the cursor for the position of the reservation `r` in the list.
func newCursor(r Reservation) string {
	at := int64(r.Dates.From) * timespan.MinutesPerDay
	if r.Hours != nil {
		at += int64(r.Hours.Start)
	}
	return request.Cursor{At: at, ID: r.ID}.String()
}

// Reservations returns a page of the reservations of a business that match the filter, ordered by start. The second
// result is the cursor of the next page, or "" after the last page. Fault: invalid_parameter for an invalid cursor.
func (s *Store) Reservations(ctx context.Context, businessID uuid.UUID, filter rental.Filter,
	page request.Page) ([]Reservation, string, error) {
	after, err := page.After(firstStart, lastStart)
	if err != nil {
		return nil, "", err
	}
	args := pgx.NamedArgs{
		"business_id": businessID, "limit": page.Limit + 1, "from": days(filter.From), "to": days(filter.To),
		"status":  filter.Status,
		"charges": booking.ExpandPaymentFilter(filter.Payment), "payment": filter.Payment,
		"after_date": nil, "after_minute": nil, "after_id": nil,
	}
	if after != nil {
		minute := (after.At%timespan.MinutesPerDay + timespan.MinutesPerDay) % timespan.MinutesPerDay
		args["after_date"], args["after_minute"], args["after_id"] = (after.At-minute)/timespan.MinutesPerDay, minute,
			after.ID
	}
	list, err := postgres.Rows(ctx, s.pool, scanReservation, "list reservations", listSQL, args)
	if err != nil {
		return nil, "", err
	}
	list, next := request.Cut(list, page.Limit, newCursor)
	return list, next, nil
}

// Reservation returns a reservation of the business by its id. Errors: [ErrNotFound].
func (s *Store) Reservation(ctx context.Context, businessID, id uuid.UUID) (Reservation, error) {
	reservation, err := postgres.Row(ctx, s.pool, scanReservation, "read a reservation", `SELECT `+reservationColumns+
		` FROM reservations WHERE business_id = $1 AND id = $2`, businessID, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return Reservation{}, ErrNotFound
	}
	return reservation, err
}

func days(d *timespan.Date) *int32 {
	if d == nil {
		return nil
	}
	n := int32(*d)
	return &n
}

// CountAhead returns the number of reservations that the owner must still serve: those that are not
// picked up yet and end today or later, and those that are picked up and not returned yet.
func (s *Store) CountAhead(ctx context.Context, businessID uuid.UUID, today timespan.Date) (int, error) {
	var n int
	err := s.pool.QueryRow(ctx, `
		SELECT count(*) FROM reservations
		WHERE business_id = $1 AND (status IN ($3, $4) AND end_date >= `+epoch+` + $2::integer OR status = $5)`,
		businessID, int32(today), state.Pending, state.Reserved, state.PickedUp).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count reservations ahead: %w", err)
	}
	return n, nil
}

// transitionSQL changes the status of a reservation if the current status allows the change.
// If two requests change the same reservation concurrently, only the first request succeeds.
// The extras of a reservation are handed out and returned together with the main rental.
var transitionSQL = `
WITH moved AS (
    UPDATE reservations SET status = @to, sequence = sequence + 1, updated_at = @now, units = coalesce(@units::jsonb, units)
    WHERE business_id = @business_id AND id = @id AND status = ANY(@from)
    RETURNING *
), out AS (
    UPDATE extra_units SET held_until = 'infinity' FROM moved
    WHERE extra_units.business_id = @business_id AND extra_units.reservation_id = moved.id AND moved.status = 'picked_up'
), handed AS (
    INSERT INTO handed_out (business_id, rental_id, unit, reservation_id)
    SELECT moved.business_id, u.rental_id, u.unit, moved.id
    FROM moved, jsonb_to_recordset(moved.units) AS u (rental_id uuid, unit text)
    WHERE moved.status = 'picked_up'
), back AS (
    DELETE FROM handed_out USING moved
    WHERE handed_out.business_id = @business_id AND handed_out.reservation_id = moved.id AND moved.status = 'returned'
), freed AS (
    DELETE FROM extra_units USING moved
    WHERE extra_units.business_id = @business_id AND extra_units.reservation_id = moved.id AND moved.status IN ('returned', 'cancelled')
), recorded AS (
    ` + eventlog.Record(event.Reservation, "", "moved", eventDataSQL("moved")) + `
)
SELECT ` + reservationColumns + ` FROM moved`

// ApplyTransition makes a transition of a reservation in one idempotent write. Callers must use [Store.Cancel]
// to cancel a reservation, because ApplyTransition makes no refund. Errors: [ErrNotFound], [*NotAllowedError].
func (s *Store) ApplyTransition(ctx context.Context, businessID, id uuid.UUID, t state.Transition,
	now time.Time) (Reservation, error) {
	return postgres.WriteIdempotently(ctx, s.pool, businessID, func(ctx context.Context, tx pgx.Tx) (Reservation,
		error) {
		return applyTransition(ctx, tx, businessID, id, t, nil, now)
	})
}

// applyTransition makes a transition of a reservation. The argument `units` contains the units that
// are handed out. If `units` is nil, the stored units of the reservation stay unchanged.
func applyTransition(ctx context.Context, tx pgx.Tx, businessID, id uuid.UUID, t state.Transition, units []Unit,
	now time.Time) (Reservation, error) {
	var handedOut any
	if units != nil {
		handedOut = units
	}
	updated, err := postgres.Row(ctx, tx, scanReservation, "change the status of a reservation", transitionSQL,
		eventlog.Add(ctx, pgx.NamedArgs{
			"business_id": businessID, "id": id, "from": t.From, "to": string(t.To), "now": now, "units": handedOut,
			"event_type": "reservation." + string(t.To),
		}, now))
	if errors.Is(err, pgx.ErrNoRows) {
		return Reservation{}, findRefusal(ctx, tx, businessID, id)
	}
	return updated, err
}

// findRefusal returns the reason why a transition changed no row: [ErrNotFound] or [*NotAllowedError].
func findRefusal(ctx context.Context, tx pgx.Tx, businessID, id uuid.UUID) error {
	var status state.State
	err := tx.QueryRow(ctx, `SELECT status FROM reservations WHERE business_id = $1 AND id = $2`, businessID,
		id).Scan(&status)
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("read the status of a reservation: %w", err)
	}
	return &NotAllowedError{Status: status}
}
