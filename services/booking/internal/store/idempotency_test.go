package store_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

const (
	keep     = 24 * time.Hour
	deadline = 15 * time.Second
)

var bodyHash, otherHash = sha256.Sum256([]byte("body")), sha256.Sum256([]byte("another body"))

// newKey returns the write of a request with an idempotency key, which began at the time `now`.
func newKey() postgres.Write {
	return postgres.Write{Business: uuid.New(), ID: uuid.New(), StartTime: now}
}

func newLockRequest(key postgres.Write, hash [32]byte, at time.Time) postgres.LockRequest {
	return postgres.LockRequest{Write: key, Hash: hash, Now: at, Duration: deadline}
}

// acquire requests the idempotency lock at the time `at`; the lock expires after `deadline`.
func acquire(t *testing.T, s *store.Store, key postgres.Write, hash [32]byte, at time.Time) store.LockResult {
	t.Helper()
	result, err := s.AcquireLock(testkit.AsSystem(t), newLockRequest(key, hash, at))
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func mustAcquire(t *testing.T, s *store.Store, key postgres.Write, hash [32]byte, at time.Time) *postgres.Lock {
	t.Helper()
	result := acquire(t, s, key, hash, at)
	if result.Lock == nil {
		t.Fatalf("the key is held: %+v", result)
	}
	return result.Lock
}

// setConfirmation returns a booking whose write stores its answer under the lock.
func setConfirmation(c *postgres.Lock) store.NewBooking {
	b := newBooking(c.Business, newPart(uuid.New(), 0, 0, 45))
	b.Lock = c
	return b
}

func TestConfirmationIsKeptForOneDay(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	key := newKey()
	booked := setConfirmation(mustAcquire(t, s, key, bodyHash, now))
	want := store.Confirmation{Details: booked.Details, IsRepeated: true}
	if err := s.Book(testkit.AsSystem(t), booked); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		hash [32]byte
		at   time.Time
		same bool
	}{
		{"at once", bodyHash, now, true},
		{"long after the lock expired", bodyHash, now.Add(time.Hour), true},
		{"just within the day", bodyHash, now.Add(keep - time.Second), true},
		{"with another body", otherHash, now, false},
	} {
		record := acquire(t, s, key, c.hash, c.at)
		if record.Lock != nil || record.IsSameRequest != c.same || record.Confirmation == nil ||
			!cmp.Equal(*record.Confirmation,
				want) {
			t.Errorf("%s: lock %v, same request %t, confirmation %+v", c.name, record.Lock, record.IsSameRequest,
				record.Confirmation)
		}
	}
	if got, err := s.FindConfirmation(testkit.AsSystem(t), newLockRequest(key, bodyHash, now)); err != nil ||
		!cmp.Equal(got, want) {
		t.Errorf("the stored confirmation is %+v, %v", got, err)
	}
	if _, err := s.FindConfirmation(testkit.AsSystem(t),
		newLockRequest(key, otherHash, now)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("another body's answer: %v", err)
	}
	if _, err := s.FindConfirmation(testkit.AsSystem(t),
		newLockRequest(key, bodyHash, now.Add(keep))); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a day after: %v", err)
	}
	mustAcquire(t, s, key, otherHash, now.Add(keep))
}

// TestDeleteOldWritesFollowsClockOfService shows that the clock of a demo, which is years behind the database, decides
// when a confirmation is old.
func TestDeleteOldWritesFollowsClockOfService(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	key, past := newKey(), now.AddDate(-20, 0, 0)
	booked := setConfirmation(mustAcquire(t, s, key, bodyHash, past))
	if err := s.Book(testkit.AsSystem(t), booked); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		age    time.Duration
		isKept bool
	}{{keep - time.Second, true}, {keep, false}} {
		if err := postgres.DeleteOldWrites(t.Context(), pool, past.Add(c.age)); err != nil {
			t.Fatal(err)
		}
		_, err := s.FindConfirmation(testkit.AsSystem(t), newLockRequest(key, bodyHash, past))
		if isKept := !errors.Is(err, store.ErrNotFound); isKept != c.isKept {
			t.Errorf("after %v, the confirmation is kept: %t, want %t", c.age, isKept, c.isKept)
		}
	}
}

func TestLockIsHeldUntilDeadline(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	key := newKey()
	first := mustAcquire(t, s, key, bodyHash, now)
	if record := acquire(t, s, key, bodyHash, now.Add(deadline-time.Second)); !record.IsSameRequest ||
		record.Confirmation != nil {
		t.Errorf("within the deadline it is not in flight: %+v", record)
	}
	if record := acquire(t, s, key, otherHash, now); record.IsSameRequest {
		t.Error("another body passes for the same")
	}
	second := mustAcquire(t, s, key, bodyHash, now.Add(deadline)) // the first lock has expired
	if err := s.Book(testkit.AsSystem(t), setConfirmation(first)); !errors.Is(err, store.ErrLockLost) {
		t.Errorf("a request that lost its lock books: %v", err)
	}
	if n := mustCount(t, pool,
		`SELECT (SELECT count(*) FROM bookings) + (SELECT count(*) FROM occupied_time)`); n != 0 {
		t.Errorf("the refused write stored %d rows", n)
	}
	if err := s.ReleaseLock(testkit.AsSystem(t), *first); err != nil {
		t.Fatal(err)
	}
	if err := s.Book(testkit.AsSystem(t), setConfirmation(second)); err != nil {
		t.Errorf("the request that took over the lock: %v", err)
	}
}

func TestReleasedLockCanBeAcquired(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	key := newKey()
	if err := s.ReleaseLock(testkit.AsSystem(t), *mustAcquire(t, s, key, bodyHash, now)); err != nil {
		t.Fatal(err)
	}
	mustAcquire(t, s, key, otherHash, now)
}

func TestLostRaceKeepsLock(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	key := newKey()
	c := mustAcquire(t, s, key, bodyHash, now)
	b := setConfirmation(c)
	if err := s.Book(testkit.AsSystem(t), newBooking(key.Business, b.Parts...)); err != nil {
		t.Fatal(err)
	}
	if err := s.Book(testkit.AsSystem(t), b); !errors.Is(err, store.ErrOccupied) {
		t.Fatalf("got %v, want ErrOccupied", err)
	}
	if record := acquire(t, s, key, bodyHash, now); record.Confirmation != nil || !record.IsSameRequest {
		t.Errorf("the record is %+v", record)
	}
	b.Parts[0] = newPart(uuid.New(), 0, 0, 45)
	if err := s.Book(testkit.AsSystem(t), b); err != nil {
		t.Errorf("the next assignment: %v", err)
	}
}

func TestConcurrentAcquireGivesOneLock(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	key := newKey()
	var (
		wg    sync.WaitGroup
		locks = make([]*postgres.Lock, 40)
		errs  = make([]error, len(locks))
	)
	for i := range locks {
		wg.Go(func() {
			record, err := s.AcquireLock(actor.AsSystem(context.Background()), newLockRequest(key, bodyHash, now))
			locks[i], errs[i] = record.Lock, err
			if locks[i] == nil && (!record.IsSameRequest || record.Confirmation != nil) {
				t.Errorf("a request that lost the race gets %+v", record)
			}
		})
	}
	wg.Wait()
	occupied := 0
	for i, c := range locks {
		if errs[i] != nil {
			t.Error(errs[i])
		}
		if c != nil {
			occupied++
		}
	}
	if occupied != 1 {
		t.Errorf("%d hold the key", occupied)
	}
}
