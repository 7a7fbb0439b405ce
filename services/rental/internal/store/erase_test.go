package store_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
)

// countRows returns the number of rows of a business in each table with a column business_id.
func countRows(t *testing.T, pool *pgxpool.Pool, business uuid.UUID) map[string]int {
	t.Helper()
	rows, err := pool.Query(testkit.AsSystem(t), `SELECT table_name FROM information_schema.columns
		WHERE table_schema = current_schema() AND column_name = 'business_id'`)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	occupied := map[string]int{}
	for _, table := range tables {
		var n int
		if err := pool.QueryRow(testkit.AsSystem(t), "SELECT count(*) FROM "+pgx.Identifier{table}.Sanitize()+
			" WHERE business_id = $1", business).Scan(&n); err != nil {
			t.Fatal(err)
		}
		occupied[table] = n
	}
	return occupied
}

// TestEraseLeavesNoRowsOfBusiness also covers tables that are added later. The test fails until it writes
// a row to such a table.
func TestEraseLeavesNoRowsOfBusiness(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	removed, other, kayak := uuid.New(), uuid.New(), uuid.New()
	for _, business := range []uuid.UUID{removed, other} {
		r := mustReserve(t, s, withExtra(newReservation(business, kayak, 1, dates(today, today+1)), uuid.New(), 1,
			true))
		_, err := s.PickUp(testkit.AsSystem(t), business, r.ID, now,
			func(store.Reservation, map[uuid.UUID]store.HandedOut) ([]store.Unit, error) {
				return []store.Unit{{RentalID: kayak, Key: "k1"}}, nil
			})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pool.Exec(testkit.AsSystem(t), `INSERT INTO refused_writes VALUES ($1, $2, now())`, business,
			uuid.New()); err != nil {
			t.Fatal(err)
		}
	}
	for table, n := range countRows(t, pool, removed) {
		if n == 0 {
			t.Errorf("the test writes nothing into %s", table)
		}
	}
	before := countRows(t, pool, other)
	if _, err := s.Erase(testkit.AsSystem(t), []uuid.UUID{removed, uuid.New()}); err != nil {
		t.Fatal(err)
	}
	for table, n := range countRows(t, pool, removed) {
		if n != 0 {
			t.Errorf("%d rows stay in %s", n, table)
		}
	}
	for table, n := range countRows(t, pool, other) {
		if n != before[table] {
			t.Errorf("another business had %d rows in %s, and has %d", before[table], table, n)
		}
	}
}
