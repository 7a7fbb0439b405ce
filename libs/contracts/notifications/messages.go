package notifications

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/request"
)

// States of a message.
const (
	MessageNotSent = "not_sent" // no mail server, a sandbox, or replaced by a newer message
	MessageQueued  = "queued"   // attempts continue
	MessageHeld    = "held"     // a limit holds it back
	MessageSent    = "sent"     // accepted by the mail server
	MessageFailed  = "failed"   // rejected permanently, or not accepted for a day
)

// MessageStatuses returns all statuses of a message, in the order of its life.
func MessageStatuses() []string {
	return []string{MessageNotSent, MessageQueued, MessageHeld, MessageSent, MessageFailed}
}

// Message is a message to a customer or an owner, as lists show it, whether it was sent or not.
type Message struct {
	ID        uuid.UUID  `json:"id"`
	Kind      string     `json:"kind"`
	EventID   uuid.UUID  `json:"event_id"` // its event; an id of its own for a message due at a time
	About     Subject    `json:"about"`
	Recipient string     `json:"recipient"` // an address
	Locale    string     `json:"locale"`
	Subject   string     `json:"subject"` // the subject line
	Status    string     `json:"status"`
	Reason    string     `json:"reason,omitempty"` // why it was not sent, or not yet
	Attempts  int        `json:"attempts"`
	CreatedAt time.Time  `json:"created_at"`
	SentAt    *time.Time `json:"sent_at"` // null: not known to be sent
}

// WholeMessage is a message with the contents of its mail.
type WholeMessage struct {
	Message
	FromName       string `json:"from_name"`
	ReplyTo        string `json:"reply_to,omitempty"`
	Text           string `json:"text"`
	HTML           string `json:"html"` // the same words as Text
	Calendar       string `json:"calendar,omitempty"`
	CalendarMethod string `json:"calendar_method,omitempty"` // REQUEST, CANCEL or PUBLISH
}

// MessageList is one page of a business's messages, newest first.
type MessageList struct {
	Messages   []Message `json:"messages"`
	NextCursor string    `json:"next_cursor,omitempty"`
}

// MessageFilter narrows a list of messages. A zero field does not narrow it.
type MessageFilter struct {
	Status string    `query:"status"`
	Kind   string    `query:"kind"`
	About  uuid.UUID `query:"about"` // the booking, order of tickets or reservation
}

// Messages lists messages, newest first, without the contents of their
// mails. Fault: invalid_parameter for an invalid filter or page.
func (c *Client) Messages(ctx context.Context, businessID uuid.UUID, filter MessageFilter,
	page request.Page) (*MessageList, error) {
	return ListMessages.Call(ctx, c.peer, MessagesRequest{PageRequest{businessID, page}, filter})
}

// Message returns one message with the contents of its mail. Fault: not_found.
func (c *Client) Message(ctx context.Context, businessID, id uuid.UUID) (*WholeMessage, error) {
	return ReadMessage.Call(ctx, c.peer, MessageID{businessID, id})
}

// RetryMessage sends a message again that failed or was held back. Faults: not_found;
// conflict if it was sent or is being sent, or if no mail server is configured.
func (c *Client) RetryMessage(ctx context.Context, businessID, id uuid.UUID) (*Message, error) {
	return RetryMessage.Call(ctx, c.peer, MessageID{businessID, id})
}
