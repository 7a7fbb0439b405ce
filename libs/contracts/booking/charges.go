package booking

import (
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/sale/refund"
	"github.com/slotmesh/slotmesh/libs/values/money"
)

// NewCharge requests the charge of a reservation, which rental stores. The customer pays the charge on the provider's
// page. The id of the reservation identifies the charge, so that a repeated request opens no second charge.
type NewCharge struct {
	Slug     string `json:"slug"`     // of the business; its offer defines provider and cancellation policy
	Name     string `json:"name"`     // description that the customer reads on the provider's page
	Amount   int64  `json:"amount"`   // minor units of Currency
	Currency string `json:"currency"` // ISO 4217
	Manage   string `json:"manage"`   // the customer's link, to which the provider's page returns
}

// OpenedCharge is a charge that can be paid. CheckoutURL is the provider's payment page; only the customer may get it.
type OpenedCharge struct {
	Charge      Charge `json:"charge"`
	CheckoutURL string `json:"checkout_url"`
}

// Charge is the current state of a reservation's charge. Amounts are in minor units of the currency of the request.
type Charge struct {
	Provider string        `json:"provider"`
	Status   string        `json:"status"` // one of the Charge… values
	Amount   int64         `json:"amount"`
	DueAt    time.Time     `json:"due_at"` // of an open charge: deadline of the payment
	Policy   refund.Policy `json:"cancellation_policy"`
	Step     int64         `json:"step"`      // refunds must be multiples of it
	FailedAt *time.Time    `json:"failed_at"` // time of the newest failed payment attempt
	Refunded int64         `json:"refunded"`

	// The newest refund. Refunds are numbered from 1. RefundStatus is one of the Refund… statuses; "" without a refund.
	RefundNumber  int    `json:"refund_number"`
	RefundAmount  int64  `json:"refund_amount"`
	RefundPercent int    `json:"refund_percent"`
	RefundStatus  string `json:"refund_status"`
	RefundReason  string `json:"refund_reason"`

	// RefundedElsewhere is the part of Refunded that was refunded at the provider, not by Slotmesh.
	RefundedElsewhere int64     `json:"refunded_elsewhere,omitempty"`
	DisputeStatus     string    `json:"dispute_status,omitempty"` // one of the Dispute… statuses; "": none
	DisputeReason     string    `json:"dispute_reason,omitempty"`
	UpdatedAt         time.Time `json:"updated_at,omitzero"` // time of the last change of any field
}

// The statuses of a charge. A cancelled charge can no longer be paid. If the customer's payment
// succeeded just before the cancellation, booking still detects the payment and refunds it in full.
const (
	ChargeCreating   = "creating" // no payment page was handed out
	ChargeOpen       = "open"
	ChargePaid       = "paid"
	ChargeCancelling = "cancelling" // its reservation is cancelled; the provider must still close the charge
	ChargeCancelled  = "cancelled"
)

// ChargeStatuses returns the statuses of a charge that match one of [PaymentStatuses], as owners see it; nil for "".
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

// Left returns the part of the paid amount that is neither refunded nor in a pending refund.
// It returns 0 while a dispute is open and after the business has lost one. c may be nil.
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

// CanPay reports whether the customer can pay the charge at the instant now. c may be nil.
func (c *Charge) CanPay(now time.Time) bool {
	return c != nil && c.Status == ChargeOpen && c.DueAt.After(now)
}

// Shown returns the charge as a [Payment], the form that owners and customers see, in this currency; nil if c is nil.
func (c *Charge) Shown(currency money.Currency) *Payment {
	if c == nil {
		return nil
	}
	shown := &Payment{
		Provider: c.Provider, Status: c.Status, Amount: currency.JSON(c.Amount), Refunded: currency.JSON(c.Refunded),
		Policy: c.Policy,
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
		shown.Refund = &Refund{Amount: currency.JSON(c.RefundAmount), Percent: c.RefundPercent, Status: c.RefundStatus,
			Reason: c.RefundReason}
	}
	return shown
}

// ReservationID identifies a reservation of a business.
type ReservationID struct {
	BusinessID uuid.UUID `json:"business_id"`
	ID         uuid.UUID `json:"id"`
}

// MaxCharges bounds the charges of one request.
const MaxCharges = 500

// ChargesRequest asks for the charges of reservations, at most MaxCharges.
type ChargesRequest struct {
	Reservations []ReservationID `json:"reservations"`
}

// Charges are the charges of the requested reservations; reservations without a charge are left out.
type Charges struct {
	Charges []ReservationCharge `json:"charges"`
}

// ReservationCharge is the charge of a reservation.
type ReservationCharge struct {
	ReservationID
	Charge Charge `json:"charge"`
	News   int64  `json:"news"` // number of the provider's reports since the payment
}

// NotedCharge acknowledges the provider's reports of a charge: rental
// has processed the first News of them. See [ReservationCharge].
type NotedCharge struct {
	ReservationID
	News int64 `json:"news"`
}

// NotedCharges is a request that acknowledges the provider's reports of at most MaxCharges charges.
type NotedCharges struct {
	Noted []NotedCharge `json:"noted"`
}

// CloseCharge requests the end of the charge of a cancelled reservation: the
// charge can no longer be paid. Refund is the refund of the payment. nil refunds
// the full payment; rental sends nil if it knew of no payment at the cancellation.
type CloseCharge struct {
	Refund *NumberedRefund `json:"refund"`
}

// NumberedRefund is a refund of a charge. Number identifies it: if the
// charge already has a refund with this number, no second refund is made.
type NumberedRefund struct {
	Number int `json:"number"`
	refund.Part
}

// OpenReservation is a reservation of the booking page that counts against the customer's limit of open bookings.
type OpenReservation struct {
	CustomerEmail string    `json:"customer_email"`
	EndsAt        time.Time `json:"ends_at"`  // it counts until this time
	MaxOpen       int       `json:"max_open"` // bookings.max_open_per_customer
}
