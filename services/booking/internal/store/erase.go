package store

import (
	"context"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

// paymentEndedSQL is an SQL condition for a table row with the alias `t`: the row has no charge, or
// its charge is final. Rows with a charge that is not final must stay, so that no refund is lost.
const paymentEndedSQL = `NOT EXISTS (SELECT FROM payments p WHERE p.business_id = t.business_id AND p.subject_id = t.id
		AND (p.status IN ('creating', 'open', 'cancelling') OR p.refund_status = 'pending'))`

// erasable lists the tables with data of businesses, in the order of deletion. The tables of occupied time and seats
// are missing, because their rows are deleted with the bookings. Charges are deleted after the bookings and orders.
var erasable = []postgres.Erasable{
	{Table: "idempotency_records"}, {Table: "refused_writes"}, {Table: "made_writes"}, {Table: "api_keys"},
	{Table: "offer_versions"}, {Table: "calendar_feeds"}, {Table: "open_reservations"}, {Table: "customer_sign_ins"},
	{Table: "address_changes"}, {Table: "customer_merges"}, {Table: "customer_addresses"},
	{Table: "customer_records"}, {Table: "customer_imports"},
	{Table: "tickets", Where: paymentEndedSQL}, {Table: "tier_sales"}, {Table: "event_sales"},
	{Table: "bookings", Where: paymentEndedSQL},
	{Table: "payments",
		Where: `NOT (t.status IN ('creating', 'open', 'cancelling') OR t.refund_status IS NOT DISTINCT FROM 'pending')`},
	{Table: "class_sessions"}, {Table: "events"},
}

// Erase deletes all data of the given businesses, except rows whose charge is not final.
// It returns the number of deleted rows, without the rows that a foreign key deletes.
func (s *Store) Erase(ctx context.Context, businesses []uuid.UUID) (int64, error) {
	return postgres.Erase(ctx, s.pool, businesses, erasable...)
}
