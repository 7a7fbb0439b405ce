package store

import (
	"context"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/postgres"
)

// erasable is what is kept of businesses, table by table. Occupied time, seats and payments go with their bookings. A booking
// whose charge is not final stays until it is: no refund may be forgotten.
var erasable = []postgres.Erasable{
	{Table: "idempotency_records"}, {Table: "refused_writes"}, {Table: "made_writes"}, {Table: "api_keys"}, {Table: "calendar_feeds"},
	{Table: "tickets"}, {Table: "tier_sales"}, {Table: "event_sales"},
	{Table: "bookings", Where: `NOT EXISTS (SELECT FROM payments p WHERE p.business_id = t.business_id AND p.booking_id = t.id
		AND (p.status IN ('creating', 'open', 'cancelling') OR p.refund_status = 'pending'))`},
	{Table: "class_sessions"}, {Table: "events"},
}

// Erase deletes all that is kept of these businesses and returns how many rows that were, not counting those that go with
// others.
func (s *Store) Erase(ctx context.Context, businesses []uuid.UUID) (int64, error) {
	return postgres.Erase(ctx, s.pool, businesses, erasable...)
}
