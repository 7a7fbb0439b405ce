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

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/sale/refund"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
)

// ownColumns are the columns of the table bookings that [scanBooking] reads.
const ownColumns = `id, status, local_start, local_end, starts_at, ends_at, services, staff_id, staff_name, class_schedule_id, party_size,
	total, currency, source, customer_name, customer_email, customer_phone, form_data, locale, created_at, updated_at, sequence,
	is_package, staffing_mode, staff_requested, coalesce(timezone, ''), coalesce(withdrawn, false), location, customer_address`

// bookingColumns are all columns that [scanBooking] reads: those of the booking, and the row
// of its charge or null. A statement with bookingColumns must have a parameter business_id.
const bookingColumns = ownColumns + `,
	(SELECT to_jsonb(p) FROM payments p WHERE p.business_id = @business_id AND p.subject_id = id) AS payment`

// Booking is a stored booking with its customer and its charge.
type Booking struct {
	Details
	Customer  Customer
	FormData  json.RawMessage // the customer's answers, a JSON object
	Locale    string          // the customer's language; one of the business's languages
	CreatedAt time.Time
	UpdatedAt time.Time
	Sequence  int      // the number of the booking's newest event
	Withdrawn bool     // the business no longer holds the class session at the booked time
	Payment   *Payment // nil: no online payment was necessary
}

func scanBooking(row pgx.CollectableRow) (Booking, error) {
	var (
		b        Booking
		currency string
	)
	err := row.Scan(&b.ID, &b.Status, &b.LocalStart, &b.LocalEnd, &b.StartsAt, &b.EndsAt, &b.Services, &b.StaffID,
		&b.StaffName,
		&b.SessionID, &b.PartySize, &b.Total, &currency, &b.Source, &b.Customer.Name, &b.Customer.Email,
		&b.Customer.Phone,
		&b.FormData, &b.Locale, &b.CreatedAt, &b.UpdatedAt, &b.Sequence,
		&b.IsPackage, &b.StaffingMode, &b.StaffRequested, &b.Timezone, &b.Withdrawn, &b.Location, &b.Customer.Address,
		&b.Payment)
	if err != nil {
		return Booking{}, err
	}
	b.StartsAt, b.EndsAt = b.StartsAt.UTC(), b.EndsAt.UTC()
	b.CreatedAt, b.UpdatedAt = b.CreatedAt.UTC(), b.UpdatedAt.UTC()
	b.Currency, err = money.ParseCurrency(currency)
	return b, err
}

// permittedSQL is the SQL condition that the actor may see and change a booking. The SQL parameter `permitted`
// is [actor.Locations]. The nil UUID stands for a booking without a stored location.
const permittedSQL = `(@permitted::uuid[] IS NULL
	OR coalesce((location->>'id')::uuid, '00000000-0000-0000-0000-000000000000') = ANY(@permitted))`

// checkLocation returns a fault unless the actor may book at a location. The argument `l` is nil
// for a booking without a location. Fault: location_not_found.
func checkLocation(ctx context.Context, l *Location) error {
	id := uuid.Nil
	if l != nil {
		id = l.ID
	}
	if actor.MayUse(ctx, id) {
		return nil
	}
	return fault.Newf(fault.LocationNotFound, "Location not found: %s", id)
}

var customerSearchSQL = postgres.CustomerCondition("customer_name", "customer_email", "customer_phone")

// filterSQL is the condition of a list of bookings for a filter. [filterArgs] returns
// the SQL parameters of the condition. A null or empty parameter matches every booking.
//
// The list query reads the bookings of a business in the order of their start and compares each row with
// the filter. Therefore, if few bookings match, a query for one page may read all bookings of the business.
var filterSQL = `
		  AND (@from::date IS NULL OR local_start >= @from::date)
		  AND (@to::date IS NULL OR local_start < @to::date)
		  AND (@status = '' OR status = @status)
		  AND (@source = '' OR source = @source)
		  AND (@staff_id::uuid IS NULL OR staff_id = @staff_id OR services @> jsonb_build_array(jsonb_build_object('staff_id', @staff_id::text)))
		  AND (@location_ids::uuid[] IS NULL OR coalesce((location->>'id')::uuid, '00000000-0000-0000-0000-000000000000') = ANY(@location_ids))
		  AND (@service_id::text IS NULL OR services @> jsonb_build_array(jsonb_build_object('id', @service_id::text)))
		  AND ` + permittedSQL + `
		  AND ` + customerSearchSQL + `
		  AND ` + paymentFilterSQL("bookings.id")

// paymentFilterSQL returns the SQL condition that the charge of a row matches the filter by payment. The
// SQL parameter `payment` is the filter; `charges` contains the statuses of the charges that
// the filter selects. The argument `subject` is the SQL expression for the id of the row.
func paymentFilterSQL(subject string) string {
	return `(@charges::text[] IS NULL OR EXISTS (SELECT FROM payments AS charge
		       WHERE charge.business_id = @business_id AND charge.subject_id = ` + subject + ` AND charge.status = ANY(@charges)
		         AND (@payment <> 'refund_failed' OR charge.refund_status = 'refused') AND (@payment <> 'disputed' OR charge.dispute_status IS NOT NULL)))`
}

func filterArgs(ctx context.Context, filter booking.Filter) pgx.NamedArgs {
	args := pgx.NamedArgs{
		"from": nil, "to": nil, "service_id": nil, "staff_id": filter.StaffID,
		"location_ids": filter.LocationIDs, "permitted": actor.Locations(ctx),
		"status": filter.Status, "source": filter.Source, "query": filter.Query,
		"charges": booking.ExpandPaymentFilter(filter.Payment), "payment": filter.Payment,
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

// Bookings returns a page of the bookings of a business that match the filter, in the order of local start. It also
// returns the cursor of the next page, or "" after the last page. It omits bookings
// at locations that the actor may not use ([actor.Locations]). Fault: invalid_parameter for an invalid cursor.
func (s *Store) Bookings(ctx context.Context, businessID uuid.UUID, filter booking.Filter,
	page request.Page) ([]Booking, string, error) {
	after, afterID, err := page.AfterTime()
	if err != nil {
		return nil, "", err
	}
	args := filterArgs(ctx, filter)
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

// transitionSQL changes the status of a booking if the current status allows the change. If several
// requests change the status of a booking concurrently, only the first change succeeds.
//
// Locks: transitionSQL locks the booking, then lowers the counter of seats of the booking's session, and then
// updates the booking. If transitionSQL updated the booking before the counter, two transactions could deadlock:
// transitionSQL would change its entry in the unique index bookings_one_first and wait for the counter, while a
// concurrent bookSQL would hold the counter and wait for this entry.
//
// The caller must lock the booking by an earlier statement of the transaction, so that transitionSQL sees the changes
// of a concurrent [Store.ArchiveOccupied]. ArchiveOccupied archives the occupied time of an old booking and deletes its
// seats.
//
// If the SQL parameter `untold` is true and the booking has no event yet, transitionSQL records no event.
var transitionSQL = `
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
    ` + recordTransition + `
)
SELECT ` + ownColumns + `, ` + movedCharge + ` FROM moved`

// NotAllowedError means that the current status of a booking does not allow a transition. Status is the current status.
type NotAllowedError struct{ Status state.State }

func (e *NotAllowedError) Error() string { return "not allowed from status " + string(e.Status) }

// WrongDayError means that a transition is not allowed on the current day.
type WrongDayError struct {
	Date timespan.Date // the date of the booking
	Zone string        // the time zone of the sale, or the UTC offset of the booking if the zone is unknown
}

func (e *WrongDayError) Error() string {
	return "not allowed on this day for a booking of " + e.Date.String()
}

// checkDay checks that a transition of the booking is allowed on the day of the argument
// `now`. Days begin and end in the time zone of the sale. If the time zone is unknown,
// checkDay uses the UTC offset of the booking's local time. Errors: [*WrongDayError].
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

// ApplyTransition makes a transition of a booking, at most once for each Idempotency-Key. If the transition
// frees time, ApplyTransition deletes the occupied time of the booking. For a transition that may refund, the
// caller must use [Store.Cancel]. Errors: [ErrNotFound], [*NotAllowedError], [*WrongDayError].
func (s *Store) ApplyTransition(ctx context.Context, businessID, id uuid.UUID, t state.Transition,
	now time.Time) (Booking, error) {
	return postgres.WriteIdempotently(ctx, s.pool, businessID, func(ctx context.Context, tx pgx.Tx) (Booking, error) {
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
		return applyTransition(ctx, tx, businessID, id, t, refund.Part{}, now)
	})
}

func applyTransition(ctx context.Context, tx pgx.Tx, businessID, id uuid.UUID, t state.Transition, part refund.Part,
	now time.Time) (Booking, error) {
	updated, err := postgres.Row(ctx, tx, scanBooking, "change the status of a booking", transitionSQL,
		transitionArgs(ctx, businessID, id, t, part, now))
	if errors.Is(err, pgx.ErrNoRows) {
		return Booking{}, findRefusal(ctx, tx, businessID, id)
	}
	return updated, err
}

func transitionArgs(ctx context.Context, businessID, id uuid.UUID, t state.Transition, part refund.Part,
	now time.Time) pgx.NamedArgs {
	return eventlog.Add(ctx, pgx.NamedArgs{
		"business_id": businessID, "id": id, "from": t.From, "to": string(t.To), "frees": t.FreesTime, "now": now,
		"event_type": string(t.Event), "refund_amount": part.Amount, "refund_percent": part.Percent, "untold": false,
	}, now)
}

func findRefusal(ctx context.Context, tx pgx.Tx, businessID, id uuid.UUID) error {
	var status state.State
	err := tx.QueryRow(ctx, `SELECT status FROM bookings WHERE business_id = $1 AND id = $2`, businessID,
		id).Scan(&status)
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("read the status of a booking: %w", err)
	}
	return &NotAllowedError{Status: status}
}

// CountAhead returns the number of pending or confirmed bookings that have not ended.
func (s *Store) CountAhead(ctx context.Context, businessID uuid.UUID, now time.Time) (int, error) {
	var n int
	err := s.pool.QueryRow(ctx, `
		SELECT count(*) FROM bookings WHERE business_id = $1 AND ends_at > $2 AND status = ANY($3)`,
		businessID, now, state.UpcomingStates()).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count bookings ahead: %w", err)
	}
	return n, nil
}
