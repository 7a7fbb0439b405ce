package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// newMarkedBooking returns a booking and its customer's name, which is unique: it marks the message that writes the
// booking.
func newMarkedBooking(business uuid.UUID) (store.NewBooking, string) {
	b := newBooking(business, newPart(uuid.New(), 0, 0, 45))
	b.Customer.Name = "customer " + testkit.Unique()
	return b, b.Customer.Name
}

// writeWithFailure calls the write from the argument `prepare` while `conns` does `failure` to the write's message, and
// returns the write's error.
//
// With `isUnreachable`, or with the failure HoldMessage, the write fails only at its deadline. The first deadline is
// short. If the message was not sent by then, or a lookup did not finish, writeWithFailure prepares another write with
// twice the time. So a slow machine does not fail the test.
func writeWithFailure(t *testing.T, conns *testkit.FaultyConns, failure testkit.Failure, isUnreachable bool,
	prepare func() (marker string, write func(context.Context) error)) error {
	t.Helper()
	within := testkit.MaxWait // if no message hangs
	if isUnreachable || failure == testkit.HoldMessage {
		within = 2 * time.Second
	}
	for ; ; within *= 2 {
		marker, write := prepare()
		matched := conns.Break(marker, failure, isUnreachable)
		ctx, cancel := context.WithTimeout(testkit.AsSystem(t), within)
		err := write(ctx)
		cancel()
		sent := false
		select {
		case <-matched:
			sent = true
		default:
		}
		switch {
		case sent && (isUnreachable || !fault.Is(err, fault.OutcomeUnknown)):
			return err
		case within >= testkit.MaxWait:
			t.Fatalf("the message was sent: %t; in the end: %v", sent, err)
		}
		conns.Release()
	}
}

// bookWithFailure is [writeWithFailure] for a booking that it makes; it returns the booking of the last attempt, too.
func bookWithFailure(t *testing.T, s *store.Store, conns *testkit.FaultyConns, failure testkit.Failure,
	isUnreachable bool) (store.NewBooking, error) {
	t.Helper()
	var b store.NewBooking
	err := writeWithFailure(t, conns, failure, isUnreachable, func() (string, func(context.Context) error) {
		var marker string
		b, marker = newMarkedBooking(uuid.New())
		return marker, func(ctx context.Context) error { return s.Book(ctx, b) }
	})
	return b, err
}

const readRows = `SELECT count(*) FROM bookings WHERE id = $1`

func TestBookFindsResultAfterLostAnswer(t *testing.T) {
	t.Parallel()
	_, pool := open(t)
	wired, conns := testkit.OpenFaultyPool(t, pool)
	b, err := bookWithFailure(t, store.New(wired), conns, testkit.DropAnswer, false)
	if err != nil {
		t.Errorf("a booking that is written: %v", err)
	}
	if n := mustCount(t, pool, readRows, b.ID); n != 1 {
		t.Errorf("%d bookings", n)
	}
}

func TestLostBookIsRefused(t *testing.T) {
	t.Parallel()
	for name, failure := range map[string]testkit.Failure{"broken": testkit.BreakBefore,
		"sent, never there": testkit.DropMessage, "held": testkit.HoldMessage} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, pool := open(t)
			wired, conns := testkit.OpenFaultyPool(t, pool)
			b, err := bookWithFailure(t, store.New(wired), conns, failure, false)
			if err == nil || fault.Is(err, fault.OutcomeUnknown) {
				t.Errorf("a booking that did not arrive: %v", err)
			}
			conns.Release() // the statement arrives late
			if n := mustCount(t, pool, readRows, b.ID); n != 0 {
				t.Errorf("%d bookings after a definite refusal", n)
			}
			checkWhole(t, pool, 1)
		})
	}
}

func TestUnreachableDatabaseGivesUnknownOutcome(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		failure testkit.Failure
		rows    int
	}{"answer lost": {testkit.DropAnswer, 1}, "never there": {testkit.DropMessage, 0},
		"held": {testkit.HoldMessage, 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, pool := open(t)
			wired, conns := testkit.OpenFaultyPool(t, pool)
			b, err := bookWithFailure(t, store.New(wired), conns, c.failure, true)
			if !fault.Is(err, fault.OutcomeUnknown) {
				t.Errorf("got %v", err)
			}
			conns.Restore()
			conns.Release()
			if n := mustCount(t, pool, readRows, b.ID); n != c.rows {
				t.Errorf("%d bookings, want %d", n, c.rows)
			}
		})
	}
}

// TestOpenPaymentIsFoundOrRefused loses the answer to the statement that stores an open payment. The
// lookup finds the stored payment, or refuses the write for good. If the lookup fails, too, the outcome is unknown.
func TestOpenPaymentIsFoundOrRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		failure testkit.Failure
		dark    bool
		unknown bool
		status  string
	}{
		"answer lost":          {testkit.DropAnswer, false, false, store.PaymentOpen},
		"broken":               {testkit.BreakBefore, false, false, store.PaymentCreating},
		"sent, never there":    {testkit.DropMessage, false, false, store.PaymentCreating},
		"held":                 {testkit.HoldMessage, false, false, store.PaymentCreating},
		"answer lost, and all": {testkit.DropAnswer, true, true, store.PaymentOpen},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, pool := open(t)
			wired, conns := testkit.OpenFaultyPool(t, pool)
			var b store.NewBooking
			err := writeWithFailure(t, conns, c.failure, c.dark, func() (string, func(context.Context) error) {
				b = newBooking(uuid.New(), newPart(uuid.New(), 0, 0, 45))
				b.Payment = &store.NewPayment{Provider: "stripe", Account: "acct_1", Amount: 4000,
					DueAt: now.Add(time.Minute)}
				mustBook(t, s, b)
				reference := "pi_" + testkit.Unique()
				return reference, func(ctx context.Context) error {
					return store.New(wired).OpenPayment(ctx, store.OpenPayment{
						BusinessID: b.BusinessID, DueAt: now.Add(time.Hour), Write: b.WriteIdentity(), Now: now,
						Confirmation: store.Confirmation{Details: b.Details,
							Payment: &store.PaymentDetails{Provider: "stripe", Amount: 4000, Reference: reference}},
					})
				}
			})
			if fault.Is(err, fault.OutcomeUnknown) != c.unknown || !c.unknown &&
				(err == nil) != (c.status == store.PaymentOpen) {
				t.Errorf("got %v", err)
			}
			conns.Restore()
			conns.Release() // the statement arrives late
			if n := mustCount(t, pool, `SELECT count(*) FROM payments WHERE subject_id = $1 AND status = $2`, b.ID,
				c.status); n != 1 {
				t.Errorf("the charge is not %s", c.status)
			}
		})
	}
}

// TestRefuseStopsEarlierAttempts shows the order of attempts under one idempotency key. The
// first attempt hangs, the second is refused, and then the statement of the first arrives and must not book
// (semantics.md §3).
func TestRefuseStopsEarlierAttempts(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	key := newKey()
	second := mustAcquire(t, s, key, bodyHash, now)
	second.StartTime = now.Add(time.Second)
	if err := s.Refuse(testkit.AsSystem(t), *second); err != nil {
		t.Fatal(err)
	}
	attempt := func(startedAt time.Time) error {
		b := setConfirmation(mustAcquire(t, s, key, bodyHash, now.Add(time.Hour)))
		b.Lock.StartTime = startedAt
		err := s.Book(testkit.AsSystem(t), b)
		if err != nil {
			if released := s.ReleaseLock(testkit.AsSystem(t), *b.Lock); released != nil {
				t.Error(released)
			}
		}
		return err
	}
	if err := attempt(now); !errors.Is(err, postgres.ErrRefused) {
		t.Errorf("an attempt that began before the one that was refused: %v", err)
	}
	if n := mustCount(t, pool,
		`SELECT (SELECT count(*) FROM bookings) + (SELECT count(*) FROM occupied_time)`); n != 0 {
		t.Errorf("the failed write stored %d rows", n)
	}
	if err := attempt(now.Add(2 * time.Second)); err != nil {
		t.Errorf("an attempt that began later: %v", err)
	}
}

func TestRefusedKeyWithoutLockRefusesEarlierAttempts(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	key := newKey()
	later := key
	later.StartTime = now.Add(time.Second)
	if _, err := s.FindConfirmation(testkit.AsSystem(t), newLockRequest(later, bodyHash, now)); !errors.Is(err,
		store.ErrNotFound) {
		t.Fatal(err)
	}
	b := setConfirmation(mustAcquire(t, s, key, bodyHash, now))
	if err := s.Book(testkit.AsSystem(t), b); !errors.Is(err, postgres.ErrRefused) {
		t.Errorf("an attempt that began before: %v", err)
	}
}

// TestDefiniteAnswersMatchTables loses or delays messages at random. After every answer except
// outcome_unknown, the tables agree with the answer, even when delayed messages have arrived.
func TestDefiniteAnswersMatchTables(t *testing.T) {
	t.Parallel()
	_, pool := open(t)
	rapid.Check(t, func(r *rapid.T) {
		wired, conns := testkit.OpenFaultyPool(t, pool)
		defer wired.Close()
		s := store.New(wired)
		business, resource := uuid.New(), uuid.New()
		for range rapid.IntRange(1, 3).Draw(r, "bookings") {
			b, marker := newMarkedBooking(business)
			b.Parts[0] = newPart(resource, 0, 0, 45) // all bookings want the same time
			failure := rapid.SampledFrom([]testkit.Failure{testkit.BreakBefore, testkit.DropMessage, testkit.DropAnswer,
				testkit.HoldMessage}).Draw(r, "fate")
			conns.Break(marker, failure, rapid.Bool().Draw(r, "dark"))
			ctx, cancel := context.WithTimeout(testkit.AsSystem(t), 200*time.Millisecond)
			err := s.Book(ctx, b)
			cancel()
			conns.Restore()
			if rapid.Bool().Draw(r, "arrives") {
				conns.Release()
			}
			defer func() {
				conns.Release()
				rows := mustCount(t, pool, readRows, b.ID)
				if !fault.Is(err, fault.OutcomeUnknown) && (err == nil) != (rows == 1) {
					t.Errorf("fate %d: the answer was %v, and there are %d bookings", failure, err, rows)
				}
			}()
		}
	})
	checkWhole(t, pool, 1)
	checkNeverTwice(t, pool)
}
