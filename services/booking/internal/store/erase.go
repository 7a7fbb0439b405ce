package store

import (
	"context"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/postgres"
)

// chargeEnded says of a row t that its charge, if it has one, is final: until then it stays, so that no refund is forgotten.
const chargeEnded = `NOT EXISTS (SELECT FROM payments p WHERE p.business_id = t.business_id AND p.subject_id = t.id
		AND (p.status IN ('creating', 'open', 'cancelling') OR p.refund_status = 'pending'))`

// erasable is what is kept of businesses, table by table. Occupied time and seats go with their bookings, charges after what they are of.
var erasable = []postgres.Erasable{
	{Table: "idempotency_records"}, {Table: "refused_writes"}, {Table: "made_writes"}, {Table: "api_keys"}, {Table: "offer_versions"}, {Table: "calendar_feeds"}, {Table: "open_reservations"},
	{Table: "tickets", Where: chargeEnded}, {Table: "tier_sales"}, {Table: "event_sales"}, {Table: "bookings", Where: chargeEnded},
	{Table: "payments", Where: `NOT (t.status IN ('creating', 'open', 'cancelling') OR t.refund_status IS NOT DISTINCT FROM 'pending')`},
	{Table: "class_sessions"}, {Table: "events"},
}

// Erase deletes all that is kept of these businesses and returns how many rows that were, not counting those that go with
// others.
func (s *Store) Erase(ctx context.Context, businesses []uuid.UUID) (int64, error) {
	return postgres.Erase(ctx, s.pool, businesses, erasable...)
}
