package notifications

import (
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/peer/typed"
	"github.com/slotmesh/slotmesh/libs/request"
)

// States of a message.
const (
	MessageNotSent = "not_sent" // there is no mail server, the business is a sandbox, or a newer message replaced it
	MessageQueued  = "queued"   // attempts go on
	MessageHeld    = "held"     // a limit holds it back
	MessageSent    = "sent"     // the mail server has taken it
	MessageFailed  = "failed"   // refused for good, or not taken for a day
)

// MessageStatuses are all of them, in the order in which a message comes to them.
func MessageStatuses() []string {
	return []string{MessageNotSent, MessageQueued, MessageHeld, MessageSent, MessageFailed}
}

// Message is what a customer or an owner was mailed, or would have been, as lists show it.
type Message struct {
	ID        uuid.UUID  `json:"id"`
	Kind      string     `json:"kind"`
	EventID   uuid.UUID  `json:"event_id"` // of what it tells; one of its own where it was due at a time
	About     Subject    `json:"about"`
	Recipient string     `json:"recipient"` // an address
	Locale    string     `json:"locale"`
	Subject   string     `json:"subject"` // the mail's line of that name
	Status    string     `json:"status"`
	Reason    string     `json:"reason,omitempty"` // why it was not sent, or not yet
	Attempts  int        `json:"attempts"`
	CreatedAt time.Time  `json:"created_at"`
	SentAt    *time.Time `json:"sent_at"` // null: nothing says that it was sent
}

// WholeMessage is a message with all that its mail says.
type WholeMessage struct {
	Message
	FromName       string `json:"from_name"`
	ReplyTo        string `json:"reply_to,omitempty"`
	Text           string `json:"text"`
	HTML           string `json:"html"` // the same words
	Calendar       string `json:"calendar,omitempty"`
	CalendarMethod string `json:"calendar_method,omitempty"` // REQUEST, CANCEL or PUBLISH
}

// MessageList is one page of a business's messages, newest first.
type MessageList struct {
	Messages   []Message `json:"messages"`
	NextCursor string    `json:"next_cursor,omitempty"`
}

// MessageFilter narrows a list of messages; what is empty narrows nothing.
type MessageFilter struct {
	Status, Kind string
	About        uuid.UUID // of the booking, the order of tickets or the reservation
}

// Messages lists messages, newest first, without what their mails say. Fault: invalid_parameter for a bad filter or page.
func (c *Client) Messages(ctx context.Context, businessID uuid.UUID, filter MessageFilter, page request.Page) (*MessageList, error) {
	query := page.Values()
	for name, value := range map[string]string{"status": filter.Status, "kind": filter.Kind} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if filter.About != uuid.Nil {
		query.Set("about", filter.About.String())
	}
	return typed.Call[MessageList](ctx, c.peer, http.MethodGet, path(businessID, "messages")+"?"+query.Encode(), nil)
}

// Message returns one message with all that its mail says. Fault: not_found.
func (c *Client) Message(ctx context.Context, businessID, id uuid.UUID) (*WholeMessage, error) {
	return typed.Call[WholeMessage](ctx, c.peer, http.MethodGet, path(businessID, "messages/"+id.String()), nil)
}

// RetryMessage sends a message that failed, or was kept, once more. Faults: not_found; conflict for one that was sent or is being tried, and
// where there is no mail server.
func (c *Client) RetryMessage(ctx context.Context, businessID, id uuid.UUID) (*Message, error) {
	return typed.Call[Message](ctx, c.peer, http.MethodPost, path(businessID, "messages/"+id.String()+"/retry"), nil)
}
