package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

// ErrMustWait means that an earlier message about the same subject to the same recipient must be sent first.
var ErrMustWait = errors.New("an earlier message goes first")

// StatusError means that a message's status does not allow the operation.
type StatusError struct{ Status string }

func (e *StatusError) Error() string { return "not allowed from status " + e.Status }

// Limit is a kind of limit on messages.
type Limit string

// The limits of messages.
const (
	RecipientLimit Limit = "recipient" // from one business to one recipient
	BusinessLimit  Limit = "business"  // of one business within 24 hours
)

// LimitError means that a limit holds a message back.
type LimitError struct {
	Limit   Limit
	Until   time.Time // time at which the limit allows the next message; another message may be sent first
	IsFirst bool      // the message was not held before
}

func (e *LimitError) Error() string {
	return "the limit of messages by " + string(e.Limit) + " holds it back"
}

// ErrOutdated means that a newer message about the same subject replaced a held message, which is not sent.
var ErrOutdated = errors.New("a newer message replaces it")

// Reasons, for owners, why messages are not sent, or not yet.
const (
	reasonReplaced  = "A newer message about the same subject replaced it."
	reasonRecipient = "The limit of messages to one address is reached. The newest message is sent when the limit " +
		"allows it."
	reasonNotice = "The limit of notices to one address is reached: it is no verified member's. Invite it to the " +
		"team."
	reasonBusiness = "The limit of messages a day is reached. The message is sent when the limit allows it."
)

// SendRequest is a request to begin an attempt at a message.
type SendRequest struct {
	BusinessID, ID uuid.UUID
	Now            time.Time
	// ReplaceableKinds are kinds of messages. A newer message of one of them replaces a held one about the same
	// subject.
	ReplaceableKinds []string
	// NewestOnlyKinds are kinds of messages of which only the newest one to a recipient is sent. It replaces a held
	// message of the same kind to the same recipient, even about another subject. Messages without limits
	// per recipient are not replaced.
	NewestOnlyKinds []string
	MaxPerHour      int // maximum of messages of the business to one recipient within an hour
	MaxPerDay       int // maximum of messages of the business to one recipient within 24 hours
	MaxBusinessDay  int // maximum of messages of the business within 24 hours
	MaxCustomersDay int // replaces MaxBusinessDay for a message that the business did not cause
}

// BeginSending decides whether a message may be sent now. If it may, BeginSending counts the attempt
// in advance and returns the message. Only one attempt of a business begins at a time, so that
// concurrent attempts cannot exceed a limit together. The day of attempts begins with the first
// attempt.
//
// Errors: [ErrMustWait], [*LimitError], [ErrOutdated]; [*StatusError] if the message is neither queued
// nor held; [ErrNotFound].
func (s *Store) BeginSending(ctx context.Context, b SendRequest) (Message, error) {
	var (
		m       Message
		refusal error // why no attempt begins; the transaction is committed nevertheless
	)
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('messages ' || $1::uuid::text, 0))`,
			b.BusinessID); err != nil {
			return fmt.Errorf("lock the messages of a business: %w", err)
		}
		var err error
		if m, refusal, err = b.findRefusal(ctx, tx); err != nil || refusal != nil {
			return err
		}
		m, err = collectMessage(tx.Query(ctx, `
UPDATE messages SET attempts = attempts + 1, attempted_at = $3, status = 'queued',
    queued_at = CASE WHEN reason = '' OR status = 'held' THEN $3 ELSE queued_at END, reason = CASE WHEN status = 'held' THEN '' ELSE reason END
WHERE business_id = $1 AND id = $2
RETURNING `+messageColumns, b.BusinessID, b.ID, b.Now))
		return err
	})
	if err != nil {
		return Message{}, err
	}
	return m, refusal
}

// findRefusal reads a message and returns the reason why no attempt is made now, or nil if one is made.
func (b SendRequest) findRefusal(ctx context.Context, tx pgx.Tx) (Message, error, error) {
	m, err := collectMessage(tx.Query(ctx,
		`SELECT `+messageColumns+` FROM messages WHERE business_id = $1 AND id = $2 FOR UPDATE`,
		b.BusinessID, b.ID))
	switch {
	case err != nil:
		return m, nil, err
	case m.Status != MessageQueued && m.Status != MessageHeld:
		return m, &StatusError{Status: m.Status}, nil
	}
	limit, until, err := b.findExceeded(ctx, tx, m)
	if err != nil {
		return m, nil, err
	}
	var hasEarlier, isOutdated bool
	err = tx.QueryRow(ctx, `
SELECT coalesce(bool_or(o.position < m.position), false),
       coalesce(bool_or(o.position > m.position AND o.kind = ANY($3::text[]) AND m.kind = ANY($3::text[])), false)
FROM messages AS m, messages AS o
WHERE m.business_id = $1 AND m.id = $2 AND o.business_id = $1 AND o.about_id = m.about_id AND o.id <> m.id
  AND o.status IN ('queued', 'held') AND lower(o.recipient) = lower(m.recipient)`, b.BusinessID, b.ID, b.ReplaceableKinds).Scan(&hasEarlier, &isOutdated)
	if err == nil && !isOutdated && !m.IsUnlimited && slices.Contains(b.NewestOnlyKinds, m.Kind) {
		isOutdated, err = b.hasNewer(ctx, tx, m)
	}
	switch {
	case err != nil:
		return m, nil, fmt.Errorf("read the messages about the same subject: %w", err)
	case isOutdated && (limit != "" || m.Status == MessageHeld):
		return m, ErrOutdated, b.setStatus(ctx, tx, MessageNotSent, reasonReplaced)
	case hasEarlier && limit == "":
		return m, ErrMustWait, nil
	case limit == "":
		return m, nil, nil
	}
	reason := reasonRecipient
	switch {
	case limit == BusinessLimit:
		reason = reasonBusiness
	case slices.Contains(b.NewestOnlyKinds, m.Kind):
		reason = reasonNotice
	}
	return m, &LimitError{Limit: limit, Until: until, IsFirst: m.Status != MessageHeld},
		b.setStatus(ctx, tx, MessageHeld, reason)
}

// hasNewer reports whether a newer message of the same kind to the same recipient is waiting or was sent.
func (b SendRequest) hasNewer(ctx context.Context, tx pgx.Tx, m Message) (bool, error) {
	return postgres.Row(ctx, tx, pgx.RowTo[bool], "look for a newer message", `
SELECT EXISTS (
    SELECT FROM messages AS o, messages AS m
    WHERE m.business_id = $1 AND m.id = $2 AND o.business_id = $1 AND o.kind = m.kind AND o.position > m.position
      AND o.status IN ('queued', 'held', 'sent') AND lower(o.recipient) = lower(m.recipient))`, m.BusinessID, m.ID)
}

// setStatus sets the final status of a message for which no attempt is made.
func (b SendRequest) setStatus(ctx context.Context, tx pgx.Tx, status, reason string) error {
	_, err := tx.Exec(ctx, `UPDATE messages SET status = $3, reason = $4 WHERE business_id = $1 AND id = $2`,
		b.BusinessID, b.ID, status, reason)
	if err != nil {
		return fmt.Errorf("hold a message: %w", err)
	}
	return nil
}

// nthAttemptSQL returns a subquery for the time at which an attempt leaves the window, that is, its time plus window.
// offset selects the attempt: 1 is the newest one in the window. If there are fewer attempts, the result is null.
func nthAttemptSQL(where, window, offset string) string {
	return `(SELECT o.attempted_at + ` + window +
		`::interval FROM messages AS o WHERE o.business_id = @business_id AND o.id <> @id ` + where + `
    AND o.attempted_at > @now::timestamptz - ` + window + `::interval ORDER BY o.attempted_at DESC OFFSET ` + offset + `::int - 1 LIMIT 1)`
}

const sameRecipientSQL = `AND lower(o.recipient) = lower(@recipient) AND NOT o.unlimited`

var exceededLimitsSQL = `
SELECT CASE WHEN NOT @unlimited::boolean THEN greatest(` +
	nthAttemptSQL(sameRecipientSQL, `'1 hour'`, `@per_hour`) + `, ` + nthAttemptSQL(sameRecipientSQL, `'24 hours'`,
	`@per_day`) + `) END,
` + nthAttemptSQL(``, `'24 hours'`, `@business_day`)

// findExceeded returns the limit that a message would exceed now, and the time when that limit allows
// the next message. It returns "" if the message exceeds no limit.
func (b SendRequest) findExceeded(ctx context.Context, tx pgx.Tx, m Message) (Limit, time.Time, error) {
	var recipient, business *time.Time
	businessDay := b.MaxCustomersDay
	if m.IsByBusiness {
		businessDay = b.MaxBusinessDay
	}
	err := tx.QueryRow(ctx, exceededLimitsSQL, pgx.NamedArgs{
		"business_id": b.BusinessID, "id": b.ID, "recipient": m.Recipient, "unlimited": m.IsUnlimited, "now": b.Now,
		"per_hour": b.MaxPerHour, "per_day": b.MaxPerDay, "business_day": businessDay,
	}).Scan(&recipient, &business)
	switch {
	case err != nil:
		return "", time.Time{}, fmt.Errorf("count the messages of a business: %w", err)
	case recipient != nil:
		return RecipientLimit, *recipient, nil
	case business != nil:
		return BusinessLimit, *business, nil
	}
	return "", time.Time{}, nil
}

// SendResult is the result of an attempt.
type SendResult struct {
	BusinessID, ID uuid.UUID
	Status         string
	Reason         string // "" if the message was sent
	Now            time.Time
}

// EndSending stores the result of an attempt. If the message will not be sent, its attempt no longer
// counts against the limits.
func (s *Store) EndSending(ctx context.Context, tx pgx.Tx, o SendResult) error {
	var sentAt *time.Time
	if o.Status == MessageSent {
		sentAt = &o.Now
	}
	_, err := tx.Exec(ctx, `
UPDATE messages SET status = $3, reason = $4, sent_at = $5, attempted_at = CASE WHEN $3 IN ('failed', 'not_sent') THEN NULL ELSE attempted_at END
WHERE business_id = $1 AND id = $2 AND status = 'queued'`,
		o.BusinessID, o.ID, o.Status, o.Reason, sentAt)
	if err != nil {
		return fmt.Errorf("end an attempt at a message: %w", err)
	}
	return nil
}

const requeueSQL = `
UPDATE messages SET status = 'queued', reason = '', queued_at = $3
WHERE business_id = $1 AND id = $2 AND status IN ('failed', 'not_sent')
RETURNING ` + messageColumns

// Requeue queues a message that failed or was not sent, for another day of attempts. Errors:
// [*StatusError] if the message was sent or is being tried; [ErrNotFound].
func (s *Store) Requeue(ctx context.Context, tx pgx.Tx, businessID, id uuid.UUID, now time.Time) (Message, error) {
	m, err := collectMessage(tx.Query(ctx, requeueSQL, businessID, id, now))
	if !errors.Is(err, ErrNotFound) {
		return m, err
	}
	if m, err = collectMessage(tx.Query(ctx, `SELECT `+messageColumns+` FROM messages WHERE business_id = $1 AND id = $2`,
		businessID, id)); err != nil {
		return Message{}, err
	}
	return Message{}, &StatusError{Status: m.Status}
}
