package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

// LockResult is the result of [Store.AcquireLock]. If Lock is nil, the lock was not acquired: another request
// holds the lock or has a confirmation. IsSameRequest and Confirmation are then those of that request.
type LockResult struct {
	Lock          *postgres.Lock
	IsSameRequest bool
	Confirmation  *Confirmation // nil if the request that holds the lock is in progress
}

// These SQL texts lock the row of the request's idempotency lock, if the lock is still valid, and store the confirmation
// as the answer for its key. addLock adds their parameters.
const (
	lockedRow = `locked AS MATERIALIZED (
    SELECT 1
    FROM made_writes
    WHERE business_id = @business_id AND write_id = @write_id AND made_at = @locked_at AND answer = ` +
		postgres.InProgress + `
    FOR UPDATE
)`
	storeConfirmation = `UPDATE made_writes
    SET answer = coalesce(@confirmation::bytea, answer)
    WHERE business_id = @business_id AND write_id = @write_id AND made_at = @locked_at`
)

// AcquireLock acquires the idempotency lock of a key, unless another request holds the lock or has a confirmation.
// [Store.Snapshot] can also acquire the lock, in the same round trip in which it reads the occupied time.
func (s *Store) AcquireLock(ctx context.Context, req postgres.LockRequest) (LockResult, error) {
	var (
		batch  pgx.Batch
		result LockResult
	)
	queueLock(&batch, req, &result)
	if err := s.pool.SendBatch(ctx, &batch).Close(); err != nil {
		return LockResult{}, fmt.Errorf("acquire an idempotency lock: %w", err)
	}
	return result, nil
}

func queueLock(batch *pgx.Batch, req postgres.LockRequest, into *LockResult) {
	req.Queue(batch, func(r postgres.LockResult) error {
		stored, err := decodeResult(r.Answer)
		*into = LockResult{Lock: r.Lock, IsSameRequest: r.IsSameRequest, Confirmation: stored}
		return err
	})
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

// FindConfirmation returns the stored confirmation of an earlier request with the same key and body, as
// [postgres.LockRequest.FindResult] does. Errors: [ErrNotFound] if there is no such confirmation.
func (s *Store) FindConfirmation(ctx context.Context, req postgres.LockRequest) (Confirmation, error) {
	stored, err := req.FindResult(ctx, s.pool)
	if err != nil {
		return Confirmation{}, err
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

// ReleaseLock releases an idempotency lock, as [postgres.Lock.Release] does.
func (s *Store) ReleaseLock(ctx context.Context, l postgres.Lock) error {
	return l.Release(ctx, s.pool)
}

// Refuse releases an idempotency lock and stores a refusal, as [postgres.Lock.Refuse] does.
func (s *Store) Refuse(ctx context.Context, l postgres.Lock) error { return l.Refuse(ctx, s.pool) }

// SweepFormerRecords deletes expired rows of idempotency_records, which only the previous release writes.
func (s *Store) SweepFormerRecords(ctx context.Context, now time.Time) error {
	if _, err := s.pool.Exec(ctx, `DELETE FROM idempotency_records WHERE expires_at <= $1`, now); err != nil {
		return fmt.Errorf("remove expired idempotency records: %w", err)
	}
	return nil
}
