package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/platform/request"
)

// The statuses of a message.
const (
	MessageNotSent = "not_sent" // no mail server, a sandbox, or replaced by a newer message
	MessageQueued  = "queued"   // waits for an attempt, or an attempt is in progress
	MessageHeld    = "held"     // a limit holds the message back
	MessageSent    = "sent"     // the mail server accepted the message
	MessageFailed  = "failed"   // rejected permanently, or not accepted for a day
)

// Message is one written message and its state.
type Message struct {
	BusinessID    uuid.UUID
	ID            uuid.UUID
	Kind          string
	EventID       uuid.UUID
	About         event.Subject
	CustomerEmail string // address of the customer whose data the message contains, or ""
	Recipient     string
	Locale        string
	FromName      string
	ReplyTo       string
	Subject       string
	Text          string
	HTML          string
	Calendar      []byte
	Method        string
	Status        string
	Reason        string
	Attempts      int
	IsUnlimited   bool      // the limits per recipient do not apply
	IsByBusiness  bool      // the business caused the message
	AboutEndsAt   time.Time // end of the subject
	CreatedAt     time.Time
	QueuedAt      time.Time
	SentAt        *time.Time
}

const messageColumns = `business_id, id, kind, event_id, about_kind, about_id, customer_email, recipient, locale, from_name, reply_to,
	subject, text, html, calendar, calendar_method, status, reason, attempts, unlimited, by_business, about_ends_at, created_at, queued_at, sent_at`

func scanMessage(row pgx.CollectableRow) (Message, error) {
	var m Message
	err := row.Scan(&m.BusinessID, &m.ID, &m.Kind, &m.EventID, &m.About.Kind, &m.About.ID, &m.CustomerEmail,
		&m.Recipient, &m.Locale, &m.FromName,
		&m.ReplyTo, &m.Subject, &m.Text, &m.HTML, &m.Calendar, &m.Method, &m.Status, &m.Reason, &m.Attempts,
		&m.IsUnlimited, &m.IsByBusiness, &m.AboutEndsAt, &m.CreatedAt, &m.QueuedAt, &m.SentAt)
	m.CreatedAt, m.QueuedAt = m.CreatedAt.UTC(), m.QueuedAt.UTC()
	return m, err
}

const addMessageSQL = `
INSERT INTO messages (` + messageColumns + `)
VALUES (@business_id, @id, @kind, @event_id, @about_kind, @about_id, lower(@customer_email), @recipient, @locale, @from_name, @reply_to,
	@subject, @text, @html, @calendar, @calendar_method, @status, @reason, 0, @unlimited, @by_business, @about_ends_at, @now, @now, NULL)
ON CONFLICT (business_id, event_id, kind, recipient) DO NOTHING`

// AddMessage stores a message, once per event, kind and recipient. AddMessage returns false if the message exists
// already.
func (s *Store) AddMessage(ctx context.Context, tx pgx.Tx, m Message) (bool, error) {
	tag, err := tx.Exec(ctx, addMessageSQL, pgx.NamedArgs{
		"business_id": m.BusinessID, "id": m.ID, "kind": m.Kind, "event_id": m.EventID,
		"about_kind": string(m.About.Kind), "about_id": m.About.ID,
		"customer_email": m.CustomerEmail, "recipient": m.Recipient, "locale": m.Locale, "from_name": m.FromName,
		"reply_to": m.ReplyTo,
		"subject":  m.Subject, "text": m.Text, "html": m.HTML, "calendar": m.Calendar, "calendar_method": m.Method,
		"status": m.Status, "reason": m.Reason,
		"unlimited": m.IsUnlimited, "by_business": m.IsByBusiness, "about_ends_at": m.AboutEndsAt, "now": m.CreatedAt,
	})
	if err != nil {
		return false, fmt.Errorf("add a message: %w", err)
	}
	return tag.RowsAffected() == 1, nil
}

// MessageFilter selects messages in a list. A field that is empty does not restrict the selection.
type MessageFilter struct {
	Status, Kind string
	About        uuid.UUID
}

// messageHeadColumns are the columns that the query for a list of messages reads. The columns with the contents of the
// mails are missing, because a page may have a thousand messages.
const messageHeadColumns = `business_id, id, kind, event_id, about_kind, about_id, customer_email, recipient, locale, from_name, reply_to,
	subject, '', '', NULL::bytea, calendar_method, status, reason, attempts, unlimited, by_business, about_ends_at, created_at, queued_at, sent_at`

const messagesSQL = `
SELECT ` + messageHeadColumns + ` FROM messages
WHERE business_id = @business_id
  AND (@status = '' OR status = @status) AND (@kind = '' OR kind = @kind) AND (@about::uuid IS NULL OR about_id = @about)
  AND (@before::timestamptz IS NULL OR (created_at, id) < (@before, @before_id::uuid))
ORDER BY created_at DESC, id DESC
LIMIT @limit`

// Messages returns a page of a business's messages, newest first, and the cursor of the next page. The messages lack
// Text, HTML and Calendar. After the last page, the cursor is "". Fault: invalid_parameter if the cursor is invalid.
func (s *Store) Messages(ctx context.Context, businessID uuid.UUID, filter MessageFilter,
	page request.Page) ([]Message, string, error) {
	before, beforeID, err := page.AfterTime()
	if err != nil {
		return nil, "", err
	}
	args := pgx.NamedArgs{
		"business_id": businessID, "status": filter.Status, "kind": filter.Kind, "about": nil, "before": before,
		"before_id": beforeID, "limit": page.Limit + 1,
	}
	if filter.About != uuid.Nil {
		args["about"] = filter.About
	}
	list, err := postgres.Rows(ctx, s.pool, scanMessage, "list messages", messagesSQL, args)
	if err != nil {
		return nil, "", err
	}
	list, next := request.Cut(list, page.Limit, func(m Message) string { return request.ByTime(m.CreatedAt, m.ID) })
	return list, next, nil
}

// CustomerMessages returns the messages with the data of a customer, oldest first, without HTML and Calendar. The
// argument `limit` is their maximum number. Upper and lower case in the argument `email` are equal.
func (s *Store) CustomerMessages(ctx context.Context, businessID uuid.UUID, email string,
	limit int) ([]Message, error) {
	return postgres.Rows(ctx, s.pool, scanMessage, "read a customer's messages",
		`SELECT business_id, id, kind, event_id, about_kind, about_id, customer_email, recipient, locale, from_name, reply_to,
	subject, text, '', NULL::bytea, calendar_method, status, reason, attempts, unlimited, by_business, about_ends_at, created_at, queued_at, sent_at
FROM messages WHERE business_id = $1 AND customer_email = lower($2) ORDER BY created_at, id LIMIT $3`, businessID, email, limit)
}

// Message returns the message with the given ID. Error: [ErrNotFound].
func (s *Store) Message(ctx context.Context, businessID, id uuid.UUID) (Message, error) {
	return collectMessage(s.pool.Query(ctx,
		`SELECT `+messageColumns+` FROM messages WHERE business_id = $1 AND id = $2`,
		businessID, id))
}

// collectMessage returns the message in the only row of a query's result. Error: [ErrNotFound].
func collectMessage(rows pgx.Rows, err error) (Message, error) {
	if err != nil {
		return Message{}, fmt.Errorf("read a message: %w", err)
	}
	m, err := pgx.CollectExactlyOneRow(rows, scanMessage)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return Message{}, ErrNotFound
	case err != nil:
		return Message{}, fmt.Errorf("read a message: %w", err)
	}
	return m, nil
}
