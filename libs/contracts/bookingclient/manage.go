package bookingclient

import (
	"context"
	"net/http"
	"net/url"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/typed"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
)

// Links is the booking client of the customers' pages, which identify a booking by the token of a link
// (lifecycle.md §5). Every method returns the same fault not_found for every invalid token. The caller
// must first count the request against the limit of the client's address (libs/platform/limits, manage).
type Links struct{ peer *peer.Client }

// NewLinks returns a client that sends its requests through p.
func NewLinks(p *peer.Client) *Links { return &Links{peer: p} }

// Managed returns the customer view of a link.
func (l *Links) Managed(ctx context.Context, token string) (*booking.Managed, error) {
	return typed.Call[booking.Managed](ctx, l.peer, http.MethodGet, managePath(token, ""), nil)
}

// Calendar returns the booking or the order as text/calendar.
func (l *Links) Calendar(ctx context.Context, token string) ([]byte, error) {
	answer, err := l.peer.Do(ctx, peer.Request{Method: http.MethodGet, Path: managePath(token, "/calendar")})
	if err != nil {
		return nil, err
	}
	return answer.Body, nil
}

// Cancel cancels a booking and returns the customer view after the cancellation. agreed
// is the refund that the customer was shown and accepted. Faults: invalid_parameter;
// conflict if the customer may not cancel, or if the refund has changed.
func (l *Links) Cancel(ctx context.Context, token string, agreed booking.CancelByLink) (*booking.Managed, error) {
	return l.act(ctx, token, "/cancel", agreed)
}

// Reschedule changes the time of a booking and returns the customer view after it. Faults:
// invalid_parameter; conflict if the customer may not reschedule; slot_unavailable,
// no_staff_available, availability_unverified; the faults of the account check.
func (l *Links) Reschedule(ctx context.Context, token string, to booking.Reschedule) (*booking.Managed, error) {
	return l.act(ctx, token, "/reschedule", to)
}

// OpenPayment returns the open charge of a booking with its payment page, so that the customer
// can continue to pay. Faults: conflict if nothing is to be paid; payment_unavailable.
func (l *Links) OpenPayment(ctx context.Context, token string) (*booking.OpenPayment, error) {
	return typed.Call[booking.OpenPayment](byCustomer(ctx), l.peer, http.MethodPost, managePath(token, "/payment"), nil)
}

func (l *Links) act(ctx context.Context, token, what string, body any) (*booking.Managed, error) {
	return typed.Call[booking.Managed](byCustomer(ctx), l.peer, http.MethodPost, managePath(token, what), body)
}

func managePath(token, rest string) string { return "/internal/manage/" + url.PathEscape(token) + rest }

// byCustomer returns a context whose actor is the customer of the link.
func byCustomer(ctx context.Context) context.Context {
	return actor.With(ctx, actor.Actor{Kind: actor.Customer})
}
