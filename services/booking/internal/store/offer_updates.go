package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

// OfferUpdate is a version of an offer that the job usecase.OfferSync has not yet applied to all sales. The job applies
// it to the orders of tickets and the class bookings of the business. If IsFinal is true, no transaction can still
// commit a sale that an older version of the offer allowed.
type OfferUpdate struct {
	BusinessID uuid.UUID
	Version    int64
	IsFinal    bool
}

// PendingOfferUpdates returns the versions of offers that have not yet been applied, in the order of business ids.
// The ids of the businesses are greater than the argument `after`. The result has at most `limit` versions.
func (s *Store) PendingOfferUpdates(ctx context.Context, after uuid.UUID, limit int) ([]OfferUpdate, error) {
	return postgres.Rows(ctx, s.pool, pgx.RowToStructByPos[OfferUpdate], "find offers that are not applied to tickets", `
		SELECT business_id, version, published_at < now() - interval '2 minutes' FROM offer_versions
		WHERE followed < version AND business_id > $1 ORDER BY business_id LIMIT $2`, after, limit)
}

// MarkOfferApplied stores that a version of an offer has been applied
// to all orders of tickets and class bookings of its business.
func (s *Store) MarkOfferApplied(ctx context.Context, businessID uuid.UUID, version int64) error {
	_, err := s.pool.Exec(ctx, `UPDATE offer_versions SET followed = $2 WHERE business_id = $1 AND followed < $2`,
		businessID, version)
	if err != nil {
		return fmt.Errorf("store that an offer is applied: %w", err)
	}
	return nil
}

// TicketedEvent is an event for which tickets were sold, with the time zone in which they were sold.
type TicketedEvent struct {
	EventID  uuid.UUID
	Timezone string
}

// TicketedEvents returns those events of a business that have
// not ended and have at least one order that is not cancelled.
func (s *Store) TicketedEvents(ctx context.Context, businessID uuid.UUID, now time.Time) ([]TicketedEvent, error) {
	return postgres.Rows(ctx, s.pool, pgx.RowToStructByPos[TicketedEvent], "find events with tickets", `
		SELECT DISTINCT event_id, timezone FROM tickets
		WHERE business_id = $1 AND status <> 'cancelled' AND ends_at > $2`, businessID, now)
}

// EventState is the state of a ticketed event according to the current offer.
type EventState struct {
	BusinessID uuid.UUID
	TicketedEvent
	Withdrawn  bool // the event is no longer offered; the times are then not set
	StartsAt   time.Time
	EndsAt     time.Time
	LocalStart time.Time // the local time in Timezone, stored as UTC
	Now        time.Time
}

// updateBatch is the maximum number of rows that one statement
// changes. It limits the number of locks that a statement holds.
const updateBatch = 500

// maxFormerStarts is the maximum number of former starts that are stored for an order. Older starts are deleted.
const maxFormerStarts = 20

// updateOrdersSQL and withdrawSQL change the orders that differ from the current state of their ticketed event.
// They record an event in the event log for each order, except for an order whose charge is not open yet.
//
// If a withdrawn ticketed event is offered again, updateOrdersSQL records the same type of event as for a new time.
var (
	updateOrdersSQL = `
WITH before AS MATERIALIZED (
    SELECT id, starts_at, ends_at, local_start FROM tickets
    WHERE business_id = @business_id AND event_id = @event_id AND timezone = @timezone
      AND status <> 'cancelled' AND ends_at > @now::timestamptz
      AND (withdrawn OR (starts_at, ends_at) IS DISTINCT FROM (@starts_at::timestamptz, @ends_at::timestamptz))
    ORDER BY id LIMIT @limit FOR UPDATE
), moved AS (
    UPDATE tickets AS t
    SET starts_at = @starts_at, ends_at = @ends_at, local_start = @local_start, withdrawn = false,
        former_starts = CASE WHEN before.starts_at = @starts_at THEN t.former_starts
            ELSE (t.former_starts || before.starts_at)
                [greatest(1, cardinality(t.former_starts) + 2 - @max_former::integer):] END,
        sequence = t.sequence + CASE WHEN t.sequence = 0 THEN 0 ELSE 1 END
    FROM before
    WHERE t.business_id = @business_id AND t.id = before.id
    RETURNING t.*
), recorded AS (
    ` + eventlog.Record(event.Ticket, event.TicketRescheduled, "moved WHERE sequence > 0",
		eventDataSQL("moved")+
			` || jsonb_build_object('from', (SELECT to_jsonb(before) FROM before WHERE before.id = moved.id),
			'payment', `+recordOrderPayment+`)`) + `
)
SELECT count(*) FROM moved`

	withdrawSQL = `
WITH moved AS (
    UPDATE tickets SET withdrawn = true, sequence = sequence + CASE WHEN sequence = 0 THEN 0 ELSE 1 END
    WHERE business_id = @business_id AND id IN (
        SELECT id FROM tickets
        WHERE business_id = @business_id AND event_id = @event_id AND timezone = @timezone
          AND status <> 'cancelled' AND ends_at > @now::timestamptz AND NOT withdrawn
        ORDER BY id LIMIT @limit FOR UPDATE)
    RETURNING *
), recorded AS (
    ` + eventlog.Record(event.Ticket, event.TicketWithdrawn, "moved WHERE sequence > 0",
		eventDataSQL("moved")+` || jsonb_build_object('payment', `+recordOrderPayment+`)`) + `
)
SELECT count(*) FROM moved`
)

const recordOrderPayment = `(SELECT to_jsonb(p) FROM payments AS p
			WHERE p.business_id = @business_id AND p.subject_id = moved.id)`

// UpdateEventOrders updates the orders of a ticketed event to the current time and state of the event. It changes
// only orders that have not ended. It returns the number of changed orders. UpdateEventOrders is idempotent.
func (s *Store) UpdateEventOrders(ctx context.Context, e EventState) (int, error) {
	sql := updateOrdersSQL
	if e.Withdrawn {
		sql = withdrawSQL
	}
	total := 0
	for {
		var n int
		err := s.pool.QueryRow(ctx, sql, eventlog.Add(ctx, pgx.NamedArgs{
			"business_id": e.BusinessID, "event_id": e.EventID, "timezone": e.Timezone, "starts_at": e.StartsAt,
			"ends_at": e.EndsAt, "local_start": e.LocalStart, "limit": updateBatch, "max_former": maxFormerStarts,
			"now": e.Now,
		}, e.Now)).Scan(&n)
		if err != nil {
			return total, fmt.Errorf("update the tickets of an event: %w", err)
		}
		if total += n; n < updateBatch {
			return total, nil
		}
	}
}

// BookedSession is a class session at one of the times for which it has bookings.
type BookedSession struct {
	ServiceID  uuid.UUID
	SessionID  uuid.UUID
	StartsAt   time.Time
	EndsAt     time.Time
	LocalStart time.Time // the local time in Timezone, stored as UTC
	Timezone   string    // the time zone of the sale; "" if it is unknown
	Withdrawn  bool      // the bookings are withdrawn
}

// BookedSessions returns the class sessions of a business that have bookings and have not begun.
func (s *Store) BookedSessions(ctx context.Context, businessID uuid.UUID, now time.Time) ([]BookedSession, error) {
	return postgres.Rows(ctx, s.pool, pgx.RowToStructByPos[BookedSession], "find booked class sessions", `
		SELECT DISTINCT (services->0->>'id')::uuid, class_schedule_id, starts_at, ends_at, local_start, coalesce(timezone, ''), withdrawn FROM bookings
		WHERE business_id = $1 AND class_schedule_id IS NOT NULL AND status IN ('pending', 'confirmed') AND starts_at > $2
		  AND local_start > ($2::timestamptz AT TIME ZONE 'UTC') - interval '1 day' -- in every zone, for the index
		ORDER BY starts_at, class_schedule_id`, businessID, now)
}

// updateSessionSQL withdraws or restores those bookings of a class session that have the status
// in the SQL parameter `status`. It records no event for a booking whose charge is not open yet.
var updateSessionSQL = `
WITH changed AS (
    UPDATE bookings SET withdrawn = @withdrawn, updated_at = @now, sequence = sequence + CASE WHEN sequence = 0 THEN 0 ELSE 1 END
    WHERE business_id = @business_id AND id IN (
        SELECT id FROM bookings
        WHERE business_id = @business_id AND class_schedule_id = @session_id AND starts_at = @starts_at AND ends_at = @ends_at
          AND local_start = @local_start
          AND services->0->>'id' = @service_id::text AND coalesce(timezone, '') = @timezone
          AND status = @status AND withdrawn <> @withdrawn
        ORDER BY id LIMIT @limit FOR UPDATE)
    RETURNING *
), recorded AS (
    ` + eventlog.Record(event.Booking, "", "changed WHERE sequence > 0", eventDataSQL("changed")+` || jsonb_build_object('payment',
			(SELECT to_jsonb(p) FROM payments AS p WHERE p.business_id = @business_id AND p.subject_id = changed.id))`) + `
)
SELECT count(*) FROM changed`

// UpdateSessionBookings withdraws the bookings of a class session, or restores the bookings if the argument
// `withdrawn` is false. It returns the number of changed bookings. UpdateSessionBookings is idempotent.
func (s *Store) UpdateSessionBookings(ctx context.Context, businessID uuid.UUID, of BookedSession, withdrawn bool,
	now time.Time) (int, error) {
	total, change := 0, event.BookingRestored
	if withdrawn {
		change = event.BookingWithdrawn
	}
	for _, status := range []string{"confirmed", "pending"} {
		for n := updateBatch; n == updateBatch; total += n {
			err := s.pool.QueryRow(ctx, updateSessionSQL, eventlog.Add(ctx, pgx.NamedArgs{
				"business_id": businessID, "service_id": of.ServiceID.String(), "session_id": of.SessionID,
				"starts_at": of.StartsAt,
				"ends_at":   of.EndsAt, "local_start": of.LocalStart, "timezone": of.Timezone, "status": status,
				"withdrawn": withdrawn, "event_type": string(change),
				"limit": updateBatch, "now": now,
			}, now)).Scan(&n)
			if err != nil {
				return total, fmt.Errorf("update the bookings of a class session: %w", err)
			}
		}
	}
	return total, nil
}
