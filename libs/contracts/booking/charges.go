package booking

import (
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/sale/refund"
	"github.com/slotmesh/slotmesh/libs/values/money"
)

// NewCharge requests the charge of a reservation that the rental service stores. The
// customer pays the charge on the page of the payment provider. The id of the
// reservation identifies the charge, so that a repeated request opens no second charge.
type NewCharge struct {
	Slug     string `json:"slug"`     // slug of the business, whose offer sets provider and policy
	Name     string `json:"name"`     // description for the customer on the page of the provider
	Amount   int64  `json:"amount"`   // in minor units of Currency
	Currency string `json:"currency"` // ISO 4217 code
	Manage   string `json:"manage"`   // customer's link, to which the page of the provider returns
}

// OpenedCharge is a charge that the customer can pay. CheckoutURL is
// the payment page of the provider. Only the customer may get it.
type OpenedCharge struct {
	Charge      Charge `json:"charge"`
	CheckoutURL string `json:"checkout_url"`
}

// Charge is the current state of the charge of a reservation. Amounts
// are in minor units of the currency in which the charge was requested.
type Charge struct {
	Provider string        `json:"provider"`
	Status   string        `json:"status"` // one of the Charge… values
	Amount   int64         `json:"amount"`
	DueAt    time.Time     `json:"due_at"` // payment deadline of an open charge
	Policy   refund.Policy `json:"cancellation_policy"`
	Step     int64         `json:"step"`      // every refund must be a multiple of Step
	FailedAt *time.Time    `json:"failed_at"` // time of the newest failed attempt to pay
	Refunded int64         `json:"refunded"`

	// RefundNumber is the number of the newest refund, counted from 1. The next fields belong to
	// the same refund. RefundStatus is one of the Refund… statuses, or "" if there is no refund.
	RefundNumber  int    `json:"refund_number"`
	RefundAmount  int64  `json:"refund_amount"`
	RefundPercent int    `json:"refund_percent"`
	RefundStatus  string `json:"refund_status"`
	RefundReason  string `json:"refund_reason"`

	// RefundedElsewhere is the part of Refunded that was refunded at the provider, not by Slotmesh.
	RefundedElsewhere int64     `json:"refunded_elsewhere,omitempty"`
	DisputeStatus     string    `json:"dispute_status,omitempty"` // one of the Dispute… statuses; "" without a dispute
	DisputeReason     string    `json:"dispute_reason,omitempty"`
	UpdatedAt         time.Time `json:"updated_at,omitzero"` // time of the last change of the charge
}

// The statuses of a charge. A cancelled charge can no longer be paid. A payment can succeed just before the
// cancellation takes effect. If this happens, the booking service detects the payment and refunds it in full.
const (
	ChargeCreating   = "creating" // no customer has received the payment page yet
	ChargeOpen       = "open"
	ChargePaid       = "paid"
	ChargeCancelling = "cancelling" // the reservation is cancelled, but the provider has not closed the charge yet
	ChargeCancelled  = "cancelled"
)

// ChargeStatuses returns the statuses of the charges that a filter by payment selects. The filter
// is one of [PaymentStatuses]. The result is nil for the filter "", which selects all charges.
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
// While a dispute is open and after a lost dispute, Left returns 0. The receiver `c` may be nil.
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

// CanPay reports whether the customer can pay the charge at the instant `now`. The receiver `c` may be nil.
func (c *Charge) CanPay(now time.Time) bool {
	return c != nil && c.Status == ChargeOpen && c.DueAt.After(now)
}

// Shown returns the charge as a [Payment] for owners and customers, with
// amounts in the given currency. It returns nil if the receiver c is nil.
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

// ReservationID identifies a reservation and its business.
type ReservationID struct {
	BusinessID uuid.UUID `json:"business_id"`
	ID         uuid.UUID `json:"id"`
}

// MaxCharges is the maximal number of charges in one request.
const MaxCharges = 500

// ChargesRequest requests the charges of at most [MaxCharges] reservations.
type ChargesRequest struct {
	Reservations []ReservationID `json:"reservations"`
}

// Charges lists the charges of the requested reservations. A reservation without a charge is left out.
type Charges struct {
	Charges []ReservationCharge `json:"charges"`
}

// ReservationCharge is a charge together with the id of its reservation.
type ReservationCharge struct {
	ReservationID
	Charge Charge `json:"charge"`
	News   int64  `json:"news"` // number of reports about the charge that the provider has sent since the payment
}

// NotedCharge acknowledges the provider's reports about a charge: the rental service has processed
// the first News reports. This number comes from the field News of a [ReservationCharge].
type NotedCharge struct {
	ReservationID
	News int64 `json:"news"`
}

// NotedCharges acknowledges the provider's reports about at most [MaxCharges] charges.
type NotedCharges struct {
	Noted []NotedCharge `json:"noted"`
}

// CloseCharge requests that the charge of a cancelled reservation is closed, so that it can no
// longer be paid. Refund is the refund if the charge was already paid. Nil refunds the full payment.
// The rental service sends nil if it knew of no payment when the reservation was cancelled.
type CloseCharge struct {
	Refund *NumberedRefund `json:"refund"`
}

// NumberedRefund is a refund of a charge. Number identifies the
// refund, so that a repeated request makes no second refund.
type NumberedRefund struct {
	Number int `json:"number"`
	refund.Part
}

// OpenReservation requests that a reservation made on the booking
// page counts towards the customer's limit of open bookings.
type OpenReservation struct {
	CustomerEmail string    `json:"customer_email"`
	EndsAt        time.Time `json:"ends_at"`  // time until which the reservation counts
	MaxOpen       int       `json:"max_open"` // the setting bookings.max_open_per_customer
}
