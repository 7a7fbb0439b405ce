package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/testkit"
)

// countRows counts the rows of a business in each table, including the jobs of River.
func (w *fixture) countRows(business uuid.UUID) map[string]int {
	w.Helper()
	found, _ := w.pool.Query(testkit.AsSystem(w), `SELECT table_name FROM information_schema.columns WHERE table_schema = current_schema() AND column_name = 'business_id'`)
	tables, err := pgx.CollectRows(found, pgx.RowTo[string])
	if err != nil {
		w.Fatal(err)
	}
	counts := map[string]int{}
	count := func(table, sql string) {
		var n int
		if err := w.pool.QueryRow(testkit.AsSystem(w), `SELECT count(*) FROM `+sql+` = $1::uuid::text`,
			business).Scan(&n); err != nil {
			w.Fatal(err)
		}
		counts[table] = n
	}
	for _, table := range tables {
		count(table, pgx.Identifier{table}.Sanitize()+` WHERE business_id::text`)
	}
	count("river_job", `river_job WHERE args->>'business_id'`)
	return counts
}

// The test covers every table with a business_id: it fails for a new table that it does not fill or
// that Erase does not empty.
func TestEraseDeletesAllRowsOfBusiness(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	removed := w.business
	w.addCustomerData("Ada Lovelace", "ada.l@example.com", now)
	w.addBusiness()
	other := w.business
	w.addCustomerData("Bob", "bob@example.com", now)
	for _, business := range []uuid.UUID{removed, other} {
		for _, sql := range []string{
			`INSERT INTO refused_writes VALUES ($1, gen_random_uuid(), now())`,
			`INSERT INTO made_writes VALUES ($1, gen_random_uuid(), decode(repeat('00', 32), 'hex'), '{}', now())`,
			`INSERT INTO river_job (kind, max_attempts, args) VALUES ('send_message', 25, jsonb_build_object('business_id', $1::uuid))`,
			`INSERT INTO river_job (kind, max_attempts, args, state) VALUES ('send_message', 25, jsonb_build_object('business_id', $1::uuid), 'running')`,
		} {
			if _, err := w.pool.Exec(testkit.AsSystem(t), sql, business); err != nil {
				t.Fatal(err)
			}
		}
	}
	for table, n := range w.countRows(removed) {
		if n == 0 {
			t.Errorf("the test writes nothing into %s", table)
		}
	}
	countsBefore := w.countRows(other)
	erase := func(job int) {
		t.Helper()
		if _, err := w.store.Erase(testkit.AsSystem(t), []uuid.UUID{removed, uuid.New()}); err != nil {
			t.Fatal(err)
		}
		for table, n := range w.countRows(removed) {
			if table == "river_job" && n != job || table != "river_job" && n != 0 {
				t.Errorf("%d rows stay in %s", n, table)
			}
		}
	}
	erase(1) // a running job stays until it has ended
	if _, err := w.pool.Exec(testkit.AsSystem(t),
		`UPDATE river_job SET state = 'completed', finalized_at = now() WHERE state = 'running'`); err != nil {
		t.Fatal(err)
	}
	erase(0)
	if diff := cmp.Diff(countsBefore, w.countRows(other)); diff != "" {
		t.Errorf("rows of another business (-before +after):\n%s", diff)
	}
}
