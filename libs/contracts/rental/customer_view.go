package rental

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// CustomerView is the reservation that a customer's link leads to, as the customer sees it (lifecycle.md §5).
type CustomerView struct {
	Kind        event.SubjectKind    `json:"kind"`
	Business    catalog.LinkBusiness `json:"business"`
	Reservation CustomerReservation  `json:"reservation"`
}

// CustomerReservation is a reservation as its customer sees it, with the actions that
// the customer may take now. Fields without a comment are those of [Reservation].
type CustomerReservation struct {
	ID           uuid.UUID             `json:"id"`
	RentalID     uuid.UUID             `json:"rental_id"`
	RentalName   string                `json:"rental_name"`
	Status       string                `json:"status"`
	Withdrawn    bool                  `json:"withdrawn"` // as in [Reservation]
	Quantity     int                   `json:"quantity"`
	StartDate    timespan.Date         `json:"start_date"`
	EndDate      timespan.Date         `json:"end_date"`
	StartTime    *timespan.TimeOfDay   `json:"start_time"`
	EndTime      *timespan.TimeOfDay   `json:"end_time"`
	Extras       []Extra               `json:"extras"`
	Price        *json.Number          `json:"price"`
	Total        *json.Number          `json:"total"`
	Currency     string                `json:"currency,omitempty"`
	PriceChanges []booking.PriceChange `json:"price_changes,omitempty"` // as in [Reservation]
	CustomerName string                `json:"customer_name"`
	MaskedEmail  string                `json:"masked_email"` // as in [booking.CustomerBooking]
	Locale       string                `json:"locale"`
	Timezone     string                `json:"timezone"`
	CreatedAt    time.Time             `json:"created_at"`
	// Payment is the online payment, without the reason codes of the
	// provider. It is null if the reservation has no online payment.
	Payment *booking.Payment `json:"payment"`
	CanPay  bool             `json:"can_pay"` // reports that the customer can pay now, until payment.due_at
	// Unpaid reports that the reservation was cancelled because it was not paid in time. It
	// becomes false again when the entries of the reservation in the event log are deleted.
	Unpaid bool `json:"unpaid"`
	// Cancellation is the effect that cancelling the reservation would have now.
	Cancellation booking.Cancellation `json:"cancellation"`
}

// CancelByLink cancels the reservation that a link leads to, for its customer. It returns the
// reservation after the cancellation, as the customer sees it. The argument `request` holds
// the refund that the page showed to the customer. Faults: not_found; conflict if the
// customer may not cancel now, or if the refund is no longer the amount that the page showed.
func (c *Client) CancelByLink(ctx context.Context, token string, request booking.CancelByLink) (*CustomerView, error) {
	return CancelByLink.Call(byCustomer(ctx), c.peer,
		endpoints.Request(endpoints.ByToken{Token: token}, request))
}

// OpenPayment returns the open payment of a reservation with its payment page, so that the customer can
// continue to pay. Faults: not_found; conflict if the payment cannot be paid now; payment_unavailable.
func (c *Client) OpenPayment(ctx context.Context, token string) (*booking.OpenPayment, error) {
	return OpenPaymentPage.Call(byCustomer(ctx), c.peer, endpoints.ByToken{Token: token})
}

// CustomerView returns the reservation that a link leads to, as the customer sees it. Every invalid
// token gets the same fault not_found. Before each call, the caller must count the request
// against the limit of the customer's IP address (the limit `manage` of libs/platform/limits).
func (c *Client) CustomerView(ctx context.Context, token string) (*CustomerView, error) {
	return ReadCustomerView.Call(ctx, c.peer, endpoints.ByToken{Token: token})
}

// byCustomer returns a context whose actor is the customer who uses the link.
func byCustomer(ctx context.Context) context.Context {
	return actor.With(ctx, actor.Actor{Kind: actor.Customer})
}
