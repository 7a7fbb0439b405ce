package consoletest

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/secret"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
)

func (w *Fixture) openStore(t *testing.T, cfg postgres.Config) {
	t.Helper()
	pool, err := postgres.Open(t.Context(), cfg, "console", telemetry.Discard())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	w.Store, w.Pool = store.New(pool, w.clock), pool
}

// Operator is the principal of the admin token that is set in the environment. Tests create and change people and
// tokens as this principal.
var Operator = access.Principal{Kind: access.Environment, IsOperator: true}

// AddToken creates a token of the admin API with the rights of a member, and returns the token in plain text.
func (w *Fixture) AddToken(t *testing.T, m access.Member) string {
	t.Helper()
	return w.addToken(t, m, uuid.Nil, nil)
}

// AddTokenUntil creates a token with the rights of an operator, and returns the token in plain text. The argument
// `expires` is the time at which the token expires.
func (w *Fixture) AddTokenUntil(t *testing.T, expires time.Time) string {
	t.Helper()
	return w.addToken(t, access.Member{Role: access.Operator}, uuid.Nil, &expires)
}

// AddTokenCreatedBy creates a token with the rights of a member, and returns the token in plain text. The argument
// `personID` is the id of the person who is recorded as the creator of the token.
func (w *Fixture) AddTokenCreatedBy(t *testing.T, m access.Member, personID uuid.UUID) string {
	t.Helper()
	return w.addToken(t, m, personID, nil)
}

func (w *Fixture) addToken(t *testing.T, m access.Member, by uuid.UUID, expires *time.Time) string {
	t.Helper()
	clear, hash := secret.New(secret.TokenPrefix)
	token := store.Token{Member: m, ID: uuid.New(), Name: string(m.Role), Prefix: secret.DisplayPrefix(clear),
		CreatedBy: by,
		CreatedAt: w.clock.Now(), ExpiresAt: expires}
	if err := w.Store.AddToken(testkit.AsSystem(t), Operator, token, hash); err != nil {
		t.Fatal(err)
	}
	return clear
}

// CallAs sends a request as [Fixture.Call] does, but with the argument `token` instead of the admin token.
func (w *Fixture) CallAs(t *testing.T, token, method, path, body string, header ...string) Answer {
	t.Helper()
	return w.Call(t, method, path, body, append([]string{"Authorization", "Bearer " + token}, header...)...)
}

// AddSession adds a person with the given memberships, signs the person in, and returns the secret of the session. Pass
// the secret to [FormatCookie].
func (w *Fixture) AddSession(t *testing.T, email string, members ...access.Member) string {
	t.Helper()
	return w.addSession(t, email, true, members)
}

// AddUnverifiedSession does the same as AddSession for a person whose address is not verified, because another person
// has passed on the link.
func (w *Fixture) AddUnverifiedSession(t *testing.T, email string, members ...access.Member) string {
	t.Helper()
	return w.addSession(t, email, false, members)
}

func (w *Fixture) addSession(t *testing.T, email string, verifies bool, members []access.Member) string {
	t.Helper()
	now := w.clock.Now()
	person, err := w.Store.AddPerson(t.Context(), Operator, uuid.Nil,
		store.Person{ID: uuid.New(), Email: email, Name: email, CreatedAt: now})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range members {
		if m.Role == access.Operator {
			if err := w.Store.MakeOperator(testkit.AsSystem(t), Operator, person.ID, now); err != nil {
				t.Fatal(err)
			}
			continue
		}
		joinsAtOnce := func(access.Principal, store.Person, []access.Member) bool { return false }
		if _, err := w.Store.Invite(testkit.AsSystem(t), Operator, person.ID, m, now, joinsAtOnce); err != nil {
			t.Fatal(err)
		}
	}
	_, link := secret.New("")
	if err := w.Store.AddLink(t.Context(), store.Link{PersonID: person.ID, Purpose: store.PurposeSignIn,
		Verifies: verifies, ExpiresAt: now.Add(time.Hour)}, link); err != nil {
		t.Fatal(err)
	}
	clear, hash := secret.New("")
	if _, err := w.Store.SignInByLink(t.Context(), link, store.Session{ID: uuid.New(), CreatedAt: now},
		hash); err != nil {
		t.Fatal(err)
	}
	return clear
}

// FormatCookie returns the headers that a browser with a session sends in its requests. The argument `session` is the
// secret of the session.
func FormatCookie(session string) []string {
	return []string{"Authorization", "", "Cookie", "slotmesh-session=" + session}
}
