package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/sale/refund"
)

// ErrChanged means that another request has changed the booking after this request read it. Nothing was written.
var ErrChanged = errors.New("the booking has changed in the meantime")

// Reschedule is the argument of [Store.Reschedule]: the new time and
// resources of a booking. All other data of the booking stay unchanged.
type Reschedule struct {
	BusinessID uuid.UUID
	ID         uuid.UUID
	Sequence   int // the Sequence that the booking had when the caller read the booking
	// OfferVersion is the version of the offer with which the caller evaluated the request.
	OfferVersion int64
	Now          time.Time

	StartsAt       time.Time
	EndsAt         time.Time
	LocalStart     time.Time // the local time of the business, stored as UTC
	LocalEnd       time.Time
	Timezone       string        // the time zone of LocalStart and LocalEnd
	Services       []SoldService // the booked services, with the durations of the current offer
	StaffID        *uuid.UUID
	StaffName      *string
	StaffRequested bool
	SessionID      *uuid.UUID // the id of the class session; nil for an appointment
	Capacity       int        // the number of seats of the session
	PartySize      int
	Policy         *refund.Policy // the new cancellation policy of the payment; nil: unchanged

	// Parts are the resources and times that the booking occupies after the change, as in [NewBooking].
	Parts         []availability.Part
	Location      *Location                // the place after the change; nil if the business has no locations
	Address       *booking.CustomerAddress // the customer's address after the change, as in [Customer]
	ChangeMinutes int                      // as in [NewBooking]

	// IsRelocation means that the location changes and the time does not. The change
	// is then recorded as a relocation instead of a reschedule.
	IsRelocation bool

	// IsByCustomer means that the customer reschedules. The change then counts towards [MaxCustomerReschedules].
	IsByCustomer bool
}

// MaxCustomerReschedules is the maximum number of times that a customer may reschedule one booking
// within [CustomerRescheduleWindow]. The limit exists because each reschedule sends messages.
const MaxCustomerReschedules = 6

// CustomerRescheduleWindow is the length of the sliding window in which [MaxCustomerReschedules] applies.
const CustomerRescheduleWindow = time.Hour

// TooManyReschedulesError means that a customer has already rescheduled a booking
// [MaxCustomerReschedules] times within [CustomerRescheduleWindow]. Nothing was written.
type TooManyReschedulesError struct {
	RetryAfter time.Duration // the time until the customer may reschedule again
}

func (e *TooManyReschedulesError) Error() string {
	return "the customer has moved the booking too often"
}

// checkCustomerReschedules checks that a customer may reschedule the booking now. The
// caller must lock the booking in the same transaction. Errors: [*TooManyReschedulesError].
func checkCustomerReschedules(ctx context.Context, tx pgx.Tx, r Reschedule) error {
	if !r.IsByCustomer {
		return nil
	}
	var oldest time.Time
	err := tx.QueryRow(ctx, `
SELECT at FROM events
WHERE business_id = $1 AND subject_id = $2 AND type = $3 AND actor_kind = $4 AND at > $5
ORDER BY at DESC OFFSET $6 LIMIT 1`,
		r.BusinessID, r.ID, string(event.BookingRescheduled), string(actor.Customer),
		r.Now.Add(-CustomerRescheduleWindow),
		MaxCustomerReschedules-1,
	).Scan(&oldest)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("count the reschedules of a booking: %w", err)
	}
	return &TooManyReschedulesError{RetryAfter: oldest.Add(CustomerRescheduleWindow).Sub(r.Now)}
}

// BookedTime is the former time, staff member and location of a rescheduled or relocated booking. The
// JSON names are those in the data of the event that records the new time.
type BookedTime struct {
	StartsAt   time.Time  `json:"starts_at"`
	EndsAt     time.Time  `json:"ends_at"`
	LocalStart wallTime   `json:"local_start"`
	LocalEnd   wallTime   `json:"local_end"`
	StaffID    *uuid.UUID `json:"staff_id"`
	StaffName  *string    `json:"staff_name"`
	SessionID  *uuid.UUID `json:"class_schedule_id"`
	Location   *Location  `json:"location"`
}

// wallTime is a timestamp without time zone, in the JSON format of PostgreSQL.
type wallTime struct{ time.Time }

// UnmarshalJSON parses the timestamp as a time in UTC.
func (w *wallTime) UnmarshalJSON(text []byte) error {
	var err error
	w.Time, err = time.Parse(`"2006-01-02T15:04:05"`, string(text))
	return err
}

// FindFormerTime returns the former time of a booking or an order of tickets from
// the data of an event. It returns nil if the event is not about a new time.
func FindFormerTime(data json.RawMessage) (*BookedTime, error) {
	var event struct {
		From *BookedTime `json:"from"`
	}
	err := json.Unmarshal(data, &event)
	return event.From, err
}

// rescheduleSQL changes the time of a booking. Either it frees the old time and occupies the
// new time, or it changes nothing. The caller must lock the booking by an earlier statement
// of the transaction, so that rescheduleSQL sees the changes of earlier transactions.
//
// rescheduleSQL inserts the new time before it deletes the old time, in the same order as bookSQL. The
// constraint allows rows of the same booking to overlap. If rescheduleSQL deleted the old time first, it could
// deadlock. The other transaction would wait for the old time, and hold time that rescheduleSQL needs next.
//
// For a class booking, rescheduleSQL changes the counters of seats of both sessions in the
// order of their keys. For an old booking, there is no counter to lower, because
// [Store.ArchiveOccupied] has deleted the seats of the booking. rescheduleSQL updates the
// booking after the counters, as transitionSQL does, and calls may_sell last, as bookSQL does.
//
// If a part of the new time or a seat is not available, rescheduleSQL
// returns no row. The caller must then roll back the transaction.
var rescheduleSQL = `
WITH taken AS (
    INSERT INTO occupied_time (business_id, booking_id, part, resource_id, lane, during, holder, ` + stayColumns + `)
    SELECT @business_id, @id, had.parts + p.part, p.resource_id, p.lane, tstzrange(p.starts_at, p.ends_at),
           CASE WHEN @session_id::uuid IS NULL THEN @id::uuid ELSE '00000000-0000-0000-0000-000000000000' END,
           ` + stayValues + `
    FROM ` + unnestParts + `,
         (SELECT coalesce(max(part), 0) AS parts FROM occupied_time WHERE business_id = @business_id AND booking_id = @id) AS had
    ORDER BY p.part
    ON CONFLICT DO NOTHING
    RETURNING 1
), left_session AS (
    SELECT starts_at, session_id FROM class_seats
    WHERE business_id = @business_id AND booking_id = @id
      AND (starts_at, session_id) IS DISTINCT FROM (@starts_at::timestamptz, @session_id::uuid)
), changed_session AS (
    SELECT starts_at, session_id FROM left_session
    UNION ALL
    SELECT @starts_at, @session_id WHERE @session_id IS NOT NULL AND NOT EXISTS (
        SELECT FROM class_seats
        WHERE business_id = @business_id AND booking_id = @id AND (starts_at, session_id) = (@starts_at, @session_id))
), counted AS (
    INSERT INTO class_sessions AS session (business_id, starts_at, session_id, taken)
    SELECT @business_id, occurrence.starts_at, occurrence.session_id, @party_size
    FROM changed_session AS occurrence
    WHERE @party_size::integer <= @capacity::integer AND (SELECT count(*) FROM taken) = cardinality(@resource_ids::uuid[])
    ORDER BY occurrence.starts_at, occurrence.session_id
    ON CONFLICT (business_id, starts_at, session_id) DO UPDATE
        SET taken = session.taken + CASE WHEN (session.starts_at, session.session_id) = (@starts_at, @session_id) THEN 1 ELSE -1 END * excluded.taken
        WHERE (session.starts_at, session.session_id) <> (@starts_at, @session_id) OR session.taken + excluded.taken <= @capacity
    RETURNING 1
), seated AS (
    INSERT INTO class_seats (business_id, booking_id, starts_at, session_id, seats)
    SELECT @business_id, @id, @starts_at, @session_id, @party_size
    WHERE EXISTS (SELECT FROM counted)
    ON CONFLICT (business_id, booking_id) DO UPDATE SET starts_at = excluded.starts_at, session_id = excluded.session_id
), vacated AS (
    DELETE FROM occupied_time
    WHERE business_id = @business_id AND booking_id = @id
      AND (SELECT count(*) FROM taken) = cardinality(@resource_ids::uuid[])
), vacated_past AS (
    DELETE FROM past_occupied_time
    WHERE business_id = @business_id AND booking_id = @id
      AND (SELECT count(*) FROM taken) = cardinality(@resource_ids::uuid[])
), before AS MATERIALIZED (
    SELECT starts_at, ends_at, local_start, local_end, staff_id, staff_name, class_schedule_id, location FROM bookings
    WHERE business_id = @business_id AND id = @id
), moved AS (
    UPDATE bookings
    SET starts_at = @starts_at, ends_at = @ends_at, local_start = @local_start, local_end = @local_end, timezone = @timezone, services = @services,
        staff_id = @staff_id, staff_name = @staff_name, staff_requested = @staff_requested, class_schedule_id = @session_id, location = @location, customer_address = @customer_address, withdrawn = false,
        sequence = sequence + 1, updated_at = @now
    WHERE business_id = @business_id AND id = @id
      AND (SELECT count(*) FROM taken) = cardinality(@resource_ids::uuid[])
      AND (SELECT count(*) FROM counted) = (SELECT count(*) FROM changed_session)
    RETURNING *
), recorded AS (
    ` + recordRescheduled + `
)
SELECT ` + bookingColumns + ` FROM moved WHERE may_sell(@business_id, @offer_version, NULL)`

// Reschedule changes the time of a booking, at most once for each Idempotency-Key
// (postgres.WriteIdempotently). If it returns an error, nothing has changed. Errors:
// [ErrNotFound], [ErrChanged], [*TooManyReschedulesError], [ErrOfferChanged], [ErrOccupied].
// Fault: location_not_found if the actor may not use the new location ([actor.Locations]).
func (s *Store) Reschedule(ctx context.Context, r Reschedule) (Booking, error) {
	if err := checkLocation(ctx, r.Location); err != nil {
		return Booking{}, err
	}
	args, err := rescheduleArgs(ctx, r)
	if err != nil {
		return Booking{}, err
	}
	return postgres.WriteIdempotently(ctx, s.pool, r.BusinessID, func(ctx context.Context, tx pgx.Tx) (Booking, error) {
		before, err := lockBooking(ctx, tx, r.BusinessID, r.ID)
		switch {
		case err != nil:
			return Booking{}, err
		case before.Sequence != r.Sequence:
			return Booking{}, ErrChanged
		}
		if err := checkCustomerReschedules(ctx, tx, r); err != nil {
			return Booking{}, err
		}
		if err := changePolicy(ctx, tx, before, r); err != nil {
			return Booking{}, err
		}
		rows, err := tx.Query(ctx, rescheduleSQL, args)
		if err != nil {
			return Booking{}, fmt.Errorf("reschedule a booking: %w", err)
		}
		updated, err := pgx.CollectExactlyOneRow(rows, scanBooking)
		if errors.Is(err, pgx.ErrNoRows) {
			return Booking{}, ErrOccupied
		}
		if postgres.Code(err) == offerChanged {
			return Booking{}, ErrOfferChanged
		}
		if err != nil {
			return Booking{}, fmt.Errorf("reschedule a booking: %w", err)
		}
		return updated, nil
	})
}

// changePolicy stores the new cancellation policy of the booking's payment, if the policy
// has changed. It must run before rescheduleSQL, because rescheduleSQL returns the payment.
func changePolicy(ctx context.Context, tx pgx.Tx, before Booking, r Reschedule) error {
	if r.Policy == nil || before.Payment == nil || reflect.DeepEqual(*r.Policy, before.Payment.Policy) {
		return nil
	}
	policy, err := json.Marshal(r.Policy)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `UPDATE payments SET cancellation_policy = $3 WHERE business_id = $1 AND subject_id = $2`,
		r.BusinessID, r.ID, policy); err != nil {
		return fmt.Errorf("bound the refund of a booking: %w", err)
	}
	return nil
}

func rescheduleArgs(ctx context.Context, r Reschedule) (pgx.NamedArgs, error) {
	services, err := json.Marshal(r.Services)
	args := eventlog.Add(ctx, pgx.NamedArgs{
		"business_id": r.BusinessID, "id": r.ID, "now": r.Now, "offer_version": r.OfferVersion,
		"starts_at": r.StartsAt, "ends_at": r.EndsAt, "local_start": r.LocalStart, "local_end": r.LocalEnd,
		"timezone": r.Timezone, "services": services,
		"staff_id": r.StaffID, "staff_name": r.StaffName, "staff_requested": r.StaffRequested,
		"session_id": r.SessionID, "capacity": r.Capacity, "party_size": r.PartySize,
		"event_type": string(event.BookingRescheduled),
	}, r.Now)
	if r.IsRelocation {
		args["event_type"] = string(event.BookingRelocated)
	}
	located := addLocation(args, r.Location, r.Address)
	addParts(args, r.Parts, r.Location, r.ChangeMinutes, r.StartsAt, r.EndsAt)
	return args, errors.Join(err, located)
}
