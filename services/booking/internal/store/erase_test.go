package store_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/testkit"
)

// fill writes a row into every table for a business. It writes two rows into the tables from which the first Erase
// removes only one row.
const fill = `
WITH b AS (INSERT INTO bookings (business_id, id, status, starts_at, ends_at, local_start, local_end, services, party_size, total,
        currency, first_booking, source, customer_name, customer_email, form_data, locale, offer_version, created_at, updated_at)
    SELECT $1, id, 'confirmed', '2027-06-01T12:00Z', '2027-06-01T13:00Z', '2027-06-01T12:00', '2027-06-01T13:00', '[{}]', 1, 0,
        'EUR', false, 'api', 'Zoë', id::text, '{}', 'en', 1, now(), now()
    FROM (VALUES ($2::uuid), ($3)) AS ids (id)),
 o AS (INSERT INTO occupied_time (business_id, booking_id, part, resource_id, lane, during, holder)
    SELECT $1, id, 0, id, 0, '[2027-06-01T12:00Z, 2027-06-01T13:00Z)', id FROM (VALUES ($2::uuid), ($3)) AS ids (id)),
 h AS (INSERT INTO past_occupied_time VALUES ($1, $2, 0, $2, 0, '[2027-06-01T12:00Z, 2027-06-01T13:00Z)', $2)),
 p AS (INSERT INTO payments (business_id, subject_kind, subject_id, status, provider, account, amount, currency, cancellation_policy, refund_number,
        refund_amount, refund_percent, refund_status, due_at, created_at, updated_at)
    SELECT $1, 'booking', id, 'paid', 'stripe', 'acct', 5, 'EUR', '{}', number, 5, 100, status, now(), now(), now()
    FROM (VALUES ($2::uuid, 0, NULL), ($3, 1, 'pending')) AS ids (id, number, status)),
 s AS (INSERT INTO class_seats VALUES ($1, $2, '2027-06-01T12:00Z', $2, 1)),
 c AS (INSERT INTO class_sessions VALUES ($1, '2027-06-01T12:00Z', $2, 1)),
 t AS (INSERT INTO tickets (business_id, id, status, event_id, event_name, tiers, local_start, starts_at, ends_at, quantity, currency, customer_name, locale, offer_version, created_at)
    VALUES ($1, $2, 'sold', $2, 'Gala', '[{}]', '2027-06-01T12:00', '2027-06-01T12:00Z', '2027-06-01T13:00Z', 1, 'EUR', 'Zoë', 'en', 1, now())),
 e AS (INSERT INTO event_sales VALUES ($1, $2, 1)),
 r AS (INSERT INTO refused_writes VALUES ($1, $2, now())),
 m AS (INSERT INTO made_writes VALUES ($1, $2, decode(repeat('00', 32), 'hex'), '{}', now())),
 v AS (INSERT INTO events (business_id, subject_id, sequence, subject_kind, type, at, actor_kind, data)
    VALUES ($1, $2, 1, 'ticket', 'ticket.sold', now(), 'owner', '{}')),
 f AS (INSERT INTO tier_sales VALUES ($1, $2, $2, 1)),
 q AS (INSERT INTO offer_versions VALUES ($1, 1)),
 cr AS (INSERT INTO customer_records VALUES ($1, $2, 'Zoë', '', '', '{}', NULL, now(), now())),
 ca AS (INSERT INTO customer_addresses VALUES ($1, 'zoe@example.com', $2, 'zoe@example.com')),
 cm AS (INSERT INTO customer_merges VALUES ($1, $2, $2, '{}', '{}', now())),
 ci AS (INSERT INTO customer_imports VALUES ($1, $2, now(), 1)),
 ac AS (INSERT INTO address_changes VALUES ($1, 1, $2, false, 'Kai 1', now())),
 ro AS (INSERT INTO open_reservations VALUES ($1, $2, 'zoe@example.com', now())),
 si AS (INSERT INTO customer_sign_ins VALUES ($1, $2, 'zoe@example.com', 'en', decode(repeat('00', 32), 'hex'), NULL, now())),
 l AS (INSERT INTO calendar_feeds VALUES ($1, $2, decode(repeat('00', 32), 'hex'), NULL, 'times', now())),
 k AS (INSERT INTO api_keys (business_id, id, name, scope, hash, prefix, created_at) VALUES ($1, $2, 'site', 'all', decode(repeat('00', 32), 'hex'), '0', now()))
INSERT INTO idempotency_records (business_id, principal, idempotency_key, request_hash, token, claimed_until, expires_at)
    SELECT $1, 'page:', n::text, decode(repeat('00', 32), 'hex'), $2, now(), now() FROM generate_series(1, 2500) n`

// rows returns the number of rows of the business in each table with a column business_id.
func rows(t *testing.T, pool *pgxpool.Pool, business uuid.UUID) map[string]int {
	t.Helper()
	counts, err := pool.Query(testkit.AsSystem(t), `SELECT table_name FROM information_schema.columns
		WHERE table_schema = current_schema() AND column_name = 'business_id'`)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := pgx.CollectRows(counts, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	occupied := map[string]int{}
	for _, table := range tables {
		occupied[table] = mustCount(t, pool, "SELECT count(*) FROM "+pgx.Identifier{table}.Sanitize()+
			" WHERE business_id = $1",
			business)
	}
	return occupied
}

// TestEraseLeavesNoRowsOfBusiness shows that Erase removes the rows of a business from every table, and
// no row of another business. Rows with a pending refund stay until the refund is made. The test fails for a new table
// that `fill` does not fill or Erase does not empty.
func TestEraseLeavesNoRowsOfBusiness(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	removed, other, done, refunding := uuid.New(), uuid.New(), uuid.New(), uuid.New()
	for _, business := range []uuid.UUID{removed, other} {
		if _, err := pool.Exec(testkit.AsSystem(t), fill, business, done, refunding); err != nil {
			t.Fatal(err)
		}
	}
	for table, n := range rows(t, pool, removed) {
		if n == 0 {
			t.Errorf("the test writes nothing into %s", table)
		}
	}
	before := rows(t, pool, other)
	if _, err := s.Erase(testkit.AsSystem(t), []uuid.UUID{removed, uuid.New()}); err != nil {
		t.Fatal(err)
	}
	waiting := map[string]int{"bookings": 1, "occupied_time": 1, "payments": 1} // the refund is not made yet
	for table, n := range rows(t, pool, removed) {
		if n != waiting[table] {
			t.Errorf("%d rows stay in %s", n, table)
		}
	}
	if _, err := pool.Exec(testkit.AsSystem(t), `UPDATE payments SET refund_status = 'refunded' WHERE business_id = $1`,
		removed); err != nil {
		t.Fatal(err)
	}
	// The two rows are the booking and its payment.
	if n, err := s.Erase(testkit.AsSystem(t), []uuid.UUID{removed}); err != nil || n != 2 {
		t.Fatalf("%d rows, %v", n, err)
	}
	for table, n := range rows(t, pool, removed) {
		if n != 0 {
			t.Errorf("%d rows stay in %s for good", n, table)
		}
	}
	for table, n := range rows(t, pool, other) {
		if n != before[table] {
			t.Errorf("another business had %d rows in %s, and has %d", before[table], table, n)
		}
	}
}
