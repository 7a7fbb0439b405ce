package rental

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/actor"
	"github.com/slotmesh/slotmesh/libs/event"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/peer/typed"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// Managed is what the customer sees by the link of a reservation (lifecycle.md §5).
type Managed struct {
	Kind        event.SubjectKind       `json:"kind"`
	Business    catalog.ManagedBusiness `json:"business"`
	Reservation ManagedReservation      `json:"reservation"`
}

// ManagedReservation is a reservation as its customer sees it, and what they may do with it now; its fields are those of [Reservation].
type ManagedReservation struct {
	ID           uuid.UUID             `json:"id"`
	RentalName   string                `json:"rental_name"`
	Status       string                `json:"status"`
	Withdrawn    bool                  `json:"withdrawn"` // as of [Reservation]
	Quantity     int                   `json:"quantity"`
	StartDate    timespan.Date         `json:"start_date"`
	EndDate      timespan.Date         `json:"end_date"`
	StartTime    *timespan.TimeOfDay   `json:"start_time"`
	EndTime      *timespan.TimeOfDay   `json:"end_time"`
	Extras       []Extra               `json:"extras"`
	Price        *json.Number          `json:"price"`
	Total        *json.Number          `json:"total"`
	Currency     string                `json:"currency,omitempty"`
	PriceChanges []booking.PriceChange `json:"price_changes,omitempty"` // as of [Reservation]
	CustomerName string                `json:"customer_name"`
	Locale       string                `json:"locale"`
	Timezone     string                `json:"timezone"`
	CreatedAt    time.Time             `json:"created_at"`
	// Payment is what is paid online, without the provider's reasons; null: nothing is.
	Payment *booking.Payment `json:"payment"`
	CanPay  bool             `json:"can_pay"` // until payment.due_at
	Unpaid  bool             `json:"unpaid"`  // cancelled because it was not paid in time, as long as that is known
	// Cancellation is what cancelling would do now.
	Cancellation booking.Cancellation `json:"cancellation"`
}

// CancelByLink cancels a reservation for its customer, who has agreed to the refund that they were shown, and returns what they see then.
// Faults: not_found; conflict where they may not cancel it now, or the refund is another one.
func (c *Client) CancelByLink(ctx context.Context, token string, agreed booking.CancelByLink) (*Managed, error) {
	return typed.Call[Managed](byCustomer(ctx), c.peer, http.MethodPost, ManagePath(token)+"/cancel", agreed)
}

// OpenPayment returns the page on which an open charge is paid, once more. Faults: not_found; conflict where nothing is to be paid;
// payment_unavailable.
func (c *Client) OpenPayment(ctx context.Context, token string) (*booking.OpenPayment, error) {
	return typed.Call[booking.OpenPayment](byCustomer(ctx), c.peer, http.MethodPost, ManagePath(token)+"/payment", nil)
}

// Managed returns what the customer sees by the token of a link. Faults: not_found, one for every token that leads nowhere; whoever asks
// on behalf of an address counts it before (libs/limits, manage).
func (c *Client) Managed(ctx context.Context, token string) (*Managed, error) {
	return typed.Call[Managed](ctx, c.peer, http.MethodGet, ManagePath(token), nil)
}

// ManagePath is where what a link leads to is read; below it, /calendar is the same as text/calendar, /cancel cancels it, and /payment is where it is paid.
func ManagePath(token string) string { return "/internal/manage/" + url.PathEscape(token) }

// byCustomer returns a context in which the customer acts, whose link it is.
func byCustomer(ctx context.Context) context.Context {
	return actor.With(ctx, actor.Actor{Kind: actor.Customer})
}
