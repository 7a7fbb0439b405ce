package notifications

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/request"
)

// The statuses of a message.
const (
	MessageNotSent = "not_sent" // no mail server, a sandbox business, or a newer message replaces it
	MessageQueued  = "queued"   // waits for its next attempt
	MessageHeld    = "held"     // held back by a limit
	MessageSent    = "sent"     // accepted by the mail server
	MessageFailed  = "failed"   // rejected permanently, or not accepted for a day
)

// MessageStatuses returns all statuses of a message.
func MessageStatuses() []string {
	return []string{MessageNotSent, MessageQueued, MessageHeld, MessageSent, MessageFailed}
}

// Message is a message to a customer or an owner, without its contents.
// Perhaps the message has not been sent yet, or will never be sent.
type Message struct {
	ID   uuid.UUID `json:"id"`
	Kind string    `json:"kind"`
	// EventID is the id of the event that caused the message. If the message is sent at a fixed time,
	// such as a reminder, no event caused it; EventID is then an id that only this message has.
	EventID   uuid.UUID  `json:"event_id"`
	About     Subject    `json:"about"`
	Recipient string     `json:"recipient"` // email address
	Locale    string     `json:"locale"`
	Subject   string     `json:"subject"` // subject line
	Status    string     `json:"status"`
	Reason    string     `json:"reason,omitempty"` // reason why the message is not sent, or not yet
	Attempts  int        `json:"attempts"`
	CreatedAt time.Time  `json:"created_at"`
	SentAt    *time.Time `json:"sent_at"` // null unless the message is known to be sent
}

// WholeMessage is a message with its contents.
type WholeMessage struct {
	Message
	FromName       string `json:"from_name"`
	ReplyTo        string `json:"reply_to,omitempty"`
	Text           string `json:"text"`
	HTML           string `json:"html"` // the content of Text as HTML
	Calendar       string `json:"calendar,omitempty"`
	CalendarMethod string `json:"calendar_method,omitempty"` // iCalendar method: REQUEST, CANCEL or PUBLISH
}

// MessageList is one page of the messages of a business, newest first.
type MessageList struct {
	Messages   []Message `json:"messages"`
	NextCursor string    `json:"next_cursor,omitempty"`
}

// MessageFilter selects the messages of a list. A field with its zero value selects all messages.
type MessageFilter struct {
	Status string    `query:"status"`
	Kind   string    `query:"kind"`
	About  uuid.UUID `query:"about"` // id of the booking, order of tickets or reservation
}

// Messages lists messages of a business, newest first, without their
// contents. Fault: invalid_parameter for an invalid filter or page.
func (c *Client) Messages(ctx context.Context, businessID uuid.UUID, filter MessageFilter,
	page request.Page) (*MessageList, error) {
	return ListMessages.Call(ctx, c.peer, MessagesRequest{PageRequest{businessID, page}, filter})
}

// Message returns one message with its contents. Fault: not_found.
func (c *Client) Message(ctx context.Context, businessID, id uuid.UUID) (*WholeMessage, error) {
	return ReadMessage.Call(ctx, c.peer, MessageID{businessID, id})
}

// RetryMessage sends a message that failed or was held back by a limit. Faults: not_found;
// conflict if the message was already sent or is being sent, or if no mail server is configured.
func (c *Client) RetryMessage(ctx context.Context, businessID, id uuid.UUID) (*Message, error) {
	return RetryMessage.Call(ctx, c.peer, MessageID{businessID, id})
}
