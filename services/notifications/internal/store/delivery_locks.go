package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// DeliveryLock names the endpoint whose deliveries are locked, and the job that holds the lock. Only one job at a time
// holds the lock of an endpoint.
type DeliveryLock struct {
	BusinessID, EndpointID uuid.UUID
	Holder                 uuid.UUID // the same ID in all runs of a job
}

// EndpointState is the part of an endpoint's state that decides in which queue the endpoint's jobs run.
type EndpointState struct {
	IsFailing bool // the last attempt at this endpoint failed

	url string
}

const acquireLockSQL = `
UPDATE webhook_endpoints SET wake_at = CASE WHEN $5 THEN NULL ELSE wake_at END,
    lane = CASE WHEN lane_until < statement_timestamp() THEN $3 ELSE lane END,
    lane_until = CASE WHEN lane = $3 OR lane_until < statement_timestamp() THEN statement_timestamp() + $4::interval ELSE lane_until END
WHERE business_id = $1 AND id = $2
RETURNING coalesce(lane = $3, false)`

// AcquireDeliveryLock acquires the delivery lock of an endpoint, or extends the lock if l.Holder already holds it. The
// lock expires after the given duration. The argument `wasScheduled` must be true if the job was scheduled for a later
// time.
//
// AcquireDeliveryLock returns false if the endpoint is deleted or another holder has the lock. The caller can then
// stop, because the other holder looks for due deliveries again before it releases the lock.
func (s *Store) AcquireDeliveryLock(ctx context.Context, l DeliveryLock, duration time.Duration,
	wasScheduled bool) (bool, error) {
	var isAcquired bool
	err := s.pool.QueryRow(ctx, acquireLockSQL, l.BusinessID, l.EndpointID, l.Holder, duration,
		wasScheduled).Scan(&isAcquired)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return false, fmt.Errorf("acquire a delivery lock: %w", err)
	}
	return isAcquired, nil
}

// DueDelivery is a delivery that is due now, with the data that an attempt needs.
type DueDelivery struct {
	ID        uuid.UUID
	EventID   uuid.UUID
	SubjectID uuid.UUID
	Body      []byte
	Attempts  int // number of failed attempts so far

	URL            string
	Secret         []byte
	PreviousSecret []byte // a second secret that also signs the delivery, or nil
}

// Secrets returns the secrets that sign the delivery, newest first.
func (d DueDelivery) Secrets() [][]byte {
	if d.PreviousSecret == nil {
		return [][]byte{d.Secret}
	}
	return [][]byte{d.Secret, d.PreviousSecret}
}

// DueDeliveries returns the due deliveries of an endpoint, in the order of their due times. The argument `limit` is
// their maximum number. At most one delivery of each subject is due, apart from deliveries that an owner sent again.
// Each call also reads the endpoint's URL and secrets, so that a change of these values applies to the next delivery.
func (s *Store) DueDeliveries(ctx context.Context, l DeliveryLock, limit int, now time.Time) ([]DueDelivery, error) {
	rows, _ := s.pool.Query(ctx, `SELECT d.id, d.event_id, d.subject_id, d.body, d.attempts, e.url, e.secret, CASE WHEN e.previous_until > $3 THEN e.previous_secret END
FROM webhook_deliveries d JOIN webhook_endpoints e ON e.business_id = d.business_id AND e.id = d.endpoint_id
WHERE d.business_id = $1 AND d.endpoint_id = $2 AND d.due_at <= $3 ORDER BY d.due_at, d.id LIMIT $4`, l.BusinessID, l.EndpointID, now, limit)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[DueDelivery])
	if err != nil {
		return nil, fmt.Errorf("read due deliveries: %w", err)
	}
	return list, nil
}

// lockEndpoint locks the row of an endpoint. Until the transaction ends, no other transaction can add a delivery for
// the endpoint or release its delivery lock.
func lockEndpoint(ctx context.Context, tx pgx.Tx, businessID, endpointID uuid.UUID) (EndpointState, error) {
	var state EndpointState
	err := tx.QueryRow(ctx,
		`SELECT failing_since IS NOT NULL, url FROM webhook_endpoints WHERE business_id = $1 AND id = $2 FOR NO KEY UPDATE`, businessID, endpointID).
		Scan(&state.IsFailing, &state.url)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return EndpointState{}, ErrNotFound
	case err != nil:
		return EndpointState{}, fmt.Errorf("lock an endpoint: %w", err)
	}
	return state, nil
}

// AttemptResult is the result of one attempt at a delivery.
type AttemptResult struct {
	Delivery DueDelivery
	Attempt  Attempt
	Status   string // if this is DeliveryPending, the next attempt is due at NextAt
	NextAt   time.Time
	IsGone   bool // the receiver answered 410
}

// failingFor is how long all attempts at an endpoint must fail before the endpoint is disabled.
const failingFor = 5 * 24 * time.Hour

// RecordAttempt stores the result of an attempt and the due time of the delivery's next attempt. If the delivery has
// ended, RecordAttempt makes the next delivery of the subject due. If the result disables the endpoint, RecordAttempt
// sets its pending deliveries to failed, calls `onDisabled` in the same transaction and returns true. Error:
// [ErrNotFound] if the endpoint is deleted.
//
// During the attempt, the endpoint's URL may be changed, or the delivery may be set to failed. In both cases,
// RecordAttempt stores the result, but does not change the endpoint. If the old URL answered 410, the delivery is due
// again at once, for the new URL.
func (s *Store) RecordAttempt(ctx context.Context, l DeliveryLock, o AttemptResult, now time.Time,
	onDisabled func(context.Context, pgx.Tx, Endpoint) error) (bool, error) {
	var isDisabled bool
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		state, err := lockEndpoint(ctx, tx, l.BusinessID, l.EndpointID)
		if err != nil {
			return err
		}
		urlChanged := state.url != o.Delivery.URL
		if urlChanged && o.IsGone {
			o.Status, o.NextAt = DeliveryPending, now
		}
		counts, err := insertAttempt(ctx, tx, l, o)
		if err != nil {
			return err
		}
		if o.Status != DeliveryPending {
			if err := makeNextDue(ctx, tx, l, o.Delivery.SubjectID, now); err != nil {
				return err
			}
		}
		if urlChanged || !counts {
			return nil
		}
		isDisabled, err = updateEndpointHealth(ctx, tx, l, o, now, onDisabled)
		return err
	})
	if err != nil && !errors.Is(err, ErrNotFound) {
		return false, fmt.Errorf("record an attempt: %w", err)
	}
	return isDisabled, err
}

// insertAttempt stores an attempt. insertAttempt returns true if the delivery was still pending, or if the attempt was
// successful. If the delivery was erased during the attempt, insertAttempt stores nothing.
func insertAttempt(ctx context.Context, tx pgx.Tx, l DeliveryLock, o AttemptResult) (bool, error) {
	_, err := tx.Exec(ctx,
		`INSERT INTO webhook_attempts (business_id, delivery_id, number, at, milliseconds, http_status, error, answer)
SELECT d.business_id, d.id, coalesce((SELECT max(number) FROM webhook_attempts a WHERE a.business_id = $1 AND a.delivery_id = d.id), 0) + 1, $3, $4, $5, $6, $7
FROM webhook_deliveries d WHERE d.business_id = $1 AND d.id = $2`,
		l.BusinessID, o.Delivery.ID, o.Attempt.At, o.Attempt.Milliseconds, o.Attempt.Status, o.Attempt.Error,
		o.Attempt.Answer)
	if err != nil {
		return false, err
	}
	var nextAt *time.Time
	if o.Status == DeliveryPending {
		nextAt = &o.NextAt
	}
	// A delivery that was set to failed during the attempt keeps that status, unless the attempt was successful.
	tag, err := tx.Exec(ctx, `UPDATE webhook_deliveries SET status = $3, due_at = $4, attempts = attempts + 1
WHERE business_id = $1 AND id = $2 AND (status = 'pending' OR $3 = 'delivered')`, l.BusinessID, o.Delivery.ID, o.Status, nextAt)
	return tag.RowsAffected() > 0, err
}

// makeNextDue makes the next delivery of the given subject due, because the previous delivery has ended.
func makeNextDue(ctx context.Context, tx pgx.Tx, l DeliveryLock, subjectID uuid.UUID, now time.Time) error {
	_, err := tx.Exec(ctx, `
UPDATE webhook_deliveries SET due_at = $4 WHERE business_id = $1 AND id = (
    SELECT id FROM webhook_deliveries WHERE business_id = $1 AND endpoint_id = $2 AND subject_id = $3 AND status = 'pending' AND NOT again
    ORDER BY sequence LIMIT 1) AND due_at IS NULL`, l.BusinessID, l.EndpointID, subjectID, now)
	return err
}

// updateEndpointHealth disables the endpoint if the receiver answered 410, or if all attempts have failed for
// failingFor. updateEndpointHealth returns true if it disables the endpoint.
func updateEndpointHealth(ctx context.Context, tx pgx.Tx, l DeliveryLock, o AttemptResult, now time.Time,
	onDisabled func(context.Context, pgx.Tx, Endpoint) error) (bool, error) {
	rows, _ := tx.Query(ctx, `
UPDATE webhook_endpoints SET failing_since = f.since, active = active AND f.reason IS NULL,
    disabled_reason = CASE WHEN active THEN f.reason ELSE disabled_reason END
FROM (SELECT CASE WHEN $3 THEN NULL ELSE coalesce(failing_since, $4) END AS since, active AS was,
    CASE WHEN $5 THEN 'gone' WHEN NOT $3 AND failing_since <= $6 THEN 'failing' END AS reason
    FROM webhook_endpoints WHERE business_id = $1 AND id = $2) f
WHERE business_id = $1 AND id = $2
RETURNING `+endpointColumns+`, f.was AND NOT active`, l.BusinessID, l.EndpointID, o.Status == DeliveryDelivered, now, o.IsGone, now.Add(-failingFor))
	var isDisabled bool
	e, err := pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (Endpoint, error) {
		return scanEndpointWith(row, &isDisabled)
	})
	if err != nil || !isDisabled {
		return false, err
	}
	if err := failPending(ctx, tx, l.BusinessID, l.EndpointID); err != nil {
		return false, err
	}
	return true, onDisabled(ctx, tx, e)
}

// ReleaseDeliveryLock releases a delivery lock. If deliveries remain, it calls `wake` in the same transaction with the
// time at which the next job must run. That time is the time `now` if a delivery is due, otherwise the earliest due
// time. If a job for that later time exists already, ReleaseDeliveryLock does not call `wake`.
func (s *Store) ReleaseDeliveryLock(ctx context.Context, l DeliveryLock, now time.Time,
	wake func(context.Context, pgx.Tx, EndpointState,
		time.Time) error) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		state, err := lockEndpoint(ctx, tx, l.BusinessID, l.EndpointID)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		var (
			// `next` is the due time of the next delivery. It is read while the endpoint's row is locked, so that no
			// new delivery is missed.
			next     *time.Time
			needsJob bool
		)
		err = tx.QueryRow(ctx, `
UPDATE webhook_endpoints SET lane = NULL, lane_until = '-infinity',
    wake_at = CASE WHEN n.due > $4 AND (wake_at IS NULL OR wake_at <= $4 OR wake_at > n.due) THEN n.due ELSE wake_at END
FROM (SELECT min(due_at) AS due FROM webhook_deliveries WHERE business_id = $1 AND endpoint_id = $2) n,
     (SELECT wake_at AS was FROM webhook_endpoints WHERE business_id = $1 AND id = $2) w
WHERE business_id = $1 AND id = $2 AND lane = $3
RETURNING n.due, coalesce(n.due <= $4, false) OR wake_at IS DISTINCT FROM w.was`, l.BusinessID, l.EndpointID, l.Holder, now).Scan(&next, &needsJob)
		switch {
		case errors.Is(err, pgx.ErrNoRows): // the lock expired, and another job has acquired it
			return nil
		case err != nil:
			return err
		case next == nil || !needsJob:
			return nil
		}
		return wake(ctx, tx, state, *next)
	})
	if err != nil {
		return fmt.Errorf("release a delivery lock: %w", err)
	}
	return nil
}

// ReleaseExpiredLocks releases the delivery locks that have expired because their holders died. In the same
// transaction, it calls `wake` for the endpoint of each such lock.
func (s *Store) ReleaseExpiredLocks(ctx context.Context, wake func(ctx context.Context, tx pgx.Tx, businessID,
	endpointID uuid.UUID, state EndpointState) error) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `
UPDATE webhook_endpoints SET lane = NULL, lane_until = '-infinity'
WHERE lane IS NOT NULL AND lane_until < statement_timestamp()
RETURNING business_id, id, failing_since IS NOT NULL`)
		if err != nil {
			return err
		}
		type expiredLock struct {
			BusinessID, EndpointID uuid.UUID
			Failing                bool
		}
		locks, err := pgx.CollectRows(rows, pgx.RowToStructByPos[expiredLock])
		if err != nil {
			return err
		}
		for _, l := range locks {
			if err := wake(ctx, tx, l.BusinessID, l.EndpointID, EndpointState{IsFailing: l.Failing}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("release expired delivery locks: %w", err)
	}
	return nil
}
