package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// ErrWaits says that another message to the same recipient about the same subject has to go out first.
var ErrWaits = errors.New("an earlier message goes first")

// StatusError says that a message's status does not allow what was asked for.
type StatusError struct{ Status string }

func (e *StatusError) Error() string { return "not allowed from status " + e.Status }

const beginSQL = `
UPDATE messages AS m SET attempts = attempts + 1, queued_at = CASE WHEN reason = '' THEN $3 ELSE queued_at END
WHERE business_id = $1 AND id = $2 AND status = 'queued' AND NOT EXISTS (
	SELECT FROM messages AS earlier WHERE earlier.business_id = m.business_id AND earlier.about_id = m.about_id
		AND earlier.status = 'queued' AND earlier.position < m.position AND earlier.recipient = m.recipient)
RETURNING ` + messageColumns

// BeginSending counts an attempt, before it is made, and returns the message. The day for which attempts are made begins with the first one: none has failed
// yet of a message without a reason, however long it has waited. Errors: [ErrWaits]; [*StatusError] for one that is not queued; [ErrNotFound].
func (s *Store) BeginSending(ctx context.Context, businessID, id uuid.UUID, now time.Time) (Message, error) {
	m, err := one(s.pool.Query(ctx, beginSQL, businessID, id, now))
	if !errors.Is(err, ErrNotFound) {
		return m, err
	}
	if m, err = s.Message(ctx, businessID, id); err != nil {
		return Message{}, err
	}
	if m.Status != MessageQueued {
		return m, &StatusError{Status: m.Status}
	}
	return m, ErrWaits
}

// Outcome is what became of an attempt.
type Outcome struct {
	BusinessID, ID uuid.UUID
	Status         string
	Reason         string // "" of what was sent
	Now            time.Time
}

// EndSending writes down what became of an attempt.
func (s *Store) EndSending(ctx context.Context, tx pgx.Tx, o Outcome) error {
	var sentAt *time.Time
	if o.Status == MessageSent {
		sentAt = &o.Now
	}
	_, err := tx.Exec(ctx, `UPDATE messages SET status = $3, reason = $4, sent_at = $5 WHERE business_id = $1 AND id = $2 AND status = 'queued'`,
		o.BusinessID, o.ID, o.Status, o.Reason, sentAt)
	if err != nil {
		return fmt.Errorf("end an attempt at a message: %w", err)
	}
	return nil
}

const requeueSQL = `
UPDATE messages SET status = 'queued', reason = '', queued_at = $3
WHERE business_id = $1 AND id = $2 AND status IN ('failed', 'kept')
RETURNING ` + messageColumns

// Requeue lets a message that was not sent be tried again for a day. Errors: [*StatusError] for one that was sent or is being tried;
// [ErrNotFound].
func (s *Store) Requeue(ctx context.Context, tx pgx.Tx, businessID, id uuid.UUID, now time.Time) (Message, error) {
	m, err := one(tx.Query(ctx, requeueSQL, businessID, id, now))
	if !errors.Is(err, ErrNotFound) {
		return m, err
	}
	if m, err = one(tx.Query(ctx, `SELECT `+messageColumns+` FROM messages WHERE business_id = $1 AND id = $2`, businessID, id)); err != nil {
		return Message{}, err
	}
	return Message{}, &StatusError{Status: m.Status}
}
