package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

// IdempotencyKey identifies an idempotency record. Key is the key that
// the client sent. Principal identifies the client within the business.
type IdempotencyKey struct {
	BusinessID uuid.UUID
	Principal  string
	Key        string
}

// Write returns the identity of the write for this key. The argument `startedAt` is the start of the attempt to write.
func (k IdempotencyKey) Write(startedAt time.Time) postgres.Write {
	return postgres.Write{Business: k.BusinessID, ID: postgres.WriteID("book", k.BusinessID.String(), k.Principal,
		k.Key), StartTime: startedAt}
}

// IdempotencyLock is an acquired idempotency lock. After the lock has expired,
// another request can acquire it; then this IdempotencyLock is no longer valid.
type IdempotencyLock struct {
	IdempotencyKey
	Token uuid.UUID
}

// Record is the stored state of an idempotency key. IsSameRequest is
// true if the stored request and the current request have the same body.
type Record struct {
	IsSameRequest bool
	Confirmation  *Confirmation // nil if the request that holds the lock is still in flight
}

// lockRequestSQL acquires an idempotency lock. It creates a record, or replaces a
// record that has expired. A record without a confirmation belongs to a request that
// is still in flight or has failed. lockRequestSQL also replaces such a record if the
// lock of the record has expired. In all other cases it returns the existing record.
//
// If another transaction creates the record while this statement runs, the statement
// returns no row. This means that another request with the key is in flight.
const lockRequestSQL = `
WITH acquired AS (
    INSERT INTO idempotency_records AS r
        (business_id, principal, idempotency_key, request_hash, token, claimed_until, expires_at)
    VALUES (@business_id, @principal, @idempotency_key, @request_hash, @token, @claimed_until, @expires_at)
    ON CONFLICT (business_id, principal, idempotency_key) DO UPDATE
        SET request_hash = excluded.request_hash, token = excluded.token, claimed_until = excluded.claimed_until,
            expires_at = excluded.expires_at, confirmation = NULL
        WHERE r.expires_at <= @now OR (r.confirmation IS NULL AND r.claimed_until <= @now)
    RETURNING request_hash, confirmation
)
SELECT true, request_hash, confirmation FROM acquired
UNION ALL
SELECT false, request_hash, confirmation
FROM idempotency_records
WHERE business_id = @business_id AND principal = @principal AND idempotency_key = @idempotency_key
  AND NOT EXISTS (SELECT FROM acquired)`

var lockRequestStatement = newStatement(lockRequestSQL)

// LockRequest describes an idempotency lock to acquire. The lock expires at ExpiresAt.
// Hash is the hash of the request body. Keep is how long the confirmation is stored.
type LockRequest struct {
	IdempotencyKey
	Hash      [sha256.Size]byte
	Now       time.Time
	ExpiresAt time.Time
	Keep      time.Duration
}

// LockResult is the result of [Store.AcquireLock]. If Lock is nil, the lock was not acquired:
// another request holds the lock or has a confirmation. Record is then the state of that request.
type LockResult struct {
	Lock *IdempotencyLock
	Record
}

// AcquireLock acquires the idempotency lock of a key, unless another request holds the lock or has a confirmation.
// [Store.Snapshot] can also acquire the lock, in the same round trip in which it reads the occupied time.
func (s *Store) AcquireLock(ctx context.Context, req LockRequest) (LockResult, error) {
	var (
		batch  pgx.Batch
		result LockResult
	)
	if err := queueLock(&batch, req, &result); err != nil {
		return LockResult{}, err
	}
	if err := s.pool.SendBatch(ctx, &batch).Close(); err != nil {
		return LockResult{}, fmt.Errorf("acquire an idempotency lock: %w", err)
	}
	return result, nil
}

func queueLock(batch *pgx.Batch, req LockRequest, into *LockResult) error {
	token, err := uuid.NewRandom()
	if err != nil {
		return err
	}
	batch.Queue(lockRequestStatement.text, lockRequestStatement.values(pgx.NamedArgs{
		"business_id": req.BusinessID, "principal": req.Principal, "idempotency_key": req.Key,
		"request_hash": req.Hash[:], "token": token, "claimed_until": req.ExpiresAt,
		"expires_at": req.Now.Add(req.Keep), "now": req.Now,
	})...).QueryRow(func(row pgx.Row) error {
		var (
			acquired      bool
			known, stored []byte
		)
		err := row.Scan(&acquired, &known, &stored)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			into.Record = Record{IsSameRequest: true}
			return nil
		case err != nil:
			return err
		case acquired:
			into.Lock = &IdempotencyLock{IdempotencyKey: req.IdempotencyKey, Token: token}
			return nil
		}
		into.IsSameRequest = bytes.Equal(known, req.Hash[:])
		into.Confirmation, err = decodeResult(stored)
		return err
	})
	return nil
}

// decodeResult decodes a stored confirmation. It returns nil if the argument is nil.
func decodeResult(stored []byte) (*Confirmation, error) {
	if stored == nil {
		return nil, nil
	}
	c := &Confirmation{IsRepeated: true}
	if err := json.Unmarshal(stored, c); err != nil {
		return nil, fmt.Errorf("read a stored confirmation: %w", err)
	}
	return c, nil
}

const releaseSQL = `
DELETE FROM idempotency_records
WHERE business_id = $1 AND principal = $2 AND idempotency_key = $3 AND token = $4 AND confirmation IS NULL`

// ReleaseLock releases an idempotency lock. It stores neither a confirmation nor
// a refusal, because another request with the key has already decided the result.
func (s *Store) ReleaseLock(ctx context.Context, l IdempotencyLock) error {
	if _, err := s.pool.Exec(ctx, releaseSQL, l.BusinessID, l.Principal, l.Key, l.Token); err != nil {
		return fmt.Errorf("release an idempotency lock: %w", err)
	}
	return nil
}

const (
	confirmationSQL = `
SELECT confirmation
FROM idempotency_records
WHERE business_id = $1 AND principal = $2 AND idempotency_key = $3 AND request_hash = $4 AND expires_at > $5
  AND confirmation IS NOT NULL`

	// refuseSQL is [postgres.RefuseSQL] with the additional condition that the key has no confirmation.
	refuseSQL = `
INSERT INTO refused_writes AS known (business_id, write_id, refused_at)
SELECT $1, $2, $3
WHERE NOT EXISTS (SELECT FROM idempotency_records
                  WHERE business_id = $1 AND principal = $4 AND idempotency_key = $5 AND expires_at > $6 AND confirmation IS NOT NULL)
ON CONFLICT (business_id, write_id) DO UPDATE SET refused_at = greatest(known.refused_at, excluded.refused_at)`
)

// FindConfirmation returns the stored confirmation for the key, if the stored request has the same body. If the key
// has no confirmation, FindConfirmation refuses every attempt with the key that began before the time in the argument
// `startedAt`. It takes one round trip and one transaction. Errors: [ErrNotFound] if there is no such confirmation.
func (s *Store) FindConfirmation(ctx context.Context, key IdempotencyKey, hash [sha256.Size]byte,
	startedAt, now time.Time) (Confirmation, error) {
	var (
		batch  pgx.Batch
		stored []byte
		write  = key.Write(startedAt)
	)
	batch.Queue(postgres.LockSQL, write.ID)
	batch.Queue(refuseSQL, key.BusinessID, write.ID, startedAt, key.Principal, key.Key, now)
	batch.Queue(confirmationSQL, key.BusinessID, key.Principal, key.Key, hash[:],
		now).QueryRow(func(row pgx.Row) error {
		if err := row.Scan(&stored); !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		return nil
	})
	if err := s.pool.SendBatch(ctx, &batch).Close(); err != nil {
		return Confirmation{}, fmt.Errorf("read a stored confirmation: %w", err)
	}
	confirmation, err := decodeResult(stored)
	switch {
	case err != nil:
		return Confirmation{}, err
	case confirmation == nil:
		return Confirmation{}, ErrNotFound
	}
	return *confirmation, nil
}

// refuseLockedSQL deletes the idempotency record and stores that the write is
// refused. It does not need the lock of the write. If [Store.Book] waits for the lock
// of the record, it then finds that the record is deleted and the write is refused.
const refuseLockedSQL = `
WITH released AS (
    DELETE FROM idempotency_records
    WHERE business_id = $1 AND principal = $2 AND idempotency_key = $3 AND token = $4 AND confirmation IS NULL
    RETURNING 1
)
INSERT INTO refused_writes AS known (business_id, write_id, refused_at)
SELECT $1, $5, $6 FROM released
ON CONFLICT (business_id, write_id) DO UPDATE SET refused_at = greatest(known.refused_at, excluded.refused_at)`

// Refuse releases an idempotency lock and stores a refusal. Every attempt with the key that began before
// the time in the argument `startedAt` is then refused, too, and writes nothing. If another request has
// acquired the lock in the meantime, Refuse changes nothing, because that request decides the result.
func (s *Store) Refuse(ctx context.Context, l IdempotencyLock, startedAt time.Time) error {
	if _, err := s.pool.Exec(ctx, refuseLockedSQL, l.BusinessID, l.Principal, l.Key, l.Token, l.Write(startedAt).ID,
		startedAt); err != nil {
		return fmt.Errorf("refuse an idempotency key: %w", err)
	}
	return nil
}

// sweepSQL deletes a limited number of expired records, so that no statement
// holds many locks. It skips locked rows; the next run deletes them.
const sweepSQL = `
DELETE FROM idempotency_records
WHERE (business_id, principal, idempotency_key) IN (
    SELECT business_id, principal, idempotency_key
    FROM idempotency_records
    WHERE expires_at <= $1
    ORDER BY expires_at
    LIMIT $2
    FOR UPDATE SKIP LOCKED
)`

const sweepStep = 1000

// SweepIdempotency deletes expired idempotency records. It also deletes old records of
// refused and completed writes. It returns the number of deleted idempotency records.
func (s *Store) SweepIdempotency(ctx context.Context, now time.Time) (int64, error) {
	var removed int64
	for {
		tag, err := s.pool.Exec(ctx, sweepSQL, now, sweepStep)
		if err != nil {
			return removed, fmt.Errorf("remove expired idempotency records: %w", err)
		}
		removed += tag.RowsAffected()
		if tag.RowsAffected() < sweepStep {
			break
		}
	}
	if err := postgres.DeleteOldWrites(ctx, s.pool); err != nil {
		return removed, fmt.Errorf("remove notes of old writes: %w", err)
	}
	return removed, nil
}
