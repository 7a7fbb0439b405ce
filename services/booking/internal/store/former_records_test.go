package store_test

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
	"github.com/slotmesh/slotmesh/services/booking/migrations"
)

// formerKey is an idempotency key with which the previous release and this release make the same write.
type formerKey struct {
	t        *testing.T
	pool     *pgxpool.Pool
	business uuid.UUID
}

func (k formerKey) write() postgres.Write {
	return postgres.Write{Business: k.business, ID: postgres.WriteID("book", k.business.String(), "page:", "ü"),
		StartTime: now}
}

// exec runs a statement of the previous release with the key, and returns the number of changed rows.
func (k formerKey) exec(sql string, args ...any) (int64, error) {
	k.t.Helper()
	tag, err := k.pool.Exec(testkit.AsSystem(k.t), sql, append([]any{k.business, "page:", "ü"}, args...)...)
	return tag.RowsAffected(), err
}

// acquire requests the lock as the previous release does, and reports whether it was acquired.
func (k formerKey) acquire(token uuid.UUID, hash [sha256.Size]byte, at time.Time) bool {
	k.t.Helper()
	n, err := k.exec(`
INSERT INTO idempotency_records AS r
    (business_id, principal, idempotency_key, request_hash, token, claimed_until, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (business_id, principal, idempotency_key) DO UPDATE
    SET request_hash = excluded.request_hash, token = excluded.token, claimed_until = excluded.claimed_until,
        expires_at = excluded.expires_at, confirmation = NULL
    WHERE r.expires_at <= $8 OR (r.confirmation IS NULL AND r.claimed_until <= $8)`, hash[:], token, at.Add(deadline),
		at.Add(keep), at)
	if err != nil {
		k.t.Fatal(err)
	}
	return n == 1
}

// confirm stores a confirmation as the previous release does.
func (k formerKey) confirm(token uuid.UUID) error {
	_, err := k.exec(`UPDATE idempotency_records SET confirmation = '{"PartySize": 7}'
WHERE business_id = $1 AND principal = $2 AND idempotency_key = $3 AND token = $4`, token)
	return err
}

// release deletes the record as the previous release does.
func (k formerKey) release(token uuid.UUID) {
	k.t.Helper()
	if _, err := k.exec(`DELETE FROM idempotency_records
WHERE business_id = $1 AND principal = $2 AND idempotency_key = $3 AND token = $4 AND confirmation IS NULL`,
		token); err != nil {
		k.t.Fatal(err)
	}
}

// TestPreviousReleaseSharesIdempotencyKeys shows that a key books once while processes of both releases run.
func TestPreviousReleaseSharesIdempotencyKeys(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	token, later := uuid.New(), now.Add(deadline)
	for name, do := range map[string]func(formerKey){
		"the former lock counts": func(k formerKey) {
			k.acquire(token, bodyHash, now)
			if r := acquire(t, s, k.write(), bodyHash, now); r.Lock != nil || !r.IsSameRequest || r.Confirmation != nil {
				t.Errorf("got %+v", r)
			}
			k.release(token)
			mustAcquire(t, s, k.write(), bodyHash, now)
		},
		"the former confirmation counts": func(k formerKey) {
			k.acquire(token, bodyHash, now)
			if err := k.confirm(token); err != nil {
				t.Error(err)
			}
			if r := acquire(t, s, k.write(), bodyHash, later); r.Confirmation == nil || r.Confirmation.PartySize != 7 {
				t.Errorf("got %+v", r)
			}
			if k.acquire(uuid.New(), bodyHash, later) {
				t.Error("the previous release acquires the lock again")
			}
			if err := s.SweepFormerRecords(testkit.AsSystem(t), now.Add(keep)); err != nil {
				t.Error(err)
			}
			if n := mustCount(t, pool, `SELECT (SELECT count(*) FROM idempotency_records WHERE business_id = $1) +
				(SELECT count(*) FROM made_writes WHERE business_id = $1)`, k.business); n != 0 {
				t.Errorf("%d rows are left after a day", n)
			}
		},
		"a lock acquired after the former one expired": func(k formerKey) {
			k.acquire(token, bodyHash, now)
			mustAcquire(t, s, k.write(), bodyHash, later)
			if err := k.confirm(token); err == nil {
				t.Error("the previous release books after it has lost its lock")
			}
			k.release(token)
			if r := acquire(t, s, k.write(), bodyHash, later); r.Lock != nil {
				t.Error("the release of the former lock releases the new one")
			}
		},
		"the lock counts for the previous release": func(k formerKey) {
			lock := mustAcquire(t, s, k.write(), bodyHash, now)
			if k.acquire(token, bodyHash, now) {
				t.Error("the previous release acquires a lock that is not free")
			}
			if err := s.Book(testkit.AsSystem(t), setConfirmation(lock)); err != nil {
				t.Error(err)
			}
			if k.acquire(token, bodyHash, later) || !k.acquire(token, otherHash, now.Add(keep)) {
				t.Error("the confirmation does not count for a day")
			}
		},
	} {
		t.Run(name, func(*testing.T) { do(formerKey{t: t, pool: pool, business: uuid.New()}) })
	}
}

// newFormerSchema returns a new schema with the migrations whose names are less than `end`.
func newFormerSchema(t *testing.T, end string) (postgres.Config, *pgxpool.Pool) {
	t.Helper()
	cfg := testkit.PostgresSchema(t, "booking")
	if err := postgres.Migrate(t.Context(), cfg, "booking", listMigrations(t, end)); err != nil {
		t.Fatal(err)
	}
	pool, err := postgres.Open(t.Context(), cfg, "booking", telemetry.Discard())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return cfg, pool
}

// listMigrations returns the migrations whose names are less than `end`.
func listMigrations(t *testing.T, end string) fs.FS {
	t.Helper()
	former := fstest.MapFS{}
	names, err := fs.Glob(migrations.FS, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if text, err := fs.ReadFile(migrations.FS, name); name < end && err == nil {
			former[name] = &fstest.MapFile{Data: text}
		}
	}
	return former
}

// TestMigrationCopiesIdempotencyRecords shows that confirmations from before the migrations, and from
// between them, count after them.
func TestMigrationCopiesIdempotencyRecords(t *testing.T) {
	t.Parallel()
	for _, confirmedBefore := range []string{"00014", "00015"} {
		cfg, pool := newFormerSchema(t, "00014")
		k, token := formerKey{t: t, pool: pool, business: uuid.New()}, uuid.New()
		k.acquire(token, bodyHash, now)
		err := postgres.Migrate(t.Context(), cfg, "booking", listMigrations(t, confirmedBefore))
		err = errors.Join(err, k.confirm(token), postgres.Migrate(t.Context(), cfg, "booking", migrations.FS))
		if err != nil {
			t.Fatal(err)
		}
		if r := acquire(t, store.New(pool), k.write(), bodyHash, now); r.Confirmation == nil ||
			r.Confirmation.PartySize != 7 {
			t.Errorf("confirmed before %s: got %+v", confirmedBefore, r)
		}
	}
}

// TestMigrationDoesNotScanBookings shows that the constraint of the new column does not check the rows from before,
// because this would lock the table.
func TestMigrationDoesNotScanBookings(t *testing.T) {
	t.Parallel()
	_, pool := open(t)
	if n := mustCount(t, pool, `SELECT count(*) FROM pg_constraint WHERE conrelid = 'bookings'::regclass
		AND conname = 'bookings_customer_address_check' AND NOT convalidated`); n != 1 {
		t.Error("the constraint of customer_address scans the table")
	}
}
