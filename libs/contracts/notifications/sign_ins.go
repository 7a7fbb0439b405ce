package notifications

import (
	"context"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
)

// SignInID identifies a customer's sign-in, which the booking service stores.
type SignInID struct {
	Business uuid.UUID `path:"business"`
	ID       uuid.UUID `path:"id" unknown:"Sign-in not found"`
}

// SendSignInLink queues the mail with the one-time link of a customer's sign-in. Only after the response does the
// service find out whether the business knows the address; for an unknown address, it sends no mail. Fault: conflict
// if no mail can be sent at all, because no mail server is configured or the business is a sandbox.
func (c *Client) SendSignInLink(ctx context.Context, businessID, id uuid.UUID) error {
	return SendSignInLink.Send(actor.With(ctx, actor.Actor{Kind: actor.Page}), c.peer,
		SignInID{Business: businessID, ID: id})
}
