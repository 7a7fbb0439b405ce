package store_test

import (
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

func TestBookRejectsOldOfferAndRevokedKey(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	business := uuid.New()
	key := createKey(t, s, business, "one", now)
	sell := func(version int64, apiKey uuid.UUID) (store.NewBooking, error) {
		b := newBooking(business, newPart(uuid.New(), 0, 0, 45))
		b.OfferVersion, b.APIKey = version, apiKey
		return b, s.Book(testkit.AsSystem(t), b)
	}
	expect := func(name string, got, want error) {
		t.Helper()
		if !errors.Is(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	sold, err := sell(2, key.ID)
	expect("before a version is stored", err, nil)
	for _, version := range []int64{3, 1} { // in any order
		expect("store a version", s.StorePublished(testkit.AsSystem(t), business, version), nil)
	}
	_, err = sell(2, key.ID)
	expect("by an older offer", err, store.ErrOfferChanged)
	later := newReschedule(sold, newBooking(business, newPart(uuid.New(), 0, 60, 105)), 1)
	later.OfferVersion = 2
	_, err = s.Reschedule(testkit.AsSystem(t), later)
	expect("moved by an older offer", err, store.ErrOfferChanged)
	_, err = sell(3, key.ID)
	expect("by the newest offer", err, nil)
	_, err = sell(4, uuid.Nil)
	expect("by a version that is not stored yet", err, nil)
	_, err = sell(3, uuid.New())
	expect("by an unknown key", err, store.ErrKeyRevoked)
	expect("revoked", s.RevokeKey(testkit.AsSystem(t), business, key.ID, now), nil)
	_, err = sell(3, key.ID)
	expect("by a revoked key", err, store.ErrKeyRevoked)
	if n := mustCount(t, pool, `SELECT count(*) FROM bookings`); n != 3 {
		t.Errorf("%d bookings, want 3", n)
	}
	checkWhole(t, pool, 1)
}

func TestSellTicketRejectsOldOffer(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	gala := newGala(100, 100)
	order := gala.newOrder(0, 2)
	order.OfferVersion = 3
	if err := s.StorePublished(testkit.AsSystem(t), gala.business, 4); err != nil {
		t.Fatal(err)
	}
	if _, err := s.SellTicket(testkit.AsSystem(t), order); !errors.Is(err, store.ErrOfferChanged) {
		t.Errorf("a sale by version 3 after version 4 was published: %v, want ErrOfferChanged", err)
	}
	order.OfferVersion = 4
	if _, err := s.SellTicket(testkit.AsSystem(t), order); err != nil {
		t.Errorf("a sale by the newest version: %v", err)
	}
	if n := mustCount(t, pool, `SELECT count(*) FROM tickets`); n != 1 {
		t.Errorf("%d orders, want 1", n)
	}
	checkCounters(t, pool)
}

// TestPublishAndRevokeWaitForSales shows that a publish or a revocation waits for sales that have
// passed may_sell and are not committed. Later sales wait for the publish or the revocation, and see its result.
func TestPublishAndRevokeWaitForSales(t *testing.T) {
	t.Parallel()
	for name, decide := range map[string]func(*testing.T, *store.Store, uuid.UUID) error{
		"publish": func(t *testing.T, s *store.Store, business uuid.UUID) error {
			return s.StorePublished(testkit.AsSystem(t), business, 9)
		},
		"revoke": func(t *testing.T, s *store.Store, business uuid.UUID) error {
			return s.RevokeAllKeys(testkit.AsSystem(t), business, now)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, pool := open(t)
			business := uuid.New()
			sale, err := pool.Begin(testkit.AsSystem(t))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := sale.Exec(testkit.AsSystem(t), `SELECT may_sell($1, 1, NULL)`, business); err != nil {
				t.Fatal(err)
			}
			decided := make(chan error, 1)
			go func() { decided <- decide(t, s, business) }()
			for waits := 0; waits == 0; {
				select {
				case err := <-decided:
					t.Fatalf("the sale did not wait for the lock of the offer: %v", err)
				default:
				}
				waits = locksAwaited(t, sale, business)
			}
			if err := sale.Commit(testkit.AsSystem(t)); err != nil {
				t.Fatal(err)
			}
			if err := <-decided; err != nil {
				t.Error(err)
			}
		})
	}
}

// locksAwaited returns how many transactions wait for the advisory lock for sales of the business.
func locksAwaited(t *testing.T, tx pgx.Tx, business uuid.UUID) int {
	t.Helper()
	var n int
	err := tx.QueryRow(testkit.AsSystem(t),
		`SELECT count(*) FROM pg_locks, hashtextextended('sells ' || $1::uuid::text, 0) AS key
		WHERE locktype = 'advisory' AND NOT granted AND (classid::bigint << 32 | objid::bigint) = key`, business).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
