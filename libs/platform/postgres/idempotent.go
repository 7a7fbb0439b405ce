package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// identifyWrite returns the write that the request of ctx makes. If the request has an Idempotency-Key, the id of the
// write is derived from the key, the kind of the actor, and the Holder of the [idempotency.Request]. An owner, the
// booking page and a customer with a link can therefore use the same key without a conflict. If the request has no key,
// the id is random.
func identifyWrite(ctx context.Context, business uuid.UUID) Write {
	w := Write{Business: business, ID: uuid.New(), StartTime: clock.ArrivalTime(ctx)}
	if request := idempotency.Of(ctx); request.Key != "" {
		kind := actor.Owner
		if actor.Of(ctx).Kind == actor.Page {
			kind = actor.Page
		}
		w.ID = WriteID(string(kind), business.String(), request.Holder, request.Key)
	}
	return w
}

// RequestWriteID returns the id of the write that [WriteIdempotently] makes for the
// request of ctx. If the request has no Idempotency-Key, it returns the nil UUID.
func RequestWriteID(ctx context.Context, business uuid.UUID) uuid.UUID {
	if idempotency.Of(ctx).Key == "" {
		return uuid.Nil
	}
	return identifyWrite(ctx, business).ID
}

// DeleteIdempotencyResult deletes the stored idempotency result of the write whose id is the argument `write`. A retry
// of the request then makes the write again. The result is deleted only if its stored answer has the JSON member ID
// with the value resultID.
//
// The caller must pass the transaction that reverses the write.
func DeleteIdempotencyResult(ctx context.Context, tx pgx.Tx, business, write, resultID uuid.UUID) error {
	_, err := tx.Exec(ctx, `DELETE FROM made_writes WHERE business_id = $1 AND write_id = $2 AND convert_from(answer, 'UTF8')::json ->> 'ID' = $3`,
		business, write, resultID.String())
	if err != nil {
		return fmt.Errorf("delete an idempotency result: %w", err)
	}
	return nil
}

// WriteIdempotently runs `do` in a transaction and returns the answer of `do`. The transaction also stores the answer
// as JSON in the table made_writes, for one day. If the business repeats a request with the same Idempotency-Key,
// WriteIdempotently returns the stored answer and does not call `do`. The migrations of the service create the table.
//
// If WriteIdempotently returns an error, nothing was written, and this attempt writes
// nothing later. The only exception is the fault outcome_unknown: the write may exist.
//
// Errors:
//   - the errors of `do` and of [Write.Run]
//   - fault idempotency_mismatch if the key was used for a different request
//   - fault idempotency_in_progress if another request with the key is in progress
//   - [actor.ErrMissing] if ctx has no actor; `do` is not called in this case
func WriteIdempotently[T any](ctx context.Context, pool *pgxpool.Pool, business uuid.UUID,
	do func(context.Context, pgx.Tx) (T, error)) (T, error) {
	var (
		answer   T
		mismatch error
		w        = identifyWrite(ctx, business)
		hash     = idempotency.Of(ctx).Hash
	)
	if _, err := actor.Require(ctx); err != nil {
		return answer, err
	}
	findAnswer := func(ctx context.Context, tx pgx.Tx) (bool, error) {
		stored, err := w.findResult(ctx, tx)
		if err != nil || stored == nil {
			return false, err
		}
		if mismatch = stored.matches(hash[:]); mismatch != nil {
			return true, nil
		}
		return true, json.Unmarshal(stored.answer, &answer)
	}
	err := w.Run(ctx, pool, func(ctx context.Context, conn *pgxpool.Conn) error {
		return runTransaction(ctx, conn, func(tx pgx.Tx) error {
			if err := w.begin(ctx, tx); err != nil {
				return err
			}
			if exists, err := findAnswer(ctx, tx); exists || err != nil {
				return err
			}
			var err error
			if answer, err = do(ctx, tx); err != nil {
				return err
			}
			return w.storeResult(ctx, tx, hash[:], answer)
		})
	}, findAnswer)
	if errors.Is(err, ErrRefused) {
		err = fault.New(fault.IdempotencyInProgress,
			idempotency.Header+": a later request with this key was refused while this one was on its way, so this "+
				"one does nothing; send it again.")
	}
	if err == nil {
		err = mismatch
	}
	return answer, err
}

// runTransaction runs `do` in a transaction. If the commit fails, it returns an error
// that is not safe to retry, because the server may have received the commit.
//
// The errors of pgx do not show whether the server may have received the commit. pgx.BeginFunc and pgx.Tx return the
// same error if the answer to the commit was lost, and if the commit was never sent.
func runTransaction(ctx context.Context, conn *pgxpool.Conn, do func(pgx.Tx) error) error {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		_ = tx.Rollback(ctx) // if the rollback fails, pgx closes the connection
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return &possiblySentError{err}
	}
	return nil
}

// possiblySentError is the error of a statement that the server may have received.
type possiblySentError struct{ error }

// SafeToRetry returns false. pgconn.SafeToRetry calls it.
func (*possiblySentError) SafeToRetry() bool { return false }

// Unwrap returns the error of the statement.
func (m *possiblySentError) Unwrap() error { return m.error }

// beginSQL acquires the advisory lock of the write if the lock is free. It also limits the idle time of the
// transaction. If a client is lost, its transaction may stay open and hold the lock. Without the limit, other requests
// would not learn the outcome of the write until that transaction ends.
const beginSQL = `
SELECT set_config('idle_in_transaction_session_timeout', '5s', true),
       CASE WHEN pg_try_advisory_xact_lock(hashtextextended($1::uuid::text, 0)) THEN may_write($2, $1, $3) ELSE false END`

func (w Write) begin(ctx context.Context, tx pgx.Tx) error {
	var (
		setting   string
		isAllowed bool
	)
	if err := tx.QueryRow(ctx, beginSQL, w.ID, w.Business, w.StartTime).Scan(&setting, &isAllowed); err != nil {
		return fmt.Errorf("begin a write: %w", err)
	}
	if !isAllowed {
		return idempotency.NewInProgressFault()
	}
	return nil
}

// storedResult holds the columns of the row in made_writes for a write.
type storedResult struct{ hash, answer []byte }

func (k *storedResult) matches(hash []byte) error {
	if bytes.Equal(k.hash, hash) {
		return nil
	}
	return fault.New(fault.IdempotencyMismatch,
		idempotency.Header+": this key was used for another request; send a new key with a new one.")
}

func (w Write) findResult(ctx context.Context, tx pgx.Tx) (*storedResult, error) {
	return scanResult(tx.QueryRow(ctx, resultSQL, w.Business, w.ID, time.Time{}))
}

// scanResult returns nil if the query found no row.
func scanResult(row pgx.Row) (*storedResult, error) {
	var k storedResult
	err := row.Scan(&k.hash, &k.answer)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("find an idempotency result: %w", err)
	}
	return &k, nil
}

const (
	// resultSQL reads the result of the write $2 of the business $1, if it was made after the instant $3.
	resultSQL = `SELECT request_hash, answer FROM made_writes
WHERE business_id = $1 AND write_id = $2 AND made_at > $3 AND answer <> ` + InProgress

	// refuseUnmadeSQL is [RefuseSQL] with the additional condition that the write has no result, made after $4.
	refuseUnmadeSQL = `
INSERT INTO refused_writes AS known (business_id, write_id, refused_at)
SELECT $1, $2, $3
WHERE NOT EXISTS (SELECT FROM made_writes
                  WHERE business_id = $1 AND write_id = $2 AND made_at > $4 AND answer <> ` + InProgress + `)
ON CONFLICT (business_id, write_id) DO UPDATE SET refused_at = greatest(known.refused_at, excluded.refused_at)`
)

// findOrRefuse returns the stored result of the write, if it was made after `madeAfter`. If there is none, it refuses
// every attempt that began before `startedBefore`, and returns nil. It takes one round trip and one transaction.
func (w Write) findOrRefuse(ctx context.Context, pool *pgxpool.Pool,
	startedBefore, madeAfter time.Time) (*storedResult, error) {
	var (
		batch  pgx.Batch
		stored *storedResult
	)
	batch.Queue(LockSQL, w.ID)
	batch.Queue(refuseUnmadeSQL, w.Business, w.ID, startedBefore, madeAfter)
	batch.Queue(resultSQL, w.Business, w.ID, madeAfter).QueryRow(func(row pgx.Row) error {
		var err error
		stored, err = scanResult(row)
		return err
	})
	if err := pool.SendBatch(ctx, &batch).Close(); err != nil {
		return nil, fmt.Errorf("find an idempotency result: %w", err)
	}
	return stored, nil
}

func (w Write) storeResult(ctx context.Context, tx pgx.Tx, hash []byte, answer any) error {
	text, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO made_writes (business_id, write_id, request_hash, answer, made_at) VALUES ($1, $2, $3, $4, clock_timestamp())`,
		w.Business, w.ID, hash, text)
	if err != nil {
		return fmt.Errorf("store an idempotency result: %w", err)
	}
	return nil
}

// minOutcomeTime is the minimal time that [FindIdempotencyResult] has to look up a write, even if the deadline of the
// request is near or has passed.
const minOutcomeTime = time.Second

// FindIdempotencyResult looks up the write that the Idempotency-Key in ctx identifies. If an earlier request made the
// write, it returns the stored answer of that request as JSON. If no request made the write, it returns nil. In this
// case, no attempt that began before this call can still make the write. Faults: idempotency_mismatch if the key was
// used for a different request; outcome_unknown if the database did not answer in time.
func FindIdempotencyResult(ctx context.Context, pool *pgxpool.Pool, business uuid.UUID) ([]byte, error) {
	var (
		stored *storedResult
		hash   = idempotency.Of(ctx).Hash
		w      = identifyWrite(ctx, business)
	)
	if _, err := actor.Require(ctx); err != nil { // the id of the write depends on the kind of actor
		return nil, err
	}
	timeout := minOutcomeTime
	if deadline, ok := ctx.Deadline(); ok {
		timeout = max(timeout, time.Until(deadline))
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	err := retryLookup(ctx, func(ctx context.Context) error {
		var err error
		stored, err = w.findOrRefuse(ctx, pool, w.StartTime.Add(time.Microsecond), time.Time{})
		return err
	})
	switch {
	case err != nil:
		return nil, fault.Unknown(err)
	case stored == nil:
		return nil, nil
	}
	return stored.answer, stored.matches(hash[:])
}
