package store_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/passkey"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/secret"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
	"github.com/slotmesh/slotmesh/services/console/migrations"
)

// account is a person with a session, who owns the business or is an operator.
type account struct {
	id, business uuid.UUID
	by           access.Principal // the person as the store returned them
}

// addOwner adds a person with a session. The person becomes an operator if `operates` is true, and otherwise the owner
// of a new business.
func addOwner(t *testing.T, s *store.Store, operates bool) account {
	t.Helper()
	now := clock.System().Now()
	a := account{business: uuid.New()}
	p, err := s.AddPerson(testkit.AsSystem(t), operator, uuid.Nil,
		store.Person{ID: uuid.New(), Email: testkit.Unique() + "@example.com", Name: "Ana", CreatedAt: now})
	if err != nil {
		t.Fatal(err)
	}
	a.id = p.ID
	if operates {
		err = s.MakeOperator(testkit.AsSystem(t), operator, a.id, time.Now())
	} else {
		err = addMember(t, s, operator, a.id, a.business)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, link := secret.New("")
	if err := s.AddLink(testkit.AsSystem(t), store.Link{PersonID: a.id, Purpose: store.PurposeSignIn, Verifies: true,
		ExpiresAt: now.Add(time.Hour)}, link); err != nil {
		t.Fatal(err)
	}
	_, hash := secret.New("")
	session := store.Session{ID: uuid.New(), CreatedAt: now}
	if _, err := s.SignInByLink(testkit.AsSystem(t), link, session, hash); err != nil {
		t.Fatal(err)
	}
	a.by, err = s.RefreshPrincipal(testkit.AsSystem(t), access.Principal{Kind: access.Person, ID: a.id,
		Session: session.ID})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// addMember makes a person an owner of a business.
func addMember(t *testing.T, s *store.Store, by access.Principal, person, business uuid.UUID) error {
	t.Helper()
	_, err := s.Invite(testkit.AsSystem(t), by, person, access.Member{BusinessID: business, Role: access.Owner},
		time.Now(), canJoinDirectly)
	return err
}

// writes has each method of the store that takes a principal, by the name of the method. Each function calls the method
// as the account, which owns a business or is an operator.
var writes = map[string]func(t *testing.T, s *store.Store, a account) error{
	"AddPerson": func(t *testing.T, s *store.Store, a account) error {
		_, err := s.AddPerson(testkit.AsSystem(t), a.by, a.business,
			store.Person{ID: uuid.New(), Email: testkit.Unique() + "@example.com", CreatedAt: time.Now()})
		return err
	},
	"Invite": func(t *testing.T, s *store.Store, a account) error {
		return addMember(t, s, a.by, addOwner(t, s, false).id, a.business)
	},
	"SetInvitationSecret": func(t *testing.T, s *store.Store, a account) error {
		_, hash := secret.New("")
		return ignoreError(s.SetInvitationSecret(testkit.AsSystem(t), a.by, a.business, uuid.New(), hash),
			store.ErrNotFound)
	},
	"WithdrawInvitation": func(t *testing.T, s *store.Store, a account) error {
		return s.WithdrawInvitation(testkit.AsSystem(t), a.by, a.business, uuid.New(), time.Now())
	},
	"DeclineInvitation": func(t *testing.T, s *store.Store, a account) error {
		return s.DeclineInvitation(testkit.AsSystem(t), a.by, uuid.New(), "ana@example.com", time.Now())
	},
	"AcceptOwnInvitation": func(t *testing.T, s *store.Store, a account) error {
		return ignoreError(s.AcceptOwnInvitation(testkit.AsSystem(t), a.by, uuid.New(), "ana@example.com", time.Now()),
			store.ErrNotFound)
	},
	"DemoteOperator": func(t *testing.T, s *store.Store, a account) error {
		return s.DemoteOperator(testkit.AsSystem(t), a.by, addOwner(t, s, true).id, time.Now())
	},
	"SignOutOperator": func(t *testing.T, s *store.Store, a account) error {
		return s.SignOutOperator(testkit.AsSystem(t), a.by, addOwner(t, s, true).id, time.Now())
	},
	"MakeOperator": func(t *testing.T, s *store.Store, a account) error {
		return s.MakeOperator(testkit.AsSystem(t), a.by, addOwner(t, s, false).id, time.Now())
	},
	"ChangeMember": func(t *testing.T, s *store.Store, a account) error {
		_, err := s.ChangeMember(testkit.AsSystem(t), a.by, addColleague(t, s, a),
			access.Member{BusinessID: a.business, Role: access.FrontDesk}, time.Now())
		return err
	},
	"RemoveMember": func(t *testing.T, s *store.Store, a account) error {
		return s.RemoveMember(testkit.AsSystem(t), a.by, a.business, addColleague(t, s, a), time.Now())
	},
	"AddInvitation": func(t *testing.T, s *store.Store, a account) error {
		_, hash := secret.New("")
		return s.AddInvitation(testkit.AsSystem(t), a.by, a.business,
			store.Link{PersonID: a.id, Purpose: store.PurposeSignIn, ExpiresAt: time.Now().Add(time.Hour)}, hash)
	},
	"AddSharedLink": func(t *testing.T, s *store.Store, a account) error {
		_, hash := secret.New("")
		err := s.AddSharedLink(t.Context(), a.by, a.business, store.Link{PersonID: a.id, Purpose: store.PurposeSignIn,
			ExpiresAt: time.Now().Add(time.Hour)}, hash)
		return ignoreError(err, store.ErrKnownElsewhere)
	},
	"AddToken": func(t *testing.T, s *store.Store, a account) error {
		clear, hash := secret.New(secret.TokenPrefix)
		return s.AddToken(testkit.AsSystem(t), a.by, store.Token{
			Member: access.Member{BusinessID: a.business, Role: access.Owner}, ID: uuid.New(), Name: "x",
			Prefix: secret.DisplayPrefix(clear), CreatedBy: a.id, CreatedAt: time.Now(),
		}, hash)
	},
	"RevokeToken": func(t *testing.T, s *store.Store, a account) error {
		return s.RevokeToken(testkit.AsSystem(t), a.by, a.business, addTokenOf(t, s, a, a.id), time.Now())
	},
	"RevokeTokensCreatedBy": func(t *testing.T, s *store.Store, a account) error {
		return s.RevokeTokensCreatedBy(testkit.AsSystem(t), a.by, a.business, a.id, time.Now())
	},
	"EndDevice": func(t *testing.T, s *store.Store, a account) error {
		return s.EndDevice(testkit.AsSystem(t), a.by, uuid.New(), time.Now())
	},
	"SetLanguage": func(t *testing.T, s *store.Store, a account) error {
		return s.SetLanguage(testkit.AsSystem(t), a.by, "pt")
	},
	"EndOwnSession": func(t *testing.T, s *store.Store, a account) error {
		return s.EndOwnSession(testkit.AsSystem(t), a.by, uuid.New())
	},
	"AddOwnChallenge": func(t *testing.T, s *store.Store, a account) error {
		_, hash := secret.New("")
		return s.AddOwnChallenge(testkit.AsSystem(t), a.by, hash, []byte("{}"), time.Now().Add(time.Hour))
	},
	"AddPasskey": func(t *testing.T, s *store.Store, a account) error {
		_, hash := secret.New("")
		key := passkey.Key{ID: hash[:], PublicKey: hash[:], Transports: []string{}}
		return s.AddPasskey(testkit.AsSystem(t), a.by, store.Passkey{Key: key, ID: uuid.New(), PersonID: a.id,
			Name: "mine", CreatedAt: time.Now()})
	},
	"RemovePasskey": func(t *testing.T, s *store.Store, a account) error {
		_, hash := secret.New("")
		err := s.RemovePasskey(testkit.AsSystem(t), a.by, uuid.New(), true,
			store.Session{ID: uuid.New(), PersonID: a.id, CreatedAt: time.Now()}, hash)
		return ignoreError(err, store.ErrNotFound)
	},
	"RemovePassword": func(t *testing.T, s *store.Store, a account) error {
		_, hash := secret.New("")
		err := s.RemovePassword(testkit.AsSystem(t), a.by, store.Session{ID: uuid.New(), PersonID: a.id,
			CreatedAt: time.Now()}, hash)
		return ignoreError(err, store.ErrLastCredential)
	},
	"ChangePassword": func(t *testing.T, s *store.Store, a account) error {
		_, hash := secret.New("")
		return s.ChangePassword(testkit.AsSystem(t), a.by, "", "a hash", store.Session{ID: uuid.New(), PersonID: a.id,
			CreatedAt: time.Now()}, hash)
	},
	"AnswerDeviceLogin": func(t *testing.T, s *store.Store, a account) error {
		err := s.AnswerDeviceLogin(testkit.AsSystem(t), a.by, "UNKNOWN", nil, time.Now())
		return ignoreError(err, store.ErrNotFound)
	},
	"BeginWrite": func(t *testing.T, s *store.Store, a account) error {
		_, id, err := s.BeginWrite(testkit.AsSystem(t), a.by, time.Hour)
		return errors.Join(err, s.EndWrite(context.Background(), id))
	},
	"AddOwner": func(t *testing.T, s *store.Store, a account) error {
		_, err := s.AddOwner(testkit.AsSystem(t), a.by, uuid.New(), 3, time.Now())
		return err
	},
	"DropOwner": func(t *testing.T, s *store.Store, a account) error {
		return s.DropOwner(testkit.AsSystem(t), a.by, a.business, time.Now())
	},
	"RefreshPrincipal": func(t *testing.T, s *store.Store, a account) error {
		_, err := s.RefreshPrincipal(testkit.AsSystem(t), a.by)
		return err
	},
}

// operatorMethods lists the methods that only an operator may call.
var operatorMethods = []string{"MakeOperator", "DemoteOperator", "SignOutOperator"}

// ignoreError returns `err`, or nil if it is the error `forgiven`, which does not concern rights.
func ignoreError(err, forgiven error) error {
	if errors.Is(err, forgiven) {
		return nil
	}
	return err
}

// addColleague adds a second owner to the account's business and returns the id of the new owner.
func addColleague(t *testing.T, s *store.Store, a account) uuid.UUID {
	t.Helper()
	other := addOwner(t, s, false)
	if err := addMember(t, s, operator, other.id, a.business); err != nil {
		t.Fatal(err)
	}
	return other.id
}

// addTokenOf adds an owner's token to the account's business, with the maker `maker`, and returns the token's id.
func addTokenOf(t *testing.T, s *store.Store, a account, maker uuid.UUID) uuid.UUID {
	t.Helper()
	clear, hash := secret.New(secret.TokenPrefix)
	token := store.Token{
		Member: access.Member{BusinessID: a.business, Role: access.Owner}, ID: uuid.New(), Name: "x",
		Prefix: secret.DisplayPrefix(clear), CreatedBy: maker, CreatedAt: time.Now(),
	}
	if err := s.AddToken(testkit.AsSystem(t), operator, token, hash); err != nil {
		t.Fatal(err)
	}
	return token.ID
}

// revocations has the ways in which a principal loses their rights, each with the errors that a later write may return.
var revocations = map[string]struct {
	revoke func(t *testing.T, pool *pgxpool.Pool, s *store.Store, a account) error
	errors []error
}{
	"idle for too long": {func(t *testing.T, pool *pgxpool.Pool, _ *store.Store, a account) error {
		_, err := pool.Exec(t.Context(), `UPDATE sessions SET last_seen_at = last_seen_at - $2::interval WHERE id = $1`,
			a.by.Session, store.MaxSessionIdle)
		return err
	}, []error{store.ErrRevoked}},
	"signed out": {func(t *testing.T, _ *pgxpool.Pool, s *store.Store, a account) error {
		return s.EndSession(testkit.AsSystem(t), a.id, a.by.Session)
	}, []error{store.ErrRevoked}},
	"password set by a link": {func(t *testing.T, _ *pgxpool.Pool, s *store.Store, a account) error {
		_, link := secret.New("")
		now := time.Now()
		if err := s.AddLink(testkit.AsSystem(t), store.Link{PersonID: a.id, Purpose: store.PurposePassword,
			Verifies:  true,
			ExpiresAt: now.Add(time.Hour)}, link); err != nil {
			return err
		}
		_, session := secret.New("")
		_, err := s.SetPasswordByLink(testkit.AsSystem(t), link, "a hash",
			store.Session{ID: uuid.New(), CreatedAt: now}, session)
		return err
	}, []error{store.ErrRevoked}},
	"made an operator": {func(t *testing.T, _ *pgxpool.Pool, s *store.Store, a account) error {
		return s.MakeOperator(testkit.AsSystem(t), operator, a.id, time.Now())
	}, []error{store.ErrRevoked}},
}

// TestStoreWritesCheckPrincipalAgain shows that each method of the store that takes a principal checks their rights
// again. A method without a row in `writes` fails the test.
func TestStoreWritesCheckPrincipalAgain(t *testing.T) {
	t.Parallel()
	methods, principal := reflect.TypeFor[*store.Store](), reflect.TypeFor[access.Principal]()
	for i := range methods.NumMethod() {
		m := methods.Method(i)
		takes := false
		for n := range m.Type.NumIn() {
			takes = takes || m.Type.In(n) == principal
		}
		if _, ok := writes[m.Name]; takes && !ok {
			t.Errorf("%s takes a principal and has no row in the table of writes", m.Name)
		}
	}
	pool := testkit.Postgres(t, "console", migrations.FS)
	s := store.New(pool, clock.System())
	for name, write := range writes {
		operates := slices.Contains(operatorMethods, name)
		if err := write(t, s, addOwner(t, s, operates)); err != nil {
			t.Errorf("%s by an authorized account: %v", name, err)
		}
		for how, way := range revocations {
			a := addOwner(t, s, operates)
			if err := way.revoke(t, pool, s, a); err != nil {
				t.Fatal(err)
			}
			if err := write(t, s, a); !slices.ContainsFunc(way.errors,
				func(want error) bool { return errors.Is(err, want) }) {
				t.Errorf("%s by an account after \"%s\": %v", name, how, err)
			}
		}
		if err := write(t, s, account{id: uuid.New(), business: uuid.New()}); !errors.Is(err, store.ErrRevoked) {
			t.Errorf("%s by no principal: %v", name, err)
		}
	}
}

// TestStoreWritesRejectExpiredPrincipal shows that a write refuses an expired session or token, even though its
// row is still stored.
func TestStoreWritesRejectExpiredPrincipal(t *testing.T) {
	t.Parallel()
	pool := testkit.Postgres(t, "console", migrations.FS)
	s, startTime := store.New(pool, clock.System()), time.Now()
	session := func(idle time.Duration) access.Principal {
		a := addOwner(t, s, false)
		if _, err := pool.Exec(t.Context(), `UPDATE sessions SET last_seen_at = $2 WHERE id = $1`, a.by.Session,
			startTime.Add(idle)); err != nil {
			t.Fatal(err)
		}
		return a.by
	}
	grouped := addGroupOperator(t, s, startTime)
	token := func(token store.Token) access.Principal {
		token.ID, token.Role, token.CreatedAt = uuid.New(), access.Operator, startTime
		clear, hash := secret.New(secret.TokenPrefix)
		token.Prefix = secret.DisplayPrefix(clear)
		if err := s.AddToken(testkit.AsSystem(t), operator, token, hash); err != nil {
			t.Fatal(err)
		}
		return access.Principal{Kind: access.Token, ID: token.ID}
	}
	expires := startTime.Add(time.Hour)
	for how, end := range map[string]struct {
		by    access.Principal
		after time.Duration
	}{
		"session idle":             {session(0), store.MaxSessionIdle},
		"session too old":          {session(store.MaxSessionAge), store.MaxSessionAge},
		"token expired":            {token(store.Token{ExpiresAt: &expires}), time.Hour},
		"program idle":             {token(store.Token{Device: "laptop"}), store.MaxDeviceIdle},
		"group operator's session": {grouped, store.GroupOperatorLifetime},
		"group operator's token":   {token(store.Token{CreatedBy: grouped.ID}), store.GroupOperatorLifetime},
		"token of an operator's token": {token(store.Token{CreatedBy: token(store.Token{CreatedBy: grouped.ID}).ID}),
			store.GroupOperatorLifetime},
	} {
		for after, isValid := range map[time.Duration]bool{end.after - time.Minute: true,
			end.after + time.Minute: false} {
			late := store.New(pool, clock.Fixed(startTime.Add(after)))
			_, current := late.RefreshPrincipal(t.Context(), end.by)
			own := late.SetLanguage(t.Context(), end.by, "pt")
			for _, err := range []error{current, own} {
				if isValid && err != nil || !isValid && !errors.Is(err, store.ErrRevoked) {
					t.Errorf("%s after %s: %v", how, after, err)
				}
			}
		}
	}
}

// addGroupOperator returns a person who becomes an operator at `at` through a group of the OpenID provider. The
// returned session begins an hour later, by a sign-in without the provider.
func addGroupOperator(t *testing.T, s *store.Store, at time.Time) access.Principal {
	t.Helper()
	p, err := s.AddUninvitedPerson(t.Context(), store.Person{ID: uuid.New(), Email: testkit.Unique() + "@example.com",
		CreatedAt: at})
	if err != nil {
		t.Fatal(err)
	}
	yes, of := true, store.Session{ID: uuid.New(), PersonID: p.ID, CreatedAt: at.Add(time.Hour)}
	for _, seen := range []store.Session{{ID: uuid.New(), PersonID: p.ID, CreatedAt: at}, of} {
		_, hash := secret.New("")
		operator := &yes
		if seen.ID == of.ID {
			operator = nil // a sign-in without the provider, which confirms no group
		}
		if err := s.SignInVerified(t.Context(), operator, seen, hash); err != nil {
			t.Fatal(err)
		}
	}
	return access.Principal{Kind: access.Person, ID: p.ID, Session: of.ID}
}

// TestRevocationWaitsForWriteInItsTransaction shows that a revocation waits for a write that has already checked the
// rights of its principal. A later write of that principal is refused.
func TestRevocationWaitsForWriteInItsTransaction(t *testing.T) {
	t.Parallel()
	pool := testkit.Postgres(t, "console", migrations.FS)
	s := store.New(pool, clock.System())
	a := addOwner(t, s, false)
	token := addTokenOf(t, s, a, uuid.Nil)
	by, err := s.RefreshPrincipal(testkit.AsSystem(t), access.Principal{Kind: access.Token, ID: token})
	if err != nil {
		t.Fatal(err)
	}
	invited, ended := addOwner(t, s, false).id, make(chan error, 1)
	_, err = s.Invite(testkit.AsSystem(t), by, invited, access.Member{BusinessID: a.business, Role: access.FrontDesk},
		time.Now(),
		func(access.Principal, store.Person, []access.Member) bool {
			go func() {
				ended <- s.RevokeToken(actor.AsSystem(context.Background()), operator, a.business, token, time.Now())
			}()
			if err := awaitBlocked(pool); err != nil {
				t.Error(err)
			}
			return false
		})
	if err != nil {
		t.Fatalf("the write that was first: %v", err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if err := addMember(t, s, by, addOwner(t, s, false).id, a.business); !errors.Is(err, store.ErrRevoked) {
		t.Errorf("the write after the revocation: %v", err)
	}
}

// awaitBlocked waits until a database connection of this test waits for an advisory lock.
func awaitBlocked(pool *pgxpool.Pool) error {
	for late := time.Now().Add(testkit.MaxWait); time.Now().Before(late); {
		var waits bool
		err := pool.QueryRow(context.Background(), `
			SELECT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = current_setting('application_name') AND wait_event = 'advisory')`).Scan(&waits)
		if err != nil || waits {
			return err
		}
	}
	return errors.New("the revocation does not wait")
}

// awaitRevoked waits until a principal has no rights.
func awaitRevoked(t *testing.T, s *store.Store, by access.Principal) {
	t.Helper()
	for late := time.Now().Add(testkit.MaxWait); ; {
		_, err := s.RefreshPrincipal(testkit.AsSystem(t), by)
		if errors.Is(err, store.ErrRevoked) {
			return
		}
		if err != nil || time.Now().After(late) {
			t.Fatalf("the principal is not revoked: %v", err)
		}
	}
}

// TestRevocationWaitsForUnfinishedWrites shows that a revocation takes effect at once, but returns only when the
// writes of the revoked token have ended.
func TestRevocationWaitsForUnfinishedWrites(t *testing.T) {
	t.Parallel()
	s := store.New(testkit.Postgres(t, "console", migrations.FS), clock.System())
	a := addOwner(t, s, false)
	root := addTokenOf(t, s, a, uuid.Nil)
	child := addTokenOf(t, s, a, root)
	_, write, err := s.BeginWrite(testkit.AsSystem(t), access.Principal{Kind: access.Token, ID: child}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- s.RevokeToken(actor.AsSystem(context.Background()), operator, a.business, root, time.Now())
	}()
	awaitRevoked(t, s, access.Principal{Kind: access.Token, ID: child})
	select {
	case err := <-ended:
		t.Fatalf("the revocation was answered before the write had ended: %v", err)
	default:
	}
	if err := s.EndWrite(testkit.AsSystem(t), write); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestRevocationReportsUnknownOutcomeOfUnfinishedWrite shows that a revocation waits for an unfinished write only as
// long as its own request lasts. It then returns a fault with code outcome_unknown.
func TestRevocationReportsUnknownOutcomeOfUnfinishedWrite(t *testing.T) {
	t.Parallel()
	s := store.New(testkit.Postgres(t, "console", migrations.FS), clock.System())
	a := addOwner(t, s, false)
	if _, _, err := s.BeginWrite(testkit.AsSystem(t), a.by, time.Hour); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(testkit.AsSystem(t))
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- s.EndSession(ctx, a.id, a.by.Session) }()
	awaitRevoked(t, s, a.by)
	cancel()
	if err := <-ended; !fault.Is(err, fault.OutcomeUnknown) {
		t.Errorf("got %v", err)
	}
	if _, err := s.RefreshPrincipal(testkit.AsSystem(t), a.by); !errors.Is(err, store.ErrRevoked) {
		t.Errorf("the session afterwards: %v", err)
	}
	if _, _, err := s.BeginWrite(testkit.AsSystem(t), a.by, 0); !errors.Is(err, store.ErrRevoked) {
		t.Errorf("another write: %v", err)
	}
	if err := s.EndSession(testkit.AsSystem(t), addOwner(t, s, false).id, uuid.New()); err != nil {
		t.Errorf("another person ends the session: %v", err)
	}
}
