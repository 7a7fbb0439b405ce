package store_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
)

func TestOwnerWritesReportOutcomeAfterConnectionLoss(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	is := func(t *testing.T, id uuid.UUID, status state.State) func() bool {
		return func() bool {
			var n int
			err := pool.QueryRow(actor.AsSystem(context.Background()),
				`SELECT count(*) FROM reservations WHERE id = $1 AND status = $2`, id, status).Scan(&n)
			if err != nil {
				t.Error(err)
			}
			return n == 1
		}
	}
	move := func(before []state.TransitionName, m state.TransitionName) func(t *testing.T) testkit.LostWrite {
		return func(t *testing.T) testkit.LostWrite {
			r := newReservation(uuid.New(), uuid.New(), 1, dates(today, today+1))
			mustReserve(t, s, r)
			for _, m := range before {
				transition, _ := state.FindTransition(m)
				if _, err := s.ApplyTransition(testkit.AsSystem(t), r.BusinessID, r.ID, transition, now); err != nil {
					t.Fatal(err)
				}
			}
			transition, _ := state.FindTransition(m)
			return testkit.LostWrite{
				Do: func(ctx context.Context, p *pgxpool.Pool) error {
					_, err := store.New(p).ApplyTransition(ctx, r.BusinessID, r.ID, transition, now)
					return err
				},
				Exists: is(t, r.ID, transition.To),
			}
		}
	}
	testkit.CheckLostWrites(t, pool, map[string]func(t *testing.T) testkit.LostWrite{
		"pickup": move(nil, state.Pickup), "return": move([]state.TransitionName{state.Pickup}, state.Return),
		"cancel": move(nil, state.Cancel),
		"reserve": func(t *testing.T) testkit.LostWrite {
			r := newReservation(uuid.New(), uuid.New(), 1, dates(today, today+1))
			return testkit.LostWrite{
				Do: func(ctx context.Context, p *pgxpool.Pool) error {
					_, err := store.New(p).Reserve(ctx, r, alwaysFits)
					return err
				},
				Exists: is(t, r.ID, state.Reserved),
			}
		},
	})
}

// TestDeleteIdempotencyResultKeepsNewerResult simulates two retries of a reservation that was taken back.
// The slower retry must not remove the result that the other retry has stored.
func TestDeleteIdempotencyResultKeepsNewerResult(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	ctx := clock.WithArrival(idempotency.With(testkit.AsSystem(t), idempotency.Request{Key: "a"}), now)
	business, kayak := uuid.New(), uuid.New()
	another := func() store.NewReservation { return newReservation(business, kayak, 1, dates(today, today+1)) }
	reserve := func(r store.NewReservation) uuid.UUID {
		t.Helper()
		reservation, err := s.Reserve(ctx, r, alwaysFits)
		if err != nil {
			t.Fatal(err)
		}
		return reservation.ID
	}
	released, anew := another(), another()
	forget := func() {
		t.Helper()
		if err := s.DeleteIdempotencyResult(testkit.AsSystem(t), business, postgres.RequestWriteID(ctx, business),
			released.ID); err != nil {
			t.Fatal(err)
		}
	}
	reserve(released)
	forget()
	if got := reserve(anew); got != anew.ID {
		t.Errorf("the request is answered with the deleted result reserved as %s, want a new reservation", got)
	}
	forget()
	if got := reserve(another()); got != anew.ID {
		t.Errorf("the key makes a second reservation %s", got)
	}
}
