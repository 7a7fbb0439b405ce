package booking

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/event"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
)

// Managed is what the customer sees by the link of a booking or an order of tickets (lifecycle.md §5): Booking or Ticket, as Kind says.
type Managed struct {
	Kind     event.SubjectKind       `json:"kind"`
	Business catalog.ManagedBusiness `json:"business"`
	Booking  *ManagedBooking         `json:"booking,omitempty"`
	Ticket   *ManagedTicket          `json:"ticket,omitempty"`
}

// ManagedBooking is a booking as its customer sees it, and what they may do with it now.
type ManagedBooking struct {
	ID              uuid.UUID       `json:"id"`
	Status          string          `json:"status"`
	Date            string          `json:"date"` // as of [Booking]
	StartTime       string          `json:"start_time"`
	EndTime         string          `json:"end_time"`
	StartsAt        time.Time       `json:"starts_at"`
	EndsAt          time.Time       `json:"ends_at"`
	Timezone        string          `json:"timezone"`
	Services        []BookedService `json:"services"`
	StaffID         *uuid.UUID      `json:"staff_id"`
	StaffName       *string         `json:"staff_name"`
	ClassScheduleID *uuid.UUID      `json:"class_schedule_id"`
	PartySize       int             `json:"party_size"`
	IsPackage       bool            `json:"is_package"`
	StaffingMode    string          `json:"staffing_mode,omitempty"` // availability.StaffingPerService, or "" for one provider
	StaffRequested  bool            `json:"staff_requested"`         // by the customer: a move stays with the member
	Withdrawn       bool            `json:"withdrawn"`               // as of [Booking]
	Total           json.Number     `json:"total"`
	Currency        string          `json:"currency"`
	CustomerName    string          `json:"customer_name"`
	Locale          string          `json:"locale"`
	Sequence        int             `json:"sequence"`
	CreatedAt       time.Time       `json:"created_at"`
	// Payment is what is paid online, without the provider's reasons; null: nothing is.
	Payment      *Payment     `json:"payment"`
	CanPay       bool         `json:"can_pay"` // until payment.due_at
	Unpaid       bool         `json:"unpaid"`  // cancelled because it was not paid in time, as long as that is known
	Cancellation Cancellation `json:"cancellation"`
	Reschedule   MayMove      `json:"reschedule"`
}

// MayMove says whether the customer may move a booking now.
type MayMove struct {
	Allowed bool       `json:"allowed"`
	Reason  string     `json:"reason,omitempty"` // one of the Cancel… reasons, or the booking's status; set where it is not allowed
	Until   *time.Time `json:"until"`            // the last instant at which they may; null where they may not
}

// ManagedTicket is an order of tickets as its customer sees it, and what they may do with it now.
type ManagedTicket struct {
	ID           uuid.UUID     `json:"id"`
	Status       string        `json:"status"`
	EventName    string        `json:"event_name"`
	TierName     string        `json:"tier_name"` // as of [Ticket], as the next
	Tiers        []SoldTier    `json:"tiers"`
	Date         string        `json:"date"`
	StartTime    string        `json:"start_time"`
	StartsAt     time.Time     `json:"starts_at"`
	EndsAt       time.Time     `json:"ends_at"`
	Timezone     string        `json:"timezone"`      // as of [Booking]
	FormerStarts []time.Time   `json:"former_starts"` // that the business has moved the event from
	Withdrawn    bool          `json:"withdrawn"`     // the business no longer offers the event
	Quantity     int           `json:"quantity"`
	Total        *json.Number  `json:"total"`
	Currency     string        `json:"currency"`
	PriceChanges []PriceChange `json:"price_changes,omitempty"` // as of [Ticket]
	CustomerName string        `json:"customer_name"`
	Locale       string        `json:"locale"`
	CreatedAt    time.Time     `json:"created_at"`
	// Payment is what is paid online, without the provider's reasons; null: nothing is.
	Payment      *Payment     `json:"payment"`
	CanPay       bool         `json:"can_pay"` // until payment.due_at
	Unpaid       bool         `json:"unpaid"`  // cancelled because it was not paid in time, as long as that is known
	Cancellation Cancellation `json:"cancellation"`
}

// CancelByLink is what a customer agrees to when they cancel: the refund that they were shown.
type CancelByLink struct {
	Refund *json.Number `json:"refund"` // in the booking's currency
}

// Agreed is the refund that they agree to, in whole units of the currency. Fault: invalid_parameter where there is none, or no amount.
func (c CancelByLink) Agreed() (decimal.Decimal, error) {
	if c.Refund != nil {
		if amount, err := decimal.NewFromString(c.Refund.String()); err == nil && !amount.IsNegative() {
			return amount, nil
		}
	}
	return decimal.Zero, fault.New(fault.InvalidParameter, "refund: send the amount that the customer was shown, such as 12.50, or 0.")
}

// OpenPayment is where an open charge is paid until DueAt: CheckoutURL, the provider's own page, is for the customer alone. From there
// the customer comes back to their link, with payment=done or payment=open in the query.
type OpenPayment struct {
	Provider    string      `json:"provider"`
	Amount      json.Number `json:"amount"`
	Currency    string      `json:"currency"`
	CheckoutURL string      `json:"checkout_url"`
	DueAt       time.Time   `json:"due_at"`
}
