package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/eventlog"
	"github.com/slotmesh/slotmesh/libs/money"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/postgres"
	"github.com/slotmesh/slotmesh/libs/refund"
	"github.com/slotmesh/slotmesh/libs/request"
	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
)

// ownColumns are those of the row.
const ownColumns = `id, status, local_start, local_end, starts_at, ends_at, services, staff_id, staff_name, class_schedule_id, party_size,
	total, currency, source, customer_name, customer_email, customer_phone, form_data, locale, created_at, updated_at, sequence,
	is_package, staffing_mode, staff_requested, coalesce(timezone, ''), coalesce(withdrawn, false)`

// bookingColumns are what [scanBooking] reads: the row, and that of the charge where it is paid online. The statement has a parameter
// business_id.
const bookingColumns = ownColumns + `,
	(SELECT to_jsonb(p) FROM payments p WHERE p.business_id = @business_id AND p.subject_id = id) AS payment`

// Booking is a booking as it is kept.
type Booking struct {
	Details
	Customer  Customer
	FormData  json.RawMessage // an object
	Locale    string          // the customer's language, one of the business's
	CreatedAt time.Time
	UpdatedAt time.Time
	Sequence  int      // of its newest event
	Withdrawn bool     // the business withdrew its class session
	Payment   *Payment // nil: nothing is paid online
}

func scanBooking(row pgx.CollectableRow) (Booking, error) {
	var (
		b        Booking
		currency string
	)
	err := row.Scan(&b.ID, &b.Status, &b.LocalStart, &b.LocalEnd, &b.StartsAt, &b.EndsAt, &b.Services, &b.StaffID, &b.StaffName,
		&b.SessionID, &b.PartySize, &b.Total, &currency, &b.Source, &b.Customer.Name, &b.Customer.Email, &b.Customer.Phone,
		&b.FormData, &b.Locale, &b.CreatedAt, &b.UpdatedAt, &b.Sequence,
		&b.IsPackage, &b.StaffingMode, &b.StaffRequested, &b.Timezone, &b.Withdrawn, &b.Payment)
	if err != nil {
		return Booking{}, err
	}
	b.StartsAt, b.EndsAt = b.StartsAt.UTC(), b.EndsAt.UTC()
	b.CreatedAt, b.UpdatedAt = b.CreatedAt.UTC(), b.UpdatedAt.UTC()
	b.Currency, err = money.ParseCurrency(currency)
	return b, err
}

var customerFound = postgres.CustomerFound("customer_name", "customer_email", "customer_phone")

// filterSQL narrows a list by [filterArgs]; what is null, or empty, narrows nothing. Within one business the list is read by start, and
// what a query asks of each row is looked at on the way: a page of what is rare reads all of the business's bookings once.
var filterSQL = `
		  AND (@from::date IS NULL OR local_start >= @from::date)
		  AND (@to::date IS NULL OR local_start < @to::date)
		  AND (@status = '' OR status = @status)
		  AND (@source = '' OR source = @source)
		  AND (@staff_id::uuid IS NULL OR staff_id = @staff_id OR services @> jsonb_build_array(jsonb_build_object('staff_id', @staff_id::text)))
		  AND (@service_id::text IS NULL OR services @> jsonb_build_array(jsonb_build_object('id', @service_id::text)))
		  AND ` + customerFound + `
		  AND ` + paidAs("bookings.id")

// paidAs is an SQL condition: the charge of the subject is as the parameters charges and payment ask.
func paidAs(subject string) string {
	return `(@charges::text[] IS NULL OR EXISTS (SELECT FROM payments AS charge
		       WHERE charge.business_id = @business_id AND charge.subject_id = ` + subject + ` AND charge.status = ANY(@charges)
		         AND (@payment <> 'refund_failed' OR charge.refund_status = 'refused') AND (@payment <> 'disputed' OR charge.dispute_status IS NOT NULL)))`
}

func filterArgs(filter booking.Filter) pgx.NamedArgs {
	args := pgx.NamedArgs{
		"from": nil, "to": nil, "service_id": nil, "staff_id": filter.StaffID,
		"status": filter.Status, "source": filter.Source, "query": filter.Query, "charges": booking.ChargeStatuses(filter.Payment), "payment": filter.Payment,
	}
	if filter.From != nil {
		args["from"] = filter.From.String()
	}
	if filter.To != nil {
		args["to"] = (*filter.To + 1).String()
	}
	if filter.ServiceID != nil {
		args["service_id"] = filter.ServiceID.String()
	}
	return args
}

// Bookings lists bookings of a business by local start, and the cursor of the page that follows, "" after the last. Faults:
// invalid_parameter for a cursor that it has not given.
func (s *Store) Bookings(ctx context.Context, businessID uuid.UUID, filter booking.Filter, page request.Page) ([]Booking, string, error) {
	after, afterID, err := page.AfterTime()
	if err != nil {
		return nil, "", err
	}
	args := filterArgs(filter)
	args["business_id"], args["after"], args["after_id"], args["limit"] = businessID, after, afterID, page.Limit+1
	list, err := postgres.Rows(ctx, s.pool, scanBooking, "list bookings", `
		SELECT `+bookingColumns+` FROM bookings
		WHERE business_id = @business_id`+filterSQL+`
		  AND (@after::timestamp IS NULL OR (local_start, id) > (@after, @after_id))
		ORDER BY local_start, id
		LIMIT @limit`, args)
	if err != nil {
		return nil, "", err
	}
	list, next := request.Cut(list, page.Limit, func(b Booking) string { return request.ByTime(b.LocalStart, b.ID) })
	return list, next, nil
}

// moveSQL changes the status only from one of the allowed ones; who moves first wins, the other finds another status.
//
// It locks the booking, then lowers its session's counter, and changes the booking last. A booking that
// is being written holds that counter and may then wait for whoever changes the customer's first booking (bookSQL): were
// the booking changed before the counter is held, the two could wait for one another.
//
// Its transaction has locked the booking before, so that it sees what [Store.MovePast] wrote: a booking of long ago holds its time, and
// has no seats any more to give back.
//
// Of a move that is untold no event is recorded where none was before.
var moveSQL = `
WITH chosen AS MATERIALIZED (
    SELECT 1 FROM bookings
    WHERE business_id = @business_id AND id = @id AND status = ANY(@from)
    FOR UPDATE
), charge AS MATERIALIZED (
    SELECT * FROM payments
    WHERE business_id = @business_id AND subject_id = @id AND EXISTS (SELECT FROM chosen)
    FOR UPDATE
), vacated AS (
    DELETE FROM class_seats
    WHERE business_id = @business_id AND booking_id = @id AND @frees::boolean AND EXISTS (SELECT FROM chosen)
    RETURNING starts_at, session_id, seats
), given_back AS (
    UPDATE class_sessions AS session SET taken = session.taken - vacated.seats
    FROM vacated
    WHERE session.business_id = @business_id AND session.starts_at = vacated.starts_at AND session.session_id = vacated.session_id
    RETURNING 1
), moved AS (
    UPDATE bookings SET status = @to, sequence = sequence + CASE WHEN @untold::boolean AND sequence = 0 THEN 0 ELSE 1 END, updated_at = @now
    WHERE business_id = @business_id AND id = @id AND EXISTS (SELECT FROM chosen) AND (SELECT count(*) FROM given_back) >= 0
    RETURNING *
), freed AS (
    DELETE FROM occupied_time
    WHERE business_id = @business_id AND booking_id = @id AND @frees::boolean AND EXISTS (SELECT FROM moved)
), freed_past AS (
    DELETE FROM past_occupied_time
    WHERE business_id = @business_id AND booking_id = @id AND @frees::boolean AND EXISTS (SELECT FROM moved)
), uncharged AS (
    UPDATE payments SET status = 'cancelling', due_at = @now, attempts = 0, updated_at = @now
    WHERE business_id = @business_id AND subject_id = @id AND status IN ('creating', 'open')
      AND @frees::boolean AND EXISTS (SELECT FROM moved)
    RETURNING *
), refunding AS (` + refundSQL + `
      AND @frees::boolean AND EXISTS (SELECT FROM moved)
    RETURNING *
), recorded AS (
    ` + recordMoved + `
)
SELECT ` + ownColumns + `, ` + movedCharge + ` FROM moved`

// NotAllowedError says that a booking's status does not allow a move.
type NotAllowedError struct{ Status state.State }

func (e *NotAllowedError) Error() string { return "not allowed from status " + string(e.Status) }

// WrongDayError reports that a move is not allowed on this day.
type WrongDayError struct {
	Date timespan.Date // of the booking
	Zone string        // in which the booking was sold, or the offset from UTC of its clock
}

func (e *WrongDayError) Error() string {
	return "not allowed on this day for a booking of " + e.Date.String()
}

// checkDay checks that a move is allowed at now for a booking. Days begin and end by the zone in which it was sold; of a
// booking whose zone is not known, by the clock it was sold by. Errors: [*WrongDayError].
func checkDay(b Booking, days state.Days, now time.Time) error {
	clock := time.FixedZone("", int(b.LocalStart.Sub(b.StartsAt).Seconds()))
	if b.Timezone != "" {
		clock = timespan.Zone(b.Timezone, clock)
	}
	date := timespan.DateOf(b.LocalStart, time.UTC)
	if !days.Include(date, timespan.DateOf(now, clock)) {
		return &WrongDayError{Date: date, Zone: cmp.Or(b.Timezone, b.StartsAt.In(clock).Format("UTC-07:00"))}
	}
	return nil
}

// Move makes a transition of a booking once. If the transition frees time, Move frees the time that the booking occupies.
// [Store.Cancel] makes the transitions that may refund. Errors: [ErrNotFound], [*NotAllowedError], [*WrongDayError].
func (s *Store) Move(ctx context.Context, businessID, id uuid.UUID, t state.Transition, now time.Time) (Booking, error) {
	return postgres.Once(ctx, s.pool, businessID, func(ctx context.Context, tx pgx.Tx) (Booking, error) {
		b, err := lockBooking(ctx, tx, businessID, id)
		if err != nil {
			return Booking{}, err
		}
		if !t.Allows(b.Status) {
			return Booking{}, &NotAllowedError{Status: b.Status}
		}
		if err := checkDay(b, t.Days, now); err != nil {
			return Booking{}, err
		}
		return move(ctx, tx, businessID, id, t, refund.Owed{}, now)
	})
}

func move(ctx context.Context, tx pgx.Tx, businessID, id uuid.UUID, t state.Transition, owed refund.Owed, now time.Time) (Booking, error) {
	moved, err := postgres.Row(ctx, tx, scanBooking, "move a booking", moveSQL, moveArgs(ctx, businessID, id, t, owed, now))
	if errors.Is(err, pgx.ErrNoRows) {
		return Booking{}, whyNot(ctx, tx, businessID, id)
	}
	return moved, err
}

func moveArgs(ctx context.Context, businessID, id uuid.UUID, t state.Transition, owed refund.Owed, now time.Time) pgx.NamedArgs {
	return eventlog.Add(ctx, pgx.NamedArgs{
		"business_id": businessID, "id": id, "from": t.From, "to": string(t.To), "frees": t.FreesTime, "now": now,
		"event_type": string(t.Event), "refund_amount": owed.Amount, "refund_percent": owed.Percent, "untold": false,
	}, now)
}

func whyNot(ctx context.Context, tx pgx.Tx, businessID, id uuid.UUID) error {
	var status state.State
	err := tx.QueryRow(ctx, `SELECT status FROM bookings WHERE business_id = $1 AND id = $2`, businessID, id).Scan(&status)
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("read the status of a booking: %w", err)
	}
	return &NotAllowedError{Status: status}
}

// Ahead counts the bookings that are still to come or under way.
func (s *Store) Ahead(ctx context.Context, businessID uuid.UUID, now time.Time) (int, error) {
	var n int
	err := s.pool.QueryRow(ctx, `
		SELECT count(*) FROM bookings WHERE business_id = $1 AND ends_at > $2 AND status = ANY($3)`,
		businessID, now, state.Ahead()).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count bookings ahead: %w", err)
	}
	return n, nil
}
