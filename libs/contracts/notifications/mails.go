package notifications

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
)

// Mail is an e-mail to a person about the person's own account. The caller supplies
// the words, and notifications adds the common layout. It sends the mail immediately
// and does not store it, because only the recipient may know the link in it.
type Mail struct {
	To         string   `json:"to"`        // an address without a name
	FromName   string   `json:"from_name"` // name of the sender
	Language   string   `json:"language"`  // BCP 47, of the words
	Subject    string   `json:"subject"`
	Paragraphs []string `json:"paragraphs"`
	Button     string   `json:"button"`
	Link       string   `json:"link"` // target of the button: http or https
}

// Tenant returns the recipient's address, so that slow delivery to one address does not delay the mails to others.
func (m Mail) Tenant() string { return m.To }

// SendMail sends a mail to the mail server. Faults: invalid_parameter; conflict if no mail server is
// configured, or if it rejects the mail temporarily or permanently; service_unavailable if it is down.
func (c *Client) SendMail(ctx context.Context, mail Mail) error {
	_, err := SendMail.Call(actor.AsSystem(ctx), c.peer, mail) // the sender is always Slotmesh itself
	return err
}
