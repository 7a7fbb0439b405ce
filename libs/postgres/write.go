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

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/periodic"
)

// Write names one write of a business, so that it is made or can never be made any more, whatever became of the connection
// that it was sent on (semantics.md §3, §7). The statement that makes it calls
//
//	may_write(business_id, write_id, begun)
//
// of its schema, which a migration of the service brings together with the table refused_writes. The function fails the
// statement where the write was refused after the attempt had begun, and keeps every other decision about the write
// waiting until its transaction has ended.
type Write struct {
	Business uuid.UUID
	ID       uuid.UUID // random, or that of [WriteID] where the client named the write
	Begun    time.Time // when the attempt reached us (clock.Arrived)
}

// WriteID names a write by words of the client's, such as its Idempotency-Key and what it is for: the same words name the
// same write. It is a UUID of version 8 that tells nothing of them.
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

// ErrRefused says that a write was refused while this attempt at it was on its way. Nothing was written.
var ErrRefused = errors.New("the write was refused meanwhile")

// writeRefused is the SQLSTATE by which may_write fails a statement.
const writeRefused = "SM001"

// decideWithin is how much of an attempt's time is kept for learning its outcome, at most.
const decideWithin = 3 * time.Second

// Make makes a write by do, on one connection. Where that is lost on the way, it looks for the write with made on others,
// until ctx ends. It returns nil where the write is there, and [ErrRefused] or an error of do where it is not, and never will be by
// this attempt. A fault of kind outcome_unknown says that nobody could be asked.
//
// do sends the statement with the call of may_write, and may not change anything else than the database. made says whether the
// write is there, and may read for the caller what it answers with.
func (w Write) Make(ctx context.Context, pool *pgxpool.Pool, do func(context.Context, *pgxpool.Conn) error, made func(context.Context, pgx.Tx) (bool, error)) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return err // nothing was sent
	}
	err = try(ctx, conn, do)
	lost := err != nil && conn.Conn().IsClosed() && !pgconn.SafeToRetry(err)
	conn.Release()
	switch {
	case Code(err) == writeRefused:
		return ErrRefused
	case !lost:
		return err
	}
	there, asked := w.learn(ctx, pool, made)
	switch {
	case asked != nil:
		return fault.Unknown(errors.Join(err, asked))
	case !there:
		return &notMade{err}
	}
	return nil
}

// notMade is the error of a write whose connection was lost, and which is known not to be there: the store was away.
type notMade struct{ error }

// SafeToRetry is what sqlstate.Away and pgconn.SafeToRetry ask.
func (*notMade) SafeToRetry() bool { return true }

// Unwrap returns what failed.
func (n *notMade) Unwrap() error { return n.error }

// try ends before ctx does, so that there is time to learn what became of it.
func try(ctx context.Context, conn *pgxpool.Conn, do func(context.Context, *pgxpool.Conn) error) error {
	if end, ok := ctx.Deadline(); ok {
		left := time.Until(end)
		within, cancel := context.WithTimeout(ctx, left-min(decideWithin, left/2))
		defer cancel()
		ctx = within
	}
	return do(ctx, conn)
}

// wait reports whether ctx lasts longer than the pause.
func wait(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(min(pause, 250*time.Millisecond))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// LockSQL keeps every other decision about the write $1 waiting until its transaction ends; may_write does the same.
const LockSQL = `SELECT pg_advisory_xact_lock(hashtextextended($1::uuid::text, 0))`

// RefuseSQL refuses, under the lock of [LockSQL], the write $2 of the business $1 to every attempt that began before $3.
const RefuseSQL = `
INSERT INTO refused_writes AS known (business_id, write_id, refused_at) VALUES ($1, $2, $3)
ON CONFLICT (business_id, write_id) DO UPDATE SET refused_at = greatest(known.refused_at, excluded.refused_at)`

// learn is [Write.decide], tried on one connection after another until ctx ends.
func (w Write) learn(ctx context.Context, pool *pgxpool.Pool, made func(context.Context, pgx.Tx) (bool, error)) (bool, error) {
	for pause := 10 * time.Millisecond; ; pause *= 2 {
		there, err := w.decide(ctx, pool, made)
		if err == nil || !wait(ctx, pause) {
			return there, err
		}
	}
}

// decide says whether the write is there; where it is not, this attempt can make it no more. An attempt that is just making
// it is waited for.
func (w Write) decide(ctx context.Context, pool *pgxpool.Pool, made func(context.Context, pgx.Tx) (bool, error)) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, decideWithin/3) // another connection may be as dead
	defer cancel()
	there := false
	err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, LockSQL, w.ID); err != nil {
			return err
		}
		var err error
		if there, err = made(ctx, tx); err != nil || there {
			return err
		}
		_, err = tx.Exec(ctx, RefuseSQL, w.Business, w.ID, w.Begun.Add(time.Microsecond))
		return err
	})
	return there, err
}

// SweepWrites removes the notes of [Once] after a day, for which a repeated request gets the same answer; and the refusals that no
// attempt can meet any more, however long its request, its statement in the network or its replica stood still.
func SweepWrites(ctx context.Context, pool *pgxpool.Pool) error {
	_, made := pool.Exec(ctx, `DELETE FROM made_writes WHERE made_at <= clock_timestamp() - interval '24 hours'`)
	_, refused := pool.Exec(ctx, `DELETE FROM refused_writes WHERE refused_at <= clock_timestamp() - interval '24 hours'`)
	return errors.Join(made, refused)
}

// sweepEvery is how often old notes are removed. They harm nobody, so it may be rare.
const sweepEvery = 10 * time.Minute

// KeepSweepingWrites calls [SweepWrites] until ctx ends. A database that is away is tried again the next time.
func KeepSweepingWrites(ctx context.Context, pool *pgxpool.Pool, log *slog.Logger) error {
	return periodic.Job{Every: sweepEvery, Within: time.Minute, Failed: "notes of old writes stay for now", Do: func(ctx context.Context) error {
		return SweepWrites(ctx, pool)
	}}.Run(ctx, log)
}
