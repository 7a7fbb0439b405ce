package bookingclient

import (
	"context"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
)

// Decisions is the client for the mailed links with which recipients of notices confirm or decline pending bookings.
type Decisions struct{ peer endpoints.Caller }

// NewDecisions returns a client that sends its requests through the argument `caller`.
func NewDecisions(caller endpoints.Caller) *Decisions { return &Decisions{peer: caller} }

// Link returns the link with which the recipient decides about a booking. It returns "" if links cannot be shown.
func (c *Decisions) Link(ctx context.Context, businessID uuid.UUID,
	recipient booking.DecisionRecipient) (string, error) {
	out, err := ReadDecisionLink.Call(ctx, c.peer, endpoints.About(businessID, recipient))
	if err != nil {
		return "", err
	}
	return out.URL, nil
}

// Read returns the booking that a link leads to. Every invalid token gets the same fault not_found: a malformed token,
// a token of another business, an expired token, or a token of a recipient that no longer gets notices.
func (c *Decisions) Read(ctx context.Context, businessID uuid.UUID, token string) (*booking.Decision, error) {
	return ReadDecision.Call(ctx, c.peer, endpoints.About(businessID, booking.DecisionToken{Token: token}))
}

// Decide confirms or declines the booking that a link leads to. Faults: not_found as for [Decisions.Read]; conflict if
// the booking has changed since the page showed it, or if it is too late to decide; invalid_parameter.
func (c *Decisions) Decide(ctx context.Context, businessID uuid.UUID, decide booking.Decide) error {
	return MakeDecision.Send(actor.With(ctx, actor.Actor{Kind: actor.Page}), c.peer,
		endpoints.About(businessID, decide))
}
