package booking

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// CustomerView is the booking or order that a customer's link leads to, as the customer
// sees it (lifecycle.md §5). Either Booking or Ticket is set, depending on Kind.
type CustomerView struct {
	Kind     event.SubjectKind    `json:"kind"`
	Business catalog.LinkBusiness `json:"business"`
	Booking  *CustomerBooking     `json:"booking,omitempty"`
	Ticket   *CustomerTicket      `json:"ticket,omitempty"`
}

// CustomerBooking is a booking as its customer sees it, with the actions that the customer may take now.
type CustomerBooking struct {
	ID              uuid.UUID       `json:"id"`
	Status          string          `json:"status"`
	Date            string          `json:"date"` // as in [Booking]
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
	// StaffingMode is availability.StaffingPerService if each service has its own staff member. Otherwise it is "".
	StaffingMode string `json:"staffing_mode,omitempty"`
	// StaffRequested reports that the customer chose the staff member. A reschedule then keeps the staff member.
	StaffRequested bool        `json:"staff_requested"`
	Withdrawn      bool        `json:"withdrawn"` // as in [Booking]
	Total          json.Number `json:"total"`
	Currency       string      `json:"currency"`
	CustomerName   string      `json:"customer_name"`
	// MaskedEmail is the customer's e-mail address as package email masks it. It is "" without an address.
	MaskedEmail string    `json:"masked_email"`
	HasPhone    bool      `json:"has_phone,omitempty"` // reports that the booking has the customer's telephone number
	Locale      string    `json:"locale"`
	Sequence    int       `json:"sequence"`
	CreatedAt   time.Time `json:"created_at"`
	// Payment is the online payment, without the reason codes of the
	// provider. It is null if the booking has no online payment.
	Payment *Payment `json:"payment"`
	CanPay  bool     `json:"can_pay"` // reports that the customer can pay now, until payment.due_at
	// Unpaid reports that the booking was cancelled because it was not paid in time. It
	// becomes false again when the entries of the booking in the event log are deleted.
	Unpaid       bool                 `json:"unpaid"`
	Cancellation Cancellation         `json:"cancellation"`
	Reschedule   ReschedulePermission `json:"reschedule"`
	// Location and CustomerAddress are as in [Booking].
	Location        *BookedLocation  `json:"location,omitempty"`
	CustomerAddress *CustomerAddress `json:"customer_address,omitempty"`
}

// ReschedulePermission reports whether the customer may reschedule a booking now.
type ReschedulePermission struct {
	Allowed bool `json:"allowed"`
	// Reason is set if the customer may not reschedule. It is the status of the booking,
	// or one of the Cancel… constants, which are also reasons against a reschedule.
	Reason string     `json:"reason,omitempty"`
	Until  *time.Time `json:"until"` // last instant at which Allowed is true; null if not allowed
}

// CustomerTicket is an order of tickets as its customer sees it, with the actions that the customer may take now.
type CustomerTicket struct {
	ID           uuid.UUID     `json:"id"`
	EventID      uuid.UUID     `json:"event_id"`
	Status       string        `json:"status"`
	EventName    string        `json:"event_name"`
	TierName     string        `json:"tier_name"` // TierName and Tiers are as in [Ticket]
	Tiers        []SoldTier    `json:"tiers"`
	Date         string        `json:"date"`
	StartTime    string        `json:"start_time"`
	StartsAt     time.Time     `json:"starts_at"`
	EndsAt       time.Time     `json:"ends_at"`
	Timezone     string        `json:"timezone"`      // as in [Booking]
	FormerStarts []time.Time   `json:"former_starts"` // starts of the event before the business rescheduled it
	Withdrawn    bool          `json:"withdrawn"`     // the business no longer offers the event
	Quantity     int           `json:"quantity"`
	Total        *json.Number  `json:"total"`
	Currency     string        `json:"currency"`
	PriceChanges []PriceChange `json:"price_changes,omitempty"` // as in [Ticket]
	CustomerName string        `json:"customer_name"`
	MaskedEmail  string        `json:"masked_email"` // as in [CustomerBooking]
	Locale       string        `json:"locale"`
	CreatedAt    time.Time     `json:"created_at"`
	// Payment is the online payment, without the reason codes of
	// the provider. It is null if the order has no online payment.
	Payment *Payment `json:"payment"`
	CanPay  bool     `json:"can_pay"` // reports that the customer can pay now, until payment.due_at
	// Unpaid reports that the order was cancelled because it was not paid in time. It
	// becomes false again when the entries of the order in the event log are deleted.
	Unpaid       bool         `json:"unpaid"`
	Cancellation Cancellation `json:"cancellation"`
}

// CancelByLink is the customer's request to cancel a booking or an order
// by its link. Refund is the refund that the page showed to the customer.
type CancelByLink struct {
	Refund *json.Number `json:"refund"` // in the currency of the sale
}

// RefundAmount returns Refund as a decimal number, in the currency of the sale.
// Fault: invalid_parameter if Refund is missing, negative or not a number.
func (c CancelByLink) RefundAmount() (decimal.Decimal, error) {
	if c.Refund != nil {
		if amount, err := decimal.NewFromString(c.Refund.String()); err == nil && !amount.IsNegative() {
			return amount, nil
		}
	}
	return decimal.Zero, fault.New(fault.InvalidParameter, "refund: send the amount that the customer was shown, "+
		"such as 12.50, or 0.")
}

// OpenPayment is an open payment, which the customer can pay until DueAt. CheckoutURL is the payment
// page of the provider. Only the customer may receive this URL. After the payment, the provider
// sends the customer to the customer's link, with payment=done or payment=open in the query.
type OpenPayment struct {
	Provider    string      `json:"provider"`
	Amount      json.Number `json:"amount"`
	Currency    string      `json:"currency"`
	CheckoutURL string      `json:"checkout_url"`
	DueAt       time.Time   `json:"due_at"`
}
