package postgres

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/periodic"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// Write identifies one write of a business. Each attempt at the write ends in one of two states: the write exists, or
// the attempt can no longer make it. An attempt also reaches one of these states if its connection is lost
// (semantics.md §3, §7).
//
// For this purpose, the SQL statement that makes the write calls the SQL function
//
//	may_write(business_id, write_id, begun)
//
// The migrations of the service create this function and the table refused_writes. The function fails if the write was
// refused after the instant `begun`. The function acquires the advisory lock of the write, which is held until the
// transaction ends.
type Write struct {
	Business  uuid.UUID
	ID        uuid.UUID // random, or the result of [WriteID] if the client has identified the write
	StartTime time.Time // time at which the request arrived (clock.ArrivalTime)
}

// WriteID derives the id of a write from the given strings, such as the Idempotency-Key of the client and the purpose
// of the write. Equal lists of strings give equal ids. The id is a UUID of version 8 and does not reveal the strings.
func WriteID(words ...string) uuid.UUID {
	sum := sha256.New()
	for _, w := range words {
		size := len(w)
		_, _ = sum.Write([]byte{byte(size >> 24), byte(size >> 16), byte(size >> 8), byte(size)})
		_, _ = sum.Write([]byte(w))
	}
	id := uuid.UUID(sum.Sum(nil)[:16])
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return id
}

// ErrRefused means that the write was marked as refused ([RefuseSQL]) while this attempt was in progress. Another
// attempt, or a request that looked up the result of the write, has marked it. This attempt wrote nothing.
var ErrRefused = errors.New("the write was refused in the meantime")

// writeRefused is the SQLSTATE of the error that may_write raises for a refused write.
const writeRefused = "SM001"

// outcomeReserve is the maximal time that an attempt reserves to learn its outcome after the loss of the connection.
const outcomeReserve = 3 * time.Second

// Run calls `do` with one connection to make the write. If the connection is lost, Run calls
// findResult on other connections, until it learns whether the write exists or ctx ends.
//
// If Run returns nil, the write exists. If it returns [ErrRefused] or an error of `do`, the write does not exist
// and this attempt can no longer make it. The fault outcome_unknown means that no connection answered in time.
//
// The function `do` runs the statement that calls may_write, and must change nothing outside the database.
// The function `findResult` reports whether the write exists. It may also read the stored answer.
func (w Write) Run(ctx context.Context, pool *pgxpool.Pool, do func(context.Context, *pgxpool.Conn) error,
	findResult func(context.Context, pgx.Tx) (bool, error)) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return err // nothing was sent to PostgreSQL
	}
	err = runBeforeDeadline(ctx, conn, do)
	isLost := err != nil && conn.Conn().IsClosed() && !pgconn.SafeToRetry(err)
	conn.Release()
	switch {
	case Code(err) == writeRefused:
		return ErrRefused
	case !isLost:
		return err
	}
	exists, lookupErr := w.learnOutcome(ctx, pool, findResult)
	switch {
	case lookupErr != nil:
		return fault.Unknown(errors.Join(err, lookupErr))
	case !exists:
		return &notWrittenError{err}
	}
	return nil
}

// notWrittenError is the error of an attempt whose connection was lost, if another connection has shown that the write
// does not exist. sqlstate.IsUnavailable returns true for this error.
type notWrittenError struct{ error }

// SafeToRetry returns true. sqlstate.IsUnavailable and pgconn.SafeToRetry call it.
func (*notWrittenError) SafeToRetry() bool { return true }

// Unwrap returns the error of the attempt.
func (n *notWrittenError) Unwrap() error { return n.error }

// runBeforeDeadline runs `do` with a deadline before the deadline of ctx, so that time remains to learn the outcome.
func runBeforeDeadline(ctx context.Context, conn *pgxpool.Conn, do func(context.Context, *pgxpool.Conn) error) error {
	if end, ok := ctx.Deadline(); ok {
		left := time.Until(end)
		bounded, cancel := context.WithTimeout(ctx, left-min(outcomeReserve, left/2))
		defer cancel()
		ctx = bounded
	}
	return do(ctx, conn)
}

// pauseRetry waits for the duration `pause`, at most 250 ms. It returns false if ctx ends first.
func pauseRetry(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(min(pause, 250*time.Millisecond))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// LockSQL acquires the advisory lock of the write with the id $1. The lock is
// held until the transaction ends. The function may_write acquires the same lock.
const LockSQL = `SELECT pg_advisory_xact_lock(hashtextextended($1::uuid::text, 0))`

// RefuseSQL records that the write with the id $2 of the business $1 is refused. An attempt that began before the
// instant $3 then fails in may_write. The transaction must hold the lock of [LockSQL].
const RefuseSQL = `
INSERT INTO refused_writes AS known (business_id, write_id, refused_at) VALUES ($1, $2, $3)
ON CONFLICT (business_id, write_id) DO UPDATE SET refused_at = greatest(known.refused_at, excluded.refused_at)`

// learnOutcome calls [Write.decide] until a call succeeds or ctx ends.
func (w Write) learnOutcome(ctx context.Context, pool *pgxpool.Pool,
	findResult func(context.Context, pgx.Tx) (bool, error)) (bool, error) {
	exists := false
	err := retryLookup(ctx, func(ctx context.Context) error {
		var err error
		exists, err = w.decide(ctx, pool, findResult)
		return err
	})
	return exists, err
}

// retryLookup calls `lookUp` repeatedly, each time on another connection, until a call succeeds or ctx ends.
func retryLookup(ctx context.Context, lookUp func(context.Context) error) error {
	for pause := 10 * time.Millisecond; ; pause *= 2 {
		try, cancel := context.WithTimeout(ctx, outcomeReserve/3) // leaves time for a retry on another connection
		err := lookUp(try)
		cancel()
		if err == nil || !pauseRetry(ctx, pause) {
			return err
		}
	}
}

// decide reports whether the write exists. If the write does not exist, decide refuses the write, so that this attempt
// can no longer make it. If the transaction of an attempt is still open, decide waits until that transaction ends.
func (w Write) decide(ctx context.Context, pool *pgxpool.Pool,
	findResult func(context.Context, pgx.Tx) (bool, error)) (bool, error) {
	exists := false
	err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, LockSQL, w.ID); err != nil {
			return err
		}
		var err error
		if exists, err = findResult(ctx, tx); err != nil || exists {
			return err
		}
		_, err = tx.Exec(ctx, RefuseSQL, w.Business, w.ID, w.StartTime.Add(time.Microsecond))
		return err
	})
	return exists, err
}

// DeleteOldWrites deletes idempotency results and refusals that are older than 24 hours. For 24 hours, a repeated
// request gets the stored answer. After 24 hours, no attempt is in progress that a refusal must stop.
//
// The times of results are from the database or, for a [Lock], from the clock of the service. The clock of a demo can
// show another day than the database, so a result is old only if it is old by both clocks.
func DeleteOldWrites(ctx context.Context, pool *pgxpool.Pool, now time.Time) error {
	_, resultsErr := pool.Exec(ctx,
		`DELETE FROM made_writes WHERE made_at <= least(clock_timestamp(), $1) - interval '24 hours'`, now)
	_, refusalsErr := pool.Exec(ctx,
		`DELETE FROM refused_writes WHERE refused_at <= clock_timestamp() - interval '24 hours'`)
	return errors.Join(resultsErr, refusalsErr)
}

// cleanupInterval is the interval between two calls of [DeleteOldWrites]. It may be long, because old rows do no harm.
const cleanupInterval = 10 * time.Minute

// RunWriteCleanup calls [DeleteOldWrites] at regular intervals until ctx ends.
// If a call fails, it logs the error and tries again at the next interval.
func RunWriteCleanup(ctx context.Context, pool *pgxpool.Pool, now clock.Clock, log *slog.Logger) error {
	return periodic.Job{Every: cleanupInterval, Timeout: time.Minute,
		FailureMessage: "notes of old writes stay for now",
		Do: func(ctx context.Context) error {
			return DeleteOldWrites(ctx, pool, now.Now())
		}}.Run(ctx, log)
}
