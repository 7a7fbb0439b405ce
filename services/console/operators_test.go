package console_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/secret"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
)

// findOperatorID returns the id of the operator with this e-mail address.
func findOperatorID(t *testing.T, w *consoletest.Fixture, email string) string {
	t.Helper()
	for _, o := range field(t, w.Call(t, "GET", "/admin/operators", ""), "operators").([]any) {
		if found := o.(map[string]any); found["email"] == email {
			return found["id"].(string)
		}
	}
	t.Fatalf("%s is not an operator", email)
	return ""
}

func TestOperatorsListDemoteAndSignOut(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	harbor := publish(t, w)
	other := w.StartReplica(t)
	w.AddSession(t, "stays@example.com", access.Member{Role: access.Operator})
	for path, isOperator := range map[string]bool{"/sign-out": true, "": false} {
		email := uuid.NewString() + "@example.com"
		session := w.AddSession(t, email, access.Member{Role: access.Operator})
		id := findOperatorID(t, w, email)
		tokens := []string{
			w.AddTokenCreatedBy(t, access.Member{Role: access.Operator}, uuid.MustParse(id)),
			w.AddTokenCreatedBy(t, access.Member{BusinessID: harbor, Role: access.Owner}, uuid.MustParse(id)),
		}
		method := "DELETE"
		if path != "" {
			method = "POST"
		}
		for range 2 { // the second request repeats the first
			if got := w.Call(t, method, "/admin/operators/"+id+path, "", "Idempotency-Key",
				id+path); got.Status != 204 {
				t.Fatalf("%s: %d %s", path, got.Status, got.Body)
			}
		}
		for _, replica := range []*consoletest.Fixture{w, other} {
			if got := getPage(t, replica, "/account", session); got.Status != 303 {
				t.Errorf("%s: the session: %d", path, got.Status)
			}
			for _, token := range tokens {
				if got := replica.CallAs(t, token, "GET", harb, ""); got.Status != 401 {
					t.Errorf("%s: a token: %d", path, got.Status)
				}
			}
		}
		if list := w.Call(t, "GET", "/admin/operators", ""); strings.Contains(list.Body, email) != isOperator {
			t.Errorf("%s: %s", path, list.Body)
		}
	}
	expect(t, w.Call(t, "DELETE", "/admin/operators/"+uuid.NewString(), ""), 404, "not_found", "Operator")
}

func TestLastOperatorStays(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	w.AddSession(t, "ana@example.com", access.Member{Role: access.Operator})
	ana := "/admin/operators/" + findOperatorID(t, w, "ana@example.com")
	expect(t, w.Call(t, "DELETE", ana, ""), 409, "conflict", "last operator")
	for range 5 { // two operators are demoted at the same time; one stays
		w.AddSession(t, "ana@example.com", access.Member{Role: access.Operator})
		w.AddSession(t, "bo@example.com", access.Member{Role: access.Operator})
		paths := []string{ana, "/admin/operators/" + findOperatorID(t, w, "bo@example.com")}
		statuses := make([]int, len(paths))
		var all sync.WaitGroup
		for i, path := range paths {
			all.Go(func() { statuses[i] = w.Call(t, "DELETE", path, "").Status })
		}
		all.Wait()
		slices.Sort(statuses)
		if !slices.Equal(statuses, []int{204, 409}) {
			t.Errorf("%v", statuses)
		}
	}
}

// TestGroupOperatorsLapse shows that a person who is an operator through a group stays one for 12 hours after the last
// sign-in by the provider. Other sign-ins do not extend this time.
func TestGroupOperatorsLapse(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	now := time.Now().UTC().Truncate(time.Second)
	person, err := w.Store.AddPerson(t.Context(), consoletest.Operator, uuid.Nil,
		store.Person{ID: uuid.New(), Email: "ana@example.com", Name: "Ana", CreatedAt: now})
	if err != nil {
		t.Fatal(err)
	}
	yes := true
	signIn := func(at time.Time) [32]byte {
		t.Helper()
		_, hash := secret.New("")
		if err := w.Store.SignInVerified(t.Context(), &yes, store.Session{ID: uuid.New(), PersonID: person.ID,
			CreatedAt: at}, hash); err != nil {
			t.Fatal(err)
		}
		return hash
	}
	token := func(m access.Member, by uuid.UUID, at time.Time) (uuid.UUID, [32]byte) {
		t.Helper()
		clear, hash := secret.New(secret.TokenPrefix)
		token := store.Token{Member: m, ID: uuid.New(), Name: "n", Prefix: secret.DisplayPrefix(clear), CreatedBy: by,
			CreatedAt: at}
		if err := w.Store.AddToken(testkit.AsSystem(t), consoletest.Operator, token, hash); err != nil {
			t.Fatal(err)
		}
		return token.ID, hash
	}
	signIn(now)
	first, firstHash := token(access.Member{Role: access.Operator}, person.ID, now)
	_, child := token(access.Member{Role: access.Operator}, first, now)
	_, ofBusiness := token(access.Member{BusinessID: uuid.New(), Role: access.Owner}, person.ID, now)
	session := signIn(now.Add(8 * time.Hour)) // this sign-in extends the right
	good := func(after time.Duration, session [32]byte, want bool) {
		t.Helper()
		at := now.Add(after)
		for name, hash := range map[string][32]byte{"token": firstHash, "the token's token": child,
			"token of a business": ofBusiness} {
			if _, err := w.Store.FindTokenByHash(t.Context(), hash, at); (err == nil) != want {
				t.Errorf("after %s: %s: %v", after, name, err)
			}
		}
		if signed, err := w.Store.FindSessionByHash(t.Context(), session, at); (err == nil) != want || want &&
			!signed.Person.IsOperator {
			t.Errorf("after %s: the session: %v", after, err)
		}
	}
	good(13*time.Hour, session, true)
	good(20*time.Hour-time.Second, session, true)
	good(20*time.Hour, session, false)
	_, hash := secret.New("")
	if err := w.Store.SignInVerified(t.Context(), nil, store.Session{ID: uuid.New(), PersonID: person.ID,
		CreatedAt: now.Add(21 * time.Hour)}, hash); err != nil {
		t.Fatal(err)
	}
	if signed, err := w.Store.FindSessionByHash(t.Context(), hash, now.Add(21*time.Hour)); err != nil ||
		signed.Person.IsOperator {
		t.Errorf("a later sign-in that the group says nothing of: %v, operator %v", err, signed.Person.IsOperator)
	}
	again := signIn(now.Add(22 * time.Hour))
	if signed, err := w.Store.FindSessionByHash(t.Context(), again, now.Add(22*time.Hour)); err != nil ||
		!signed.Person.IsOperator {
		t.Errorf("a later sign-in by the group: %v", err)
	}
	if _, err := w.Store.FindTokenByHash(t.Context(), firstHash, now.Add(22*time.Hour)); err == nil {
		t.Error("an ended token is valid again")
	}
	if err := w.Store.Sweep(t.Context(), now.Add(35*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if list := w.Call(t, "GET", "/admin/operators", ""); strings.Contains(list.Body, "ana@") {
		t.Errorf("the sweep leaves an operator whose right lapsed: %s", list.Body)
	}
}
