package allinone

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/sethvargo/go-envconfig"

	"github.com/slotmesh/slotmesh/libs/testkit"
)

// listSales returns a line for each booking, reservation and ticket order of the demo business.
func listSales(t *testing.T, databaseURL string) []string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	rows, err := conn.Query(t.Context(), `
		SELECT concat_ws(' ', 'booking', customer_email, local_start, party_size, status) FROM booking.bookings
		UNION ALL SELECT concat_ws(' ', 'reservation', customer_email, start_date, start_minute, quantity) FROM rental.reservations
		UNION ALL SELECT concat_ws(' ', 'tickets', customer_name, event_id) FROM booking.tickets ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// newDemoSettings returns settings of a demo in an empty database. Its clock makes the month the same on every machine.
func newDemoSettings(t *testing.T) map[string]string {
	t.Helper()
	env := newStoreSettings(t)
	env["PORT"], env["ADMIN_PORT"], env["MAIL_PORT"], env["SLOTMESH_HOME"] = "0", "0", "0", t.TempDir()
	env["SLOTMESH_NOW"] = "2026-11-02T08:00:00Z"
	return env
}

// TestBookMonthContinuesAfterFailedStart shows that a start continues the demo month of an interrupted start. The
// bookings are the same as those of one complete start. A booking is made once even if the progress file does not count
// it.
func TestBookMonthContinuesAfterFailedStart(t *testing.T) {
	t.Parallel()
	whole, broken := newDemoSettings(t), newDemoSettings(t)
	runUntilGreeting(t, whole, func(string) {})
	broken["SLOTMESH_DEMO"] = "false"
	runUntilGreeting(t, broken, func(string) {}) // makes the tables
	delete(broken, "SLOTMESH_DEMO")
	database := broken["DATABASE_URL"]
	testkit.Administer(t, database, `CREATE FUNCTION break_off() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF (SELECT count(*) FROM booking.bookings) >= 4 THEN RAISE EXCEPTION 'broken off'; END IF; RETURN NEW; END $$;
		CREATE TRIGGER break_off BEFORE INSERT ON booking.bookings FOR EACH ROW EXECUTE FUNCTION break_off()`)
	err := runWithLongTimeouts(t.Context(), envconfig.MapLookuper(broken), io.Discard)
	if err == nil || !strings.Contains(err.Error(), "month cannot be booked") {
		t.Fatalf("the start did not break off: %v", err)
	}
	if n := len(listSales(t, database)); n != 4 { // the last is a seat of a class, which could be taken twice
		t.Fatalf("%d writes before it broke off", n)
	}
	testkit.Administer(t, database, "DROP FUNCTION break_off CASCADE")
	path := filepath.Join(broken["SLOTMESH_HOME"], demoMonthFile)
	undoProgress(t, path)
	runUntilGreeting(t, broken, func(string) {})
	want := listSales(t, whole["DATABASE_URL"])
	if diff := cmp.Diff(want, listSales(t, database)); diff != "" || len(want) < 40 {
		t.Errorf("the months of %d writes differ:\n%s", len(want), diff)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the month is not noted as made: %v", err)
	}
}

// TestBookMonthRetriesTimeouts shows that the demo month is complete even if some writes fail with a timeout.
func TestBookMonthRetriesTimeouts(t *testing.T) {
	t.Parallel()
	whole, slow := newDemoSettings(t), newDemoSettings(t)
	runUntilGreeting(t, whole, func(string) {})
	slow["SLOTMESH_DEMO"] = "false"
	runUntilGreeting(t, slow, func(string) {}) // makes the tables
	delete(slow, "SLOTMESH_DEMO")
	testkit.Administer(t, slow["DATABASE_URL"], `CREATE SEQUENCE tries;
		CREATE FUNCTION time_out() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF nextval('public.tries') % 9 = 4 THEN RAISE EXCEPTION USING ERRCODE = 'query_canceled', MESSAGE = 'canceling statement due to statement timeout'; END IF;
		RETURN NEW; END $$;
		CREATE TRIGGER time_out BEFORE INSERT ON booking.bookings FOR EACH ROW EXECUTE FUNCTION time_out()`)
	runUntilGreeting(t, slow, func(string) {})
	if diff := cmp.Diff(listSales(t, whole["DATABASE_URL"]), listSales(t, slow["DATABASE_URL"])); diff != "" {
		t.Errorf("the months differ:\n%s", diff)
	}
}

// undoProgress removes the last write from the progress file, as if the process had been killed between the write and
// the change of the file.
func undoProgress(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var progress demoProgress
	if err := json.Unmarshal(text, &progress); err != nil {
		t.Fatal(err)
	}
	progress.Written--
	if text, err = json.Marshal(progress); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
