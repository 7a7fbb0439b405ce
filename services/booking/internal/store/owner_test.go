package store_test

import (
	"context"
	"crypto/sha256"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

func TestOwnerWritesReportOutcomeAfterConnectionLoss(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	is := func(t *testing.T, sql string, args ...any) func() bool { return isOne(t, pool, sql, args...) }
	move := func(m state.TransitionName) func(t *testing.T) testkit.LostWrite {
		return func(t *testing.T) testkit.LostWrite {
			b := newBooking(uuid.New(), newPart(uuid.New(), 0, 0, 45))
			if err := s.Book(testkit.AsSystem(t), b); err != nil {
				t.Fatal(err)
			}
			if m == state.Complete || m == state.MarkNoShow {
				confirm, _ := state.FindTransition(state.Confirm)
				if _, err := s.ApplyTransition(testkit.AsSystem(t), b.BusinessID, b.ID, confirm, now); err != nil {
					t.Fatal(err)
				}
			}
			transition, _ := state.FindTransition(m)
			return testkit.LostWrite{
				Do: func(ctx context.Context, p *pgxpool.Pool) error {
					_, err := store.New(p).ApplyTransition(ctx, b.BusinessID, b.ID, transition, noon)
					return err
				},
				Exists: is(t, `SELECT count(*) FROM bookings WHERE id = $1 AND status = $2`, b.ID, transition.To),
			}
		}
	}
	testkit.CheckLostWrites(t, pool, map[string]func(t *testing.T) testkit.LostWrite{
		"confirm": move(state.Confirm), "cancel": move(state.Cancel), "complete": move(state.Complete),
		"no-show": move(state.MarkNoShow),
		"sell tickets": func(t *testing.T) testkit.LostWrite {
			order := newGala(10, 10).newOrder(0, 2)
			return testkit.LostWrite{
				Do: func(ctx context.Context, p *pgxpool.Pool) error {
					_, err := store.New(p).SellTicket(ctx, order)
					return err
				},
				Exists: is(t, `SELECT count(*) FROM tickets WHERE id = $1`, order.ID),
			}
		},
		"cancel tickets": func(t *testing.T) testkit.LostWrite {
			order := newGala(10, 10).newOrder(0, 2)
			if _, err := s.SellTicket(testkit.AsSystem(t), order); err != nil {
				t.Fatal(err)
			}
			return testkit.LostWrite{
				Do: func(ctx context.Context, p *pgxpool.Pool) error {
					_, err := store.New(p).CancelTicket(ctx, order.BusinessID, order.ID, now, noRefundPart)
					return err
				},
				Exists: is(t, `SELECT count(*) FROM tickets WHERE id = $1 AND status = 'cancelled'`, order.ID),
			}
		},
	})
}

func isOne(t *testing.T, pool *pgxpool.Pool, sql string, args ...any) func() bool {
	return func() bool { return mustCount(t, pool, sql, args...) == 1 }
}

func TestKeyWritesReportOutcomeAfterConnectionLoss(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	is := func(t *testing.T, sql string, args ...any) func() bool { return isOne(t, pool, sql, args...) }
	testkit.CheckLostWrites(t, pool, map[string]func(t *testing.T) testkit.LostWrite{
		"make a key": func(t *testing.T) testkit.LostWrite {
			key := store.Key{BusinessID: uuid.New(), ID: uuid.New(), Name: "site", Scope: "all", Prefix: "0",
				CreatedAt: now}
			return testkit.LostWrite{
				Do: func(ctx context.Context, p *pgxpool.Pool) error {
					return store.New(p).CreateKey(ctx, key, sha256.Sum256(key.ID[:]))
				},
				Exists: is(t, `SELECT count(*) FROM api_keys WHERE id = $1`, key.ID),
			}
		},
		"revoke a key": func(t *testing.T) testkit.LostWrite {
			business := uuid.New()
			key := createKey(t, s, business, testkit.Unique(), now)
			return testkit.LostWrite{
				Do: func(ctx context.Context, p *pgxpool.Pool) error {
					return store.New(p).RevokeKey(ctx, business, key.ID, now)
				},
				Exists: is(t, `SELECT count(*) FROM api_keys WHERE id = $1 AND revoked_at IS NOT NULL`, key.ID),
			}
		},
		"revoke all keys": func(t *testing.T) testkit.LostWrite {
			business := uuid.New()
			key := createKey(t, s, business, testkit.Unique(), now)
			return testkit.LostWrite{
				Do: func(ctx context.Context, p *pgxpool.Pool) error {
					return store.New(p).RevokeAllKeys(ctx, business, now)
				},
				Exists: is(t, `SELECT count(*) FROM api_keys WHERE id = $1 AND revoked_at IS NOT NULL`, key.ID),
			}
		},
	})
}

// withKey returns the context of a request with the Idempotency-Key `key` that arrived at the time `at`.
func withKey(t *testing.T, key string, at time.Time) context.Context {
	return clock.WithArrival(idempotency.With(testkit.AsSystem(t), idempotency.Request{Key: key}), at)
}

func TestSellRejectsHeldKey(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	order := newGala(10, 10).newOrder(0, 2)
	other, err := pool.Begin(testkit.AsSystem(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Exec(testkit.AsSystem(t), postgres.LockSQL, postgres.WriteID("owner", order.BusinessID.String(),
		"", "a")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.SellTicket(withKey(t, "a", now), order); !fault.Is(err, fault.IdempotencyInProgress) {
		t.Errorf("a sale while another request holds the idempotency lock: %v", err)
	}
	if err := other.Rollback(testkit.AsSystem(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.SellTicket(withKey(t, "a", now), order); err != nil {
		t.Errorf("a sale after the lock was released: %v", err)
	}
}

// TestDeleteIdempotencyResultKeepsNewerResult shows that DeleteIdempotencyResult removes only the result of the given
// order. Two retries find that the order was cancelled. The retry that removes the result late must not remove the
// result of the new order from the other retry.
func TestDeleteIdempotencyResultKeepsNewerResult(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	g, ctx := newGala(10, 10), withKey(t, "a", now)
	released, write := g.newOrder(0, 2), postgres.RequestWriteID(ctx, g.business)
	sell := func(order store.NewTicket) uuid.UUID {
		t.Helper()
		stored, err := s.SellTicket(ctx, order)
		if err != nil {
			t.Fatal(err)
		}
		return stored.ID
	}
	forget := func() {
		t.Helper()
		if err := s.DeleteIdempotencyResult(testkit.AsSystem(t), g.business, write, released.ID); err != nil {
			t.Fatal(err)
		}
	}
	sell(released)
	forget()
	anew := g.newOrder(0, 2)
	if got := sell(anew); got != anew.ID {
		t.Errorf("the request is answered with the deleted result sold as %s, want a new order", got)
	}
	forget()
	if got := sell(g.newOrder(0, 2)); got != anew.ID {
		t.Errorf("the key sells a second order %s", got)
	}
}

func TestRefusedKeyRefusesEarlierAttempts(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	order := newGala(10, 10).newOrder(0, 2)
	if answer, err := s.FindIdempotencyResult(withKey(t, "a", now.Add(time.Second)), order.BusinessID); answer != nil ||
		err != nil {
		t.Fatalf("%s, %v", answer, err)
	}
	if _, err := s.SellTicket(withKey(t, "a", now), order); !fault.Is(err, fault.IdempotencyInProgress) {
		t.Errorf("an attempt that began before: %v", err)
	}
	if n := mustCount(t, pool, `SELECT (SELECT count(*) FROM tickets) + (SELECT count(*) FROM event_sales)`); n != 0 {
		t.Errorf("the refused write stored %d rows", n)
	}
	if _, err := s.SellTicket(withKey(t, "a", now.Add(time.Minute)), order); err != nil {
		t.Errorf("an attempt that began later: %v", err)
	}
}
