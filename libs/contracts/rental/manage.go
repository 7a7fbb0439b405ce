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

// Managed is the customer view of a reservation's link (lifecycle.md §5).
type Managed struct {
	Kind        event.SubjectKind       `json:"kind"`
	Business    catalog.ManagedBusiness `json:"business"`
	Reservation ManagedReservation      `json:"reservation"`
}

// ManagedReservation is a reservation as its customer sees it, with the actions
// that the customer may take now. Its other fields are those of [Reservation].
type ManagedReservation struct {
	ID           uuid.UUID             `json:"id"`
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
	Locale       string                `json:"locale"`
	Timezone     string                `json:"timezone"`
	CreatedAt    time.Time             `json:"created_at"`
	// Payment is the online payment, without the provider's reasons; null if nothing is paid online.
	Payment *booking.Payment `json:"payment"`
	CanPay  bool             `json:"can_pay"` // until payment.due_at
	// Unpaid reports a cancellation because of a missed payment deadline. It is known for a limited time only.
	Unpaid bool `json:"unpaid"`
	// Cancellation is the effect of cancelling the reservation now.
	Cancellation booking.Cancellation `json:"cancellation"`
}

// CancelByLink cancels a reservation for its customer, who has agreed to the refund in agreed, and returns the
// customer view after it. Faults: not_found; conflict if the customer may not cancel now, or the refund has changed.
func (c *Client) CancelByLink(ctx context.Context, token string, agreed booking.CancelByLink) (*Managed, error) {
	return CancelByLink.Call(byCustomer(ctx), c.peer,
		endpoints.Request(endpoints.ByToken{Token: token}, agreed))
}

// OpenPayment returns the open charge of a reservation with its payment page, so that the customer
// can continue to pay. Faults: not_found; conflict if nothing is to be paid; payment_unavailable.
func (c *Client) OpenPayment(ctx context.Context, token string) (*booking.OpenPayment, error) {
	return OpenPaymentPage.Call(byCustomer(ctx), c.peer, endpoints.ByToken{Token: token})
}

// Managed returns the customer view of a link. Faults: not_found, the same for every invalid token. The
// caller must first count the request against the limit of the client's address (libs/platform/limits, manage).
func (c *Client) Managed(ctx context.Context, token string) (*Managed, error) {
	return ReadManaged.Call(ctx, c.peer, endpoints.ByToken{Token: token})
}

// byCustomer returns a context whose actor is the customer of the link.
func byCustomer(ctx context.Context) context.Context {
	return actor.With(ctx, actor.Actor{Kind: actor.Customer})
}
