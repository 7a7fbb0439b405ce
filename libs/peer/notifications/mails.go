package notifications

import (
	"context"
	"net/http"

	"github.com/slotmesh/slotmesh/libs/actor"
	"github.com/slotmesh/slotmesh/libs/peer/typed"
)

// Mail is one mail to one person about their own account. Who asks for it has written the words; notifications gives them the look of every
// message, sends them at once and keeps nothing of it, as its link is for its recipient alone.
type Mail struct {
	To         string   `json:"to"`        // a bare address
	FromName   string   `json:"from_name"` // whom the message is from
	Language   string   `json:"language"`  // BCP 47, of the words
	Subject    string   `json:"subject"`
	Paragraphs []string `json:"paragraphs"`
	Button     string   `json:"button"`
	Link       string   `json:"link"` // where the button leads to: http or https
}

// Tenant is whose mail it is: that the mail server is slow about one address keeps nobody else from theirs.
func (m Mail) Tenant() string { return m.To }

// SendMail hands a mail to the mail server. Faults: invalid_parameter; conflict where there is no mail server, or it does not take this mail,
// now or for good; service_unavailable where it is away.
func (c *Client) SendMail(ctx context.Context, mail Mail) error {
	ctx = actor.AsSystem(ctx) // whatever it is about, Slotmesh itself writes it
	_, err := typed.Call[struct{}](ctx, c.peer, http.MethodPost, "/internal/mails", mail)
	return err
}
