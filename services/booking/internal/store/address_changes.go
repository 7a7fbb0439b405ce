package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
)

// keepAddressChanges is how long rows of address_changes stay after all customers have a message. It is longer than a
// request with an Idempotency-Key can be repeated.
const keepAddressChanges = 48 * time.Hour

// AddressChange identifies a place whose customers get a message about a new address.
type AddressChange struct {
	BusinessID uuid.UUID
	Version    int64
	LocationID uuid.UUID
}

// StoreAddressChanges stores that a version of the offer changed the address of places. It changes nothing if the same
// places are stored for the version already.
func (s *Store) StoreAddressChanges(ctx context.Context, businessID uuid.UUID, c booking.AddressChanges,
	now time.Time) error {
	ids, defaults, former := splitPlaces(c.Places)
	_, err := s.pool.Exec(ctx, `
		INSERT INTO address_changes (business_id, version, location_id, is_default, former_address, requested_at)
		SELECT $1, $2, place.id, place.is_default, place.former, $6
		FROM unnest($3::uuid[], $4::boolean[], $5::text[]) AS place (id, is_default, former)
		ON CONFLICT (business_id, version, location_id) DO NOTHING`,
		businessID, c.Version, ids, defaults, former, now)
	if err != nil {
		return fmt.Errorf("store changed addresses: %w", err)
	}
	return nil
}

// splitPlaces returns the ids of the places, whether each is the default, and the former addresses.
func splitPlaces(places []booking.AddressChange) ([]uuid.UUID, []bool, []string) {
	var (
		ids      []uuid.UUID
		defaults []bool
		former   []string
	)
	for _, p := range places {
		ids, defaults, former = append(ids, p.LocationID), append(defaults, p.IsDefault), append(former, p.FormerAddress)
	}
	return ids, defaults, former
}

// aheadSQL is the condition that a row of bookings is valid and begins after @now. The second line lets PostgreSQL use
// the index by local start, in every time zone.
const aheadSQL = `b.status = ANY(@states) AND NOT coalesce(b.withdrawn, false) AND b.sequence > 0 AND b.starts_at > @now::timestamptz
	  AND b.local_start > (@now::timestamptz AT TIME ZONE 'UTC') - interval '1 day'`

// CountRelocated returns the number of customers with an e-mail address and a future booking at one of the places.
func (s *Store) CountRelocated(ctx context.Context, businessID uuid.UUID, places []booking.AddressChange,
	now time.Time) (int, error) {
	ids, defaults, _ := splitPlaces(places)
	n, err := postgres.Row(ctx, s.pool, pgx.RowTo[int], "count customers at changed addresses", `
		SELECT count(DISTINCT b.customer_email) FILTER (WHERE b.customer_email <> '') FROM bookings AS b
		WHERE b.business_id = @business_id AND `+aheadSQL+`
		  AND (b.location->>'id' = ANY(@ids::uuid[]::text[]) OR b.location IS NULL AND true = ANY(@defaults::boolean[]))`,
		pgx.NamedArgs{"business_id": businessID, "ids": ids, "defaults": defaults, "now": now,
			"states": state.UpcomingStates()})
	return n, err
}

// PendingAddressChanges returns places whose customers do not all have a message yet, the oldest first.
func (s *Store) PendingAddressChanges(ctx context.Context, limit int) ([]AddressChange, error) {
	return postgres.Rows(ctx, s.pool, pgx.RowToStructByPos[AddressChange], "find changed addresses", `
		SELECT business_id, version, location_id FROM address_changes WHERE told_at IS NULL ORDER BY requested_at LIMIT $1`,
		limit)
}

// relocateSQL records an event for the next bookings at a place with a new address. It stores its progress by the id of
// the last booking, so that each booking has one event for each row of address_changes. Bookings that were made after
// the new version have no event: their first message has the new address.
//
// The place in "from" has the former address as its name, because both places have the same id.
var relocateSQL = `
WITH change AS MATERIALIZED (
    SELECT * FROM address_changes
    WHERE business_id = @business_id AND version = @version AND location_id = @location_id AND told_at IS NULL
    FOR UPDATE
), page AS MATERIALIZED (
    SELECT b.id FROM bookings AS b, change
    WHERE b.business_id = @business_id AND b.id > change.after_id AND b.created_at <= change.requested_at AND ` + aheadSQL + `
      AND (b.location->>'id' = @location_id::uuid::text OR b.location IS NULL AND change.is_default)
    ORDER BY b.id LIMIT @limit FOR UPDATE OF b
), moved AS (
    UPDATE bookings SET sequence = sequence + 1, updated_at = @now
    WHERE business_id = @business_id AND id IN (SELECT id FROM page)
    RETURNING *
), recorded AS (
    ` + eventlog.Record(event.Booking, event.BookingRelocated, "moved", eventDataSQL("moved")+` || jsonb_build_object(
        'from', jsonb_build_object('starts_at', starts_at, 'ends_at', ends_at, 'local_start', local_start, 'local_end', local_end,
            'staff_id', staff_id, 'staff_name', staff_name, 'class_schedule_id', class_schedule_id, 'location', jsonb_build_object(
                'id', @location_id::uuid, 'kind', 'place', 'name', (SELECT former_address FROM change))),
        'payment', (SELECT to_jsonb(p) FROM payments AS p WHERE p.business_id = @business_id AND p.subject_id = moved.id))`) + `
)
UPDATE address_changes
SET after_id = coalesce((SELECT id FROM page ORDER BY id DESC LIMIT 1), after_id),
    told_at = CASE WHEN (SELECT count(*) FROM page) < @limit THEN @now::timestamptz END
WHERE business_id = @business_id AND version = @version AND location_id = @location_id AND EXISTS (SELECT FROM change)
RETURNING (SELECT count(*) FROM page)`

// RecordAddressChange records an event for each future booking at the place, in transactions of [updateBatch] bookings.
// It returns the number of events. RecordAddressChange is idempotent.
func (s *Store) RecordAddressChange(ctx context.Context, c AddressChange, now time.Time) (int, error) {
	for total := 0; ; {
		pages, err := postgres.Rows(ctx, s.pool, pgx.RowTo[int], "record a changed address", relocateSQL,
			eventlog.Add(ctx, pgx.NamedArgs{"business_id": c.BusinessID, "version": c.Version,
				"location_id": c.LocationID, "limit": updateBatch, "now": now, "states": state.UpcomingStates()}, now))
		if err != nil || len(pages) == 0 { // without a page, another call has recorded all events
			return total, err
		}
		if total += pages[0]; pages[0] < updateBatch {
			return total, nil
		}
	}
}

// SweepAddressChanges deletes rows of address_changes whose customers have had their message for two days.
func (s *Store) SweepAddressChanges(ctx context.Context, now time.Time) error {
	if _, err := s.pool.Exec(ctx, `DELETE FROM address_changes WHERE told_at <= $1`, now.Add(-keepAddressChanges)); err != nil {
		return fmt.Errorf("delete changed addresses: %w", err)
	}
	return nil
}
