package booking

import (
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/money"
	"github.com/slotmesh/slotmesh/libs/refund"
)

// NewCharge asks for the charge of a reservation, which rental keeps: it is paid on the provider's own page. It is known by the id of the
// reservation, so that to ask again opens no second one.
type NewCharge struct {
	Slug     string `json:"slug"`     // of the business, whose offer says by whom and under which policy it is charged
	Name     string `json:"name"`     // of what is paid, as the customer reads it on the provider's page
	Amount   int64  `json:"amount"`   // minor units of Currency
	Currency string `json:"currency"` // ISO 4217
	Manage   string `json:"manage"`   // the customer's link, to which the provider's page leads back
}

// OpenedCharge is a charge that can be paid. CheckoutURL, the provider's own page, is for the customer alone.
type OpenedCharge struct {
	Charge      Charge `json:"charge"`
	CheckoutURL string `json:"checkout_url"`
}

// Charge is a charge of a reservation as booking knows it now. Amounts are in minor units of the currency that it was asked for in.
type Charge struct {
	Provider string        `json:"provider"`
	Status   string        `json:"status"` // one of the Charge… values
	Amount   int64         `json:"amount"`
	DueAt    time.Time     `json:"due_at"` // of an open one: until when it can be paid
	Policy   refund.Policy `json:"cancellation_policy"`
	Step     int64         `json:"step"`      // the provider refunds multiples of it
	FailedAt *time.Time    `json:"failed_at"` // of the newest attempt to pay that failed
	Refunded int64         `json:"refunded"`

	// The newest refund: they are counted from 1, and RefundStatus, one of the Refund… statuses, is "" where there is none.
	RefundNumber  int    `json:"refund_number"`
	RefundAmount  int64  `json:"refund_amount"`
	RefundPercent int    `json:"refund_percent"`
	RefundStatus  string `json:"refund_status"`
	RefundReason  string `json:"refund_reason"`

	RefundedElsewhere int64     `json:"refunded_elsewhere,omitempty"` // of Refunded: at the provider, and not here
	DisputeStatus     string    `json:"dispute_status,omitempty"`     // one of the Dispute… statuses; "": none
	DisputeReason     string    `json:"dispute_reason,omitempty"`
	UpdatedAt         time.Time `json:"updated_at,omitzero"` // when any of it changed last
}

// Statuses of a charge. A cancelled one can no longer be paid; that one was paid after all, at the last moment, is still found out
// afterwards, and then all of it is given back.
const (
	ChargeCreating   = "creating" // nobody was given a page to pay it on
	ChargeOpen       = "open"
	ChargePaid       = "paid"
	ChargeCancelling = "cancelling" // what it is of is off, and the provider is to close it
	ChargeCancelled  = "cancelled"
)

// ChargeStatuses are the statuses of a charge that owners read as one of [PaymentStatuses]; nil for "".
func ChargeStatuses(payment string) []string {
	switch payment {
	case PaymentOpen:
		return []string{ChargeCreating, ChargeOpen}
	case PaymentCancelled:
		return []string{ChargeCancelling, ChargeCancelled}
	case PaymentPaid, PaymentRefundFailed, PaymentDisputed:
		return []string{ChargePaid}
	}
	return nil
}

// Left is what of a charge was paid and neither is refunded nor on its way back. c may be nil.
func (c *Charge) Left() int64 {
	if c == nil || c.Status != ChargePaid || c.DisputeStatus == DisputeOpen || c.DisputeStatus == DisputeLost {
		return 0
	}
	left := c.Amount - c.Refunded
	if c.RefundStatus == RefundPending {
		left -= c.RefundAmount
	}
	return left
}

// CanPay reports whether the customer can pay it now. c may be nil.
func (c *Charge) CanPay(now time.Time) bool {
	return c != nil && c.Status == ChargeOpen && c.DueAt.After(now)
}

// Shown is a charge in this currency as owners and customers see it; nil where c is.
func (c *Charge) Shown(currency money.Currency) *Payment {
	if c == nil {
		return nil
	}
	shown := &Payment{
		Provider: c.Provider, Status: c.Status, Amount: currency.JSON(c.Amount), Refunded: currency.JSON(c.Refunded), Policy: c.Policy,
	}
	switch c.Status {
	case ChargeCreating:
		shown.Status = PaymentOpen
	case ChargeOpen:
		due := c.DueAt.UTC()
		shown.DueAt = &due
	case ChargeCancelling:
		shown.Status = PaymentCancelled
	}
	if c.DisputeStatus != "" {
		shown.Dispute = &Dispute{Status: c.DisputeStatus, Reason: c.DisputeReason}
	}
	if c.RefundStatus != "" {
		shown.Refund = &Refund{Amount: currency.JSON(c.RefundAmount), Percent: c.RefundPercent, Status: c.RefundStatus, Reason: c.RefundReason}
	}
	return shown
}

// ReservationID names a reservation of a business.
type ReservationID struct {
	BusinessID uuid.UUID `json:"business_id"`
	ID         uuid.UUID `json:"id"`
}

// MaxCharges bounds how many charges are asked for at once.
const MaxCharges = 500

// ChargesRequest asks for the charges of reservations, at most MaxCharges.
type ChargesRequest struct {
	Reservations []ReservationID `json:"reservations"`
}

// Charges are those of the reservations asked for that have one.
type Charges struct {
	Charges []ReservationCharge `json:"charges"`
}

// ReservationCharge is the charge of a reservation.
type ReservationCharge struct {
	ReservationID
	Charge Charge `json:"charge"`
	News   int64  `json:"news"` // counts what the provider reported once the charge was paid
}

// NotedCharge says how much of the provider's reports of a charge rental has noted: News of [ReservationCharge].
type NotedCharge struct {
	ReservationID
	News int64 `json:"news"`
}

// NotedCharges are at most MaxCharges.
type NotedCharges struct {
	Noted []NotedCharge `json:"noted"`
}

// CloseCharge says that a reservation is off: its charge can no longer be paid, and of what was paid goes back what Refund says, or all where
// it is nil, as what nobody knew to be paid when the reservation was cancelled.
type CloseCharge struct {
	Refund *NumberedRefund `json:"refund"`
}

// NumberedRefund is what is owed of a charge, as its refund of this number; one that the charge had already is not made again.
type NumberedRefund struct {
	Number int `json:"number"`
	refund.Owed
}

// OpenReservation is a reservation of the booking page that is to be counted against the limit of open things of its customer.
type OpenReservation struct {
	CustomerEmail string    `json:"customer_email"`
	EndsAt        time.Time `json:"ends_at"`  // it counts until then
	MaxOpen       int       `json:"max_open"` // bookings.max_open_per_customer
}
