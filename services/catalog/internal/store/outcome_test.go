package store_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/catalog/internal/store"
	"github.com/slotmesh/slotmesh/services/catalog/migrations"
)

func TestChangesReportTrueOutcomeAfterFailure(t *testing.T) {
	t.Parallel()
	pool := testkit.Postgres(t, "catalog", migrations.FS)
	s := store.New(pool)
	newest := func(t *testing.T, slug string, want int64) func() bool {
		return func() bool {
			head, err := s.ReadHead(actor.AsSystem(context.Background()), slug)
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				t.Error(err)
			}
			return head == want
		}
	}
	testkit.CheckLostWrites(t, pool, map[string]func(t *testing.T) testkit.LostWrite{
		"publish": func(t *testing.T) testkit.LostWrite {
			slug, c := testkit.Unique(), newContent(uuid.New(), "Harbor")
			return testkit.LostWrite{
				Do: func(ctx context.Context, p *pgxpool.Pool) error {
					_, err := store.New(p).Publish(ctx, slug, c, nil, false, noon)
					return err
				},
				Exists: newest(t, slug, 1),
			}
		},
		"roll back": func(t *testing.T) testkit.LostWrite {
			slug, c := testkit.Unique(), newContent(uuid.New(), "Harbor")
			publish(t, s, slug, c)
			return testkit.LostWrite{
				Do: func(ctx context.Context, p *pgxpool.Pool) error {
					_, err := store.New(p).Rollback(ctx, slug, 1, nil, false, noon)
					return err
				},
				Exists: newest(t, slug, 2),
			}
		},
		"remove": func(t *testing.T) testkit.LostWrite {
			slug, c := testkit.Unique(), newContent(uuid.New(), "Harbor")
			publish(t, s, slug, c)
			return testkit.LostWrite{
				Do: func(ctx context.Context, p *pgxpool.Pool) error {
					_, err := store.New(p).Remove(ctx, slug, c.BusinessID, noon)
					return err
				},
				Exists: newest(t, slug, 0),
			}
		},
	})
}
