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

// Limit is a kind of limit on the number of messages.
type Limit string

// The kinds of limits on messages.
const (
	RecipientLimit Limit = "recipient" // messages of one business to one recipient
	BusinessLimit  Limit = "business"  // messages of one business within 24 hours
)

// LimitError means that a limit holds the message back.
type LimitError struct {
	Limit   Limit
	Until   time.Time // when the limit allows the next message of the business; this may be another message
	IsFirst bool      // no limit held the message back before
}

func (e *LimitError) Error() string {
	return "the limit of messages by " + string(e.Limit) + " holds it back"
}

// ErrOutdated means that a newer message replaced a message that a limit held back. The replaced message is never sent.
var ErrOutdated = errors.New("a newer message replaces it")

// The reasons, as owners read them, why a message is not sent, or is held back.
const (
	reasonReplaced  = "A newer message about the same subject replaced it."
	reasonRecipient = "The limit of messages to one address is reached. The newest message is sent when the limit " +
		"allows it."
	reasonNotice = "The limit of notices to one address is reached: it is no verified member's. Invite it to the " +
		"team."
	reasonBusiness = "The limit of messages a day is reached. The message is sent when the limit allows it."
)

// SendRequest is a request to begin an attempt at a message. It contains the limits that apply to the message.
type SendRequest struct {
	BusinessID, ID uuid.UUID
	Now            time.Time
	// ReplaceableKinds are kinds of messages. A newer message of one of these kinds replaces a held message of one of
	// these kinds about the same subject.
	ReplaceableKinds []string
	// NewestOnlyKinds are kinds of messages. A newer message of such a kind replaces a held message of the same kind to
	// the same recipient, even if the subjects differ. Messages that are exempt from the limits per recipient are not
	// replaced.
	NewestOnlyKinds []string
	MaxPerHour      int // most messages of one business to one recipient within an hour
	MaxPerDay       int // most messages of one business to one recipient within 24 hours
	MaxBusinessDay  int // most messages of one business within 24 hours
	MaxCustomersDay int // replaces MaxBusinessDay for a message that the business did not cause
}

// BeginSending decides whether a message may be sent now. If so, it counts the attempt before the attempt is made, and
// returns the message. The period of 24 hours for attempts begins with the first attempt. Attempts of one business
// begin one after the other, because concurrent attempts could exceed a limit together.
//
// Errors: [ErrMustWait], [*LimitError], [ErrOutdated]; [*StatusError] if the message is neither queued nor held;
// [ErrNotFound].
func (s *Store) BeginSending(ctx context.Context, b SendRequest) (Message, error) {
	var (
		m       Message
		refusal error // the reason why no attempt begins; the transaction is committed nevertheless
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

// findRefusal reads a message and returns the reason why no attempt may begin now, or nil if an attempt may begin. If a
// limit holds the message back, or if the message is outdated, findRefusal stores the new status.
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

// hasNewer reports whether a newer message of the same kind to the same recipient waits or was sent.
func (b SendRequest) hasNewer(ctx context.Context, tx pgx.Tx, m Message) (bool, error) {
	return postgres.Row(ctx, tx, pgx.RowTo[bool], "look for a newer message", `
SELECT EXISTS (
    SELECT FROM messages AS o, messages AS m
    WHERE m.business_id = $1 AND m.id = $2 AND o.business_id = $1 AND o.kind = m.kind AND o.position > m.position
      AND o.status IN ('queued', 'held', 'sent') AND lower(o.recipient) = lower(m.recipient))`, m.BusinessID, m.ID)
}

// setStatus stores the new status of a message for which no attempt is made, and the reason for this status.
func (b SendRequest) setStatus(ctx context.Context, tx pgx.Tx, status, reason string) error {
	_, err := tx.Exec(ctx, `UPDATE messages SET status = $3, reason = $4 WHERE business_id = $1 AND id = $2`,
		b.BusinessID, b.ID, status, reason)
	if err != nil {
		return fmt.Errorf("hold a message: %w", err)
	}
	return nil
}

// nthAttemptSQL returns an SQL subquery for the time at which an attempt no longer counts against a limit. This time is
// the time of the attempt plus the argument `window`. The argument `offset` selects the attempt: 1 is the newest
// attempt in the window. If the window has fewer attempts, the subquery returns NULL.
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

// findExceeded returns the limit that the message would exceed if it were sent now. findExceeded also returns the time
// at which that limit allows the next message. If the message exceeds no limit, the returned limit is "".
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

// SendResult is the result of an attempt to send a message.
type SendResult struct {
	BusinessID, ID uuid.UUID
	Status         string
	Reason         string // "" if the message was sent
	Now            time.Time
}

// EndSending stores the result of an attempt. If the message was not sent and no attempt follows, the last attempt at
// the message no longer counts against the limits.
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

// Requeue queues a failed or unsent message again. Attempts are then made for another day. Errors: [*StatusError] if
// the message was sent or an attempt is in progress; [ErrNotFound].
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
