package store_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
)

func TestTheOwnersWritesAreToldAsTheyAreWhateverBreaks(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	is := func(t *testing.T, id uuid.UUID, status state.State) func() bool {
		return func() bool {
			var n int
			err := pool.QueryRow(context.Background(), `SELECT count(*) FROM reservations WHERE id = $1 AND status = $2`, id, status).Scan(&n)
			if err != nil {
				t.Error(err)
			}
			return n == 1
		}
	}
	move := func(before []state.Move, m state.Move) func(t *testing.T) testkit.LostWrite {
		return func(t *testing.T) testkit.LostWrite {
			r := newReservation(uuid.New(), uuid.New(), 1, dates(today, today+1))
			mustReserve(t, s, r)
			for _, m := range before {
				transition, _ := state.Of(m)
				if _, err := s.Move(t.Context(), r.BusinessID, r.ID, transition, now); err != nil {
					t.Fatal(err)
				}
			}
			transition, _ := state.Of(m)
			return testkit.LostWrite{
				Do: func(ctx context.Context, p *pgxpool.Pool) error {
					_, err := store.New(p).Move(ctx, r.BusinessID, r.ID, transition, now)
					return err
				},
				Done: is(t, r.ID, transition.To),
			}
		}
	}
	testkit.CheckLostWrites(t, pool, map[string]func(t *testing.T) testkit.LostWrite{
		"pickup": move(nil, state.Pickup), "return": move([]state.Move{state.Pickup}, state.Return), "cancel": move(nil, state.Cancel),
		"reserve": func(t *testing.T) testkit.LostWrite {
			r := newReservation(uuid.New(), uuid.New(), 1, dates(today, today+1))
			return testkit.LostWrite{
				Do: func(ctx context.Context, p *pgxpool.Pool) error {
					_, err := store.New(p).Reserve(ctx, r, always)
					return err
				},
				Done: is(t, r.ID, state.Reserved),
			}
		},
	})
}
