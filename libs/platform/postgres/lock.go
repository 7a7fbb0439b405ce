package postgres

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// keepResults is how long an idempotency result is stored for repeated requests (semantics.md §3).
const keepResults = 24 * time.Hour

// Lock is an acquired idempotency lock. It is for a write that asks other services before its transaction begins;
// [WriteIdempotently] needs no Lock. After the lock has expired, another request can acquire it. Then this Lock is no
// longer valid.
//
// The lock is the row of made_writes for the write. While the request is in progress, the column answer is
// [InProgress], and made_at is AcquiredAt. The statement that makes the write locks this row, and replaces the answer.
type Lock struct {
	Write
	AcquiredAt time.Time
}

// InProgress is the answer in made_writes of a request that has no result yet, as an SQL literal.
const InProgress = `'{"in_progress": true}'`

// LockRequest describes an idempotency lock to acquire.
type LockRequest struct {
	Write
	Hash     [sha256.Size]byte // hash of the request
	Now      time.Time
	Duration time.Duration // after this time, another request can acquire the lock
}

// LockResult is the result of a [LockRequest]. If Lock is nil, the lock was not acquired: another request
// holds the lock or has a result. IsSameRequest and Answer are then those of that request.
type LockResult struct {
	Lock          *Lock
	IsSameRequest bool   // both requests have the same hash
	Answer        []byte // JSON; nil if the other request is in progress
}

// acquireSQL acquires an idempotency lock. It creates a row, or replaces a row whose result or lock has expired. In all
// other cases it returns the existing row.
//
// If another transaction creates the row while this statement runs, the statement
// returns no row. This means that another request with the key is in progress.
const acquireSQL = `
WITH acquired AS (
    INSERT INTO made_writes AS w (business_id, write_id, request_hash, answer, made_at)
    VALUES ($1, $2, $3, ` + InProgress + `, $4)
    ON CONFLICT (business_id, write_id) DO UPDATE
        SET request_hash = excluded.request_hash, answer = excluded.answer, made_at = excluded.made_at
        WHERE w.made_at <= $5 OR w.answer = ` + InProgress + ` AND w.made_at <= $6
    RETURNING request_hash
)
SELECT true, request_hash, NULL::bytea FROM acquired
UNION ALL
SELECT false, request_hash, nullif(answer, ` + InProgress + `)
FROM made_writes
WHERE business_id = $1 AND write_id = $2 AND NOT EXISTS (SELECT FROM acquired)`

// Queue adds the statement that acquires the lock to a batch. The function `use` gets the result.
func (r LockRequest) Queue(batch *pgx.Batch, use func(LockResult) error) {
	batch.Queue(acquireSQL, r.Business, r.ID, r.Hash[:], r.Now, r.Now.Add(-keepResults),
		r.Now.Add(-r.Duration)).QueryRow(func(row pgx.Row) error {
		var (
			isAcquired bool
			hash       []byte
			result     LockResult
		)
		err := row.Scan(&isAcquired, &hash, &result.Answer)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			result.IsSameRequest = true
		case err != nil:
			return err
		default:
			result.IsSameRequest = bytes.Equal(hash, r.Hash[:])
		}
		if isAcquired {
			result.Lock = &Lock{Write: r.Write, AcquiredAt: r.Now}
		}
		return use(result)
	})
}

// FindResult returns the stored answer of the request, or nil if there is none. In the second case, every
// attempt at the write that began before r.StartTime is refused. It takes one round trip and one transaction.
func (r LockRequest) FindResult(ctx context.Context, pool *pgxpool.Pool) ([]byte, error) {
	stored, err := r.findOrRefuse(ctx, pool, r.StartTime, r.Now.Add(-keepResults))
	if err != nil || stored == nil || !bytes.Equal(stored.hash, r.Hash[:]) {
		return nil, err
	}
	return stored.answer, nil
}

// unlockSQL deletes the row of a lock, unless the request has a result or another request has acquired the lock.
const unlockSQL = `DELETE FROM made_writes
WHERE business_id = $1 AND write_id = $2 AND made_at = $3 AND answer = ` + InProgress

// Release releases the lock. It stores neither a result nor a refusal,
// because another request with the key has already decided the result.
func (l Lock) Release(ctx context.Context, pool *pgxpool.Pool) error {
	if _, err := pool.Exec(ctx, unlockSQL, l.Business, l.ID, l.AcquiredAt); err != nil {
		return fmt.Errorf("release an idempotency lock: %w", err)
	}
	return nil
}

// refuseLockedSQL releases the lock and stores that the write is refused. It does not need the lock of [LockSQL]. If
// the statement that makes the write waits for the row, it then finds that the row is deleted and the write is refused.
const refuseLockedSQL = `
WITH released AS (` + unlockSQL + ` RETURNING 1)
INSERT INTO refused_writes AS known (business_id, write_id, refused_at)
SELECT $1, $2, $4 FROM released
ON CONFLICT (business_id, write_id) DO UPDATE SET refused_at = greatest(known.refused_at, excluded.refused_at)`

// Refuse releases the lock and stores a refusal. Every attempt at the write that began before l.StartTime is then
// refused, too, and writes nothing. If another request has acquired the lock in the meantime, Refuse changes nothing,
// because that request decides the result.
func (l Lock) Refuse(ctx context.Context, pool *pgxpool.Pool) error {
	if _, err := pool.Exec(ctx, refuseLockedSQL, l.Business, l.ID, l.AcquiredAt, l.StartTime); err != nil {
		return fmt.Errorf("refuse an idempotency key: %w", err)
	}
	return nil
}
