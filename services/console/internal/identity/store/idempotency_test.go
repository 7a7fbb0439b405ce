package store_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/secret"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
	"github.com/slotmesh/slotmesh/services/console/migrations"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

// operator is the principal of a request with the admin token of the environment.
var operator = access.Principal{Kind: access.Environment, IsOperator: true}

func canJoinDirectly(access.Principal, store.Person, []access.Member) bool { return false }

func TestTeamWritesReportOutcomeIfConnectionBreaks(t *testing.T) {
	t.Parallel()
	pool := testkit.Postgres(t, "console", migrations.FS)
	s, now := store.New(pool, clock.System()), clock.System().Now()
	person := func(t *testing.T) uuid.UUID {
		p, err := s.AddPerson(testkit.AsSystem(t), operator, uuid.Nil,
			store.Person{ID: uuid.New(), Email: testkit.Unique() + "@example.com", Name: "Ana", CreatedAt: now})
		if err != nil {
			t.Fatal(err)
		}
		return p.ID
	}
	member := func(t *testing.T, m access.Member) uuid.UUID {
		id := person(t)
		if _, err := s.Invite(testkit.AsSystem(t), operator, id, m, now, canJoinDirectly); err != nil {
			t.Fatal(err)
		}
		return id
	}
	there := func(t *testing.T, query string, args ...any) func() bool {
		return func() bool {
			var is bool
			if err := pool.QueryRow(actor.AsSystem(context.Background()), "SELECT EXISTS ("+query+")",
				args...).Scan(&is); err != nil {
				t.Error(err)
			}
			return is
		}
	}
	desk := func() access.Member { return access.Member{BusinessID: uuid.New(), Role: access.FrontDesk} }
	testkit.CheckLostWrites(t, pool, map[string]func(t *testing.T) testkit.LostWrite{
		"add a member": func(t *testing.T) testkit.LostWrite {
			m, id := desk(), person(t)
			return testkit.LostWrite{
				Do: func(ctx context.Context, p *pgxpool.Pool) error {
					_, err := store.New(p, clock.System()).Invite(ctx, operator, id, m, now, canJoinDirectly)
					return err
				},
				Exists: there(t, `SELECT FROM members WHERE person_id = $1`, id),
			}
		},
		"invite": func(t *testing.T) testkit.LostWrite {
			m, id := desk(), person(t)
			return testkit.LostWrite{
				Do: func(ctx context.Context, p *pgxpool.Pool) error {
					_, err := store.New(p, clock.System()).Invite(ctx, operator, id, m, now,
						func(access.Principal, store.Person, []access.Member) bool {
							return true
						})
					return err
				},
				Exists: there(t, `SELECT FROM invitations WHERE business_id = $1`, m.BusinessID),
			}
		},
		"change a member": func(t *testing.T) testkit.LostWrite {
			m := desk()
			id := member(t, m)
			m.Role = access.Viewer
			return testkit.LostWrite{
				Do: func(ctx context.Context, p *pgxpool.Pool) error {
					_, err := store.New(p, clock.System()).ChangeMember(ctx, operator, id, m, now)
					return err
				},
				Exists: there(t, `SELECT FROM members WHERE person_id = $1 AND role = 'viewer'`, id),
			}
		},
		"remove a member": func(t *testing.T) testkit.LostWrite {
			m := desk()
			id := member(t, m)
			is := there(t, `SELECT FROM members WHERE person_id = $1`, id)
			return testkit.LostWrite{
				Do: func(ctx context.Context, p *pgxpool.Pool) error {
					return store.New(p, clock.System()).RemoveMember(ctx, operator, m.BusinessID, id, now)
				},
				Exists: func() bool { return !is() },
			}
		},
		"make an operator": func(t *testing.T) testkit.LostWrite {
			id := person(t)
			return testkit.LostWrite{
				Do: func(ctx context.Context, p *pgxpool.Pool) error {
					return store.New(p, clock.System()).MakeOperator(ctx, operator, id, now)
				},
				Exists: there(t, `SELECT FROM people WHERE id = $1 AND operator`, id),
			}
		},
		"revoke a token": func(t *testing.T) testkit.LostWrite {
			clear, hash := secret.New(secret.TokenPrefix)
			token := store.Token{Member: desk(), ID: uuid.New(), Name: "site", Prefix: secret.DisplayPrefix(clear),
				CreatedAt: now}
			if err := s.AddToken(testkit.AsSystem(t), operator, token, hash); err != nil {
				t.Fatal(err)
			}
			return testkit.LostWrite{
				Do: func(ctx context.Context, p *pgxpool.Pool) error {
					return store.New(p, clock.System()).RevokeToken(ctx, operator, token.BusinessID, token.ID, now)
				},
				Exists: there(t, `SELECT FROM tokens WHERE id = $1 AND revoked_at IS NOT NULL`, token.ID),
			}
		},
	})
}
