package notifications

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
)

// Mail is an email to a person about the person's own account, such as a link to sign in. The caller
// supplies the words, and the notifications service adds the common layout. The service sends the
// mail immediately and does not store it, because only the recipient may know the link in it.
type Mail struct {
	To         string   `json:"to"`        // email address without a name
	FromName   string   `json:"from_name"` // name of the sender
	Language   string   `json:"language"`  // language of the words, BCP 47
	Subject    string   `json:"subject"`
	Paragraphs []string `json:"paragraphs"`
	Button     string   `json:"button"`
	Link       string   `json:"link"`             // URL that the button opens, http or https
	Reason     string   `json:"reason,omitempty"` // sentence for the footer: why the person gets the mail
}

// Tenant returns the email address of the recipient. The service handles the requests of each
// tenant separately, so that slow delivery to one address does not delay mails to others.
func (m Mail) Tenant() string { return m.To }

// SendMail sends a mail. Faults: invalid_parameter; conflict if no mail server is configured, or if the
// mail server rejects the mail temporarily or permanently; service_unavailable if the mail server is down.
func (c *Client) SendMail(ctx context.Context, mail Mail) error {
	_, err := SendMail.Call(actor.AsSystem(ctx), c.peer, mail) // Slotmesh itself is always the sender
	return err
}
