package console_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/passkey"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/secret"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
)

// decodeEvents counts the rows with `id` in the column `column` (business_id or person_id), for each table that has
// this column.
func decodeEvents(t *testing.T, w *consoletest.Fixture, column string, id uuid.UUID) map[string]int {
	t.Helper()
	found, err := w.Pool.Query(t.Context(), `SELECT table_name FROM information_schema.columns WHERE table_schema = current_schema() AND column_name = $1`, column)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := pgx.CollectRows(found, pgx.RowTo[string])
	if err != nil || len(tables) < 5 {
		t.Fatal(tables, err)
	}
	rows := map[string]int{}
	for _, table := range tables {
		var n int
		if err := w.Pool.QueryRow(t.Context(), "SELECT count(*) FROM "+pgx.Identifier{table}.Sanitize()+" WHERE "+
			column+" = $1", id).Scan(&n); err != nil {
			t.Fatal(err)
		}
		rows[table] = n
	}
	return rows
}

// fillAll writes at least one row of a business into each table. It returns a member of the business and their session.
func fillAll(t *testing.T, w *consoletest.Fixture, businessID uuid.UUID, email string) (uuid.UUID, string) {
	t.Helper()
	owner := access.Member{BusinessID: businessID, Role: access.Owner}
	session := w.AddSession(t, email, owner)
	person, err := w.Store.FindCredentialsByEmail(t.Context(), email)
	if err != nil {
		t.Fatal(err)
	}
	w.AddTokenCreatedBy(t, owner, person.ID)
	now := time.Now()
	sessions, err := w.Store.ListSessions(t.Context(), person.ID, now)
	if err != nil || len(sessions) == 0 {
		t.Fatal(err, sessions)
	}
	by := access.Principal{Kind: access.Person, ID: person.ID, Session: sessions[0].ID}
	_, hash := secret.New("")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(w.Store.AddPasskey(testkit.AsSystem(t), by, store.Passkey{Key: passkey.Key{ID: hash[:], PublicKey: hash[:],
		Transports: []string{}}, ID: uuid.New(), PersonID: person.ID, Name: "mine", CreatedAt: now}))
	must(w.Store.AddOwnChallenge(t.Context(), by, hash, []byte("{}"), now.Add(time.Hour)))
	must(w.Store.AddLink(t.Context(), store.Link{PersonID: person.ID, Purpose: store.PurposeSignIn,
		ExpiresAt: now.Add(time.Hour)}, hash))
	must(w.Store.AddDeviceLogin(t.Context(), store.DeviceLogin{UserCode: email, Client: "x", CreatedAt: now,
		ExpiresAt: now.Add(time.Hour)}, hash))
	must(w.Store.AnswerDeviceLogin(t.Context(), by, email, &owner, now))
	must(w.Store.RememberBrowser(t.Context(), hash, person.ID, sessions[0].ID, now))
	for _, sql := range []string{
		`INSERT INTO invitations (business_id, id, email, role, created_at, expires_at) VALUES ($1, $2, 'bo@example.com', 'desk', now(), now())`,
		`INSERT INTO refused_writes VALUES ($1, $2, now())`,
		`INSERT INTO made_writes VALUES ($1, $2, decode(repeat('00', 32), 'hex'), '{}', now())`,
	} {
		_, err := w.Pool.Exec(t.Context(), sql, businessID, uuid.New())
		must(err)
	}
	return person.ID, session
}

// TestEraseDeletesAllRowsOfBusiness shows that no table has rows of an erased business. It also fails if
// fillAll does not fill a table that was added later.
func TestEraseDeletesAllRowsOfBusiness(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	removed, other := uuid.New(), uuid.New()
	ana, anas := fillAll(t, w, removed, "ana@example.com")
	fillAll(t, w, other, "bo@example.com")
	both := w.AddSession(t, "both@example.com", access.Member{BusinessID: removed, Role: access.FrontDesk},
		access.Member{BusinessID: other, Role: access.FrontDesk})
	operator := w.AddSession(t, "op@example.com", access.Member{BusinessID: removed, Role: access.Owner},
		access.Member{Role: access.Operator})
	for _, rows := range []map[string]int{decodeEvents(t, w, "business_id", removed),
		decodeEvents(t, w, "person_id", ana)} {
		for table, n := range rows {
			if n == 0 {
				t.Errorf("the test writes nothing into %s", table)
			}
		}
	}
	before := decodeEvents(t, w, "business_id", other)
	for _, hasSome := range []bool{true, false} {
		if n, err := w.Store.Erase(t.Context(), []uuid.UUID{removed, uuid.New()}); err != nil || (n > 0) != hasSome {
			t.Fatalf("%d rows, %v", n, err)
		}
	}
	for _, rows := range []map[string]int{decodeEvents(t, w, "business_id", removed),
		decodeEvents(t, w, "person_id", ana)} {
		for table, n := range rows {
			if n != 0 {
				t.Errorf("%d rows stay in %s", n, table)
			}
		}
	}
	if diff := cmp.Diff(before, decodeEvents(t, w, "business_id", other)); diff != "" {
		t.Errorf("events of another business (-before +after):\n%s", diff)
	}
	if _, err := w.Store.FindCredentials(t.Context(), ana); err != store.ErrNotFound { //nolint:errorlint // it is that very one
		t.Errorf("a person who belonged only to the removed business: %v", err)
	}
	for session, isValid := range map[string]bool{anas: false, both: true, operator: true} {
		if got := getPage(t, w, "/account", session); (got.Status == 200) != isValid {
			t.Errorf("%d, want it to be good: %t", got.Status, isValid)
		}
	}
}
