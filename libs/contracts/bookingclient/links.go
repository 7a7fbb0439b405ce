package bookingclient

import (
	"context"
	"net/http"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
)

// Links is the client of the booking service for the customers' pages. The token of the customer's link identifies
// the booking or order (lifecycle.md §5). Every method returns the same fault not_found for every invalid token.
//
// Before each call, the caller must count the request against the limit of
// the customer's IP address (the limit `manage` of libs/platform/limits).
type Links struct{ peer *peer.Client }

// NewLinks returns a client that sends its requests through the argument `p`.
func NewLinks(p *peer.Client) *Links { return &Links{peer: p} }

// CustomerView returns the booking or order that a link leads to, as the customer sees it.
func (l *Links) CustomerView(ctx context.Context, token string) (*booking.CustomerView, error) {
	return ReadCustomerView.Call(ctx, l.peer, endpoints.ByToken{Token: token})
}

// Calendar returns the booking or order that a link leads to, in the format text/calendar.
func (l *Links) Calendar(ctx context.Context, token string) ([]byte, error) {
	answer, err := l.peer.Do(ctx, peer.Request{Method: http.MethodGet,
		Path: ReadCalendar.URL(&endpoints.ByToken{Token: token})})
	if err != nil {
		return nil, err
	}
	return answer.Body, nil
}

// Cancel cancels the booking or order that a link leads to. It returns the booking or
// order after the cancellation, as the customer sees it. The argument `request` holds the
// refund that the page showed to the customer. Faults: invalid_parameter; conflict if the
// customer may not cancel, or if the refund is no longer the amount that the page showed.
func (l *Links) Cancel(ctx context.Context, token string, request booking.CancelByLink) (*booking.CustomerView, error) {
	return CancelByLink.Call(byCustomer(ctx), l.peer, endpoints.Request(endpoints.ByToken{Token: token}, request))
}

// Reschedule changes the time of the booking that a link leads to. It returns the booking after the
// change, as the customer sees it. Faults: invalid_parameter; conflict if the customer may not reschedule;
// slot_unavailable, no_staff_available, availability_unverified; the faults of catalog.Snapshot.CheckAccount.
func (l *Links) Reschedule(ctx context.Context, token string, to booking.Reschedule) (*booking.CustomerView, error) {
	return RescheduleByLink.Call(byCustomer(ctx), l.peer, endpoints.Request(endpoints.ByToken{Token: token}, to))
}

// OpenPayment returns the open payment of a booking or order with its payment page, so that the customer
// can continue to pay. Faults: conflict if the payment cannot be paid now; payment_unavailable.
func (l *Links) OpenPayment(ctx context.Context, token string) (*booking.OpenPayment, error) {
	return OpenPaymentPage.Call(byCustomer(ctx), l.peer, endpoints.ByToken{Token: token})
}

// byCustomer returns a context whose actor is the customer who uses the link.
func byCustomer(ctx context.Context) context.Context {
	return actor.With(ctx, actor.Actor{Kind: actor.Customer})
}
