package bookingclient

import (
	"context"
	"net/http"
	"net/url"

	"github.com/slotmesh/slotmesh/libs/actor"
	"github.com/slotmesh/slotmesh/libs/peer"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/typed"
)

// Links is what the customers' pages ask of booking, with the token of a link (lifecycle.md §5). Every method answers a token that leads
// nowhere with the one fault not_found; whoever asks on behalf of an address counts it before (libs/limits, manage).
type Links struct{ peer *peer.Client }

// NewLinks returns a client that speaks through p.
func NewLinks(p *peer.Client) *Links { return &Links{peer: p} }

// Managed returns what the customer sees.
func (l *Links) Managed(ctx context.Context, token string) (*booking.Managed, error) {
	return typed.Call[booking.Managed](ctx, l.peer, http.MethodGet, managePath(token, ""), nil)
}

// Calendar returns it as text/calendar.
func (l *Links) Calendar(ctx context.Context, token string) ([]byte, error) {
	answer, err := l.peer.Do(ctx, peer.Request{Method: http.MethodGet, Path: managePath(token, "/calendar")})
	if err != nil {
		return nil, err
	}
	return answer.Body, nil
}

// Cancel cancels a booking with the refund that the customer has seen, and returns what they see then. Faults: invalid_parameter; conflict
// where they may not, or the refund is another one by now.
func (l *Links) Cancel(ctx context.Context, token string, agreed booking.CancelByLink) (*booking.Managed, error) {
	return l.act(ctx, token, "/cancel", agreed)
}

// Reschedule moves a booking, and returns what the customer sees then. Faults: invalid_parameter; conflict where they may not;
// slot_unavailable, no_staff_available, availability_unverified, and what the business's account does not allow.
func (l *Links) Reschedule(ctx context.Context, token string, to booking.Reschedule) (*booking.Managed, error) {
	return l.act(ctx, token, "/reschedule", to)
}

// OpenPayment returns the page on which an open charge is paid, once more. Faults: conflict where nothing is to be paid;
// payment_unavailable.
func (l *Links) OpenPayment(ctx context.Context, token string) (*booking.OpenPayment, error) {
	return typed.Call[booking.OpenPayment](byCustomer(ctx), l.peer, http.MethodPost, managePath(token, "/payment"), nil)
}

func (l *Links) act(ctx context.Context, token, what string, body any) (*booking.Managed, error) {
	return typed.Call[booking.Managed](byCustomer(ctx), l.peer, http.MethodPost, managePath(token, what), body)
}

func managePath(token, rest string) string { return "/internal/manage/" + url.PathEscape(token) + rest }

// byCustomer returns a context in which the customer acts, whose link it is.
func byCustomer(ctx context.Context) context.Context {
	return actor.With(ctx, actor.Actor{Kind: actor.Customer})
}
