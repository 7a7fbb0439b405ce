package booking

import (
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/sale/refund"
	"github.com/slotmesh/slotmesh/libs/values/money"
)

// NewReservationPayment requests the online payment of a reservation that the rental
// service stores. The customer pays on the page of the payment provider. The id of the
// reservation identifies the payment, so that a repeated request opens no second payment.
type NewReservationPayment struct {
	Slug     string `json:"slug"`     // slug of the business, whose offer sets the provider and the cancellation policy
	Name     string `json:"name"`     // description for the customer on the page of the provider
	Amount   int64  `json:"amount"`   // in minor units of Currency
	Currency string `json:"currency"` // ISO 4217 code
	Manage   string `json:"manage"`   // customer's link; after the payment, the provider sends the customer to it
}

// ReservationCheckout is an open payment with its payment page. CheckoutURL is
// the payment page of the provider. Only the customer may receive this URL.
type ReservationCheckout struct {
	Payment     PaymentState `json:"charge"`
	CheckoutURL string       `json:"checkout_url"`
}

// PaymentState is the current state of the payment of a reservation. Amounts
// are in minor units of the currency in which the payment was requested.
type PaymentState struct {
	Provider string        `json:"provider"`
	Status   string        `json:"status"` // one of the PaymentState… values
	Amount   int64         `json:"amount"`
	DueAt    time.Time     `json:"due_at"` // payment deadline of an open payment
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
	UpdatedAt         time.Time `json:"updated_at,omitzero"` // time of the last change of the payment
}

// The statuses of a payment. After the cancellation of a payment, the customer can no longer pay. The customer may have
// paid just before the cancellation takes effect. The booking service then detects the payment and refunds it in full.
const (
	PaymentStateCreating = "creating" // no customer has received the payment page yet
	PaymentStateOpen     = "open"
	PaymentStatePaid     = "paid"
	// PaymentStateCancelling means that the reservation is cancelled, but the provider has not closed the payment yet.
	PaymentStateCancelling = "cancelling"
	PaymentStateCancelled  = "cancelled"
)

// ExpandPaymentFilter returns the statuses of the payments that a filter by payment selects. The filter
// is one of [PaymentStatuses]. The result is nil for the filter "", which selects all payments.
func ExpandPaymentFilter(payment string) []string {
	switch payment {
	case PaymentOpen:
		return []string{PaymentStateCreating, PaymentStateOpen}
	case PaymentCancelled:
		return []string{PaymentStateCancelling, PaymentStateCancelled}
	case PaymentPaid, PaymentRefundFailed, PaymentDisputed:
		return []string{PaymentStatePaid}
	}
	return nil
}

// RefundableRest returns the part of the paid amount that is neither refunded nor in a pending refund.
// While a dispute is open and after a lost dispute, RefundableRest returns 0. The receiver `c` may be nil.
func (c *PaymentState) RefundableRest() int64 {
	if c == nil || c.Status != PaymentStatePaid || c.DisputeStatus == DisputeOpen || c.DisputeStatus == DisputeLost {
		return 0
	}
	left := c.Amount - c.Refunded
	if c.RefundStatus == RefundPending {
		left -= c.RefundAmount
	}
	return left
}

// CanPay reports whether the customer can pay at the instant `now`. The receiver `c` may be nil.
func (c *PaymentState) CanPay(now time.Time) bool {
	return c != nil && c.Status == PaymentStateOpen && c.DueAt.After(now)
}

// Render returns the payment as a [Payment] for owners and customers, with
// amounts in the given currency. It returns nil if the receiver `c` is nil.
func (c *PaymentState) Render(currency money.Currency) *Payment {
	if c == nil {
		return nil
	}
	rendered := &Payment{
		Provider: c.Provider, Status: c.Status, Amount: currency.JSON(c.Amount), Refunded: currency.JSON(c.Refunded),
		Policy: c.Policy,
	}
	switch c.Status {
	case PaymentStateCreating:
		rendered.Status = PaymentOpen
	case PaymentStateOpen:
		due := c.DueAt.UTC()
		rendered.DueAt = &due
	case PaymentStateCancelling:
		rendered.Status = PaymentCancelled
	}
	if c.DisputeStatus != "" {
		rendered.Dispute = &Dispute{Status: c.DisputeStatus, Reason: c.DisputeReason}
	}
	if c.RefundStatus != "" {
		rendered.Refund = &Refund{Amount: currency.JSON(c.RefundAmount), Percent: c.RefundPercent,
			Status: c.RefundStatus,
			Reason: c.RefundReason}
	}
	return rendered
}

// ReservationID identifies a reservation and its business.
type ReservationID struct {
	BusinessID uuid.UUID `json:"business_id"`
	ID         uuid.UUID `json:"id"`
}

// MaxReservationPayments is the maximal number of payments in one request.
const MaxReservationPayments = 500

// ReservationPaymentsRequest requests the payments of at most [MaxReservationPayments] reservations.
type ReservationPaymentsRequest struct {
	Reservations []ReservationID `json:"reservations"`
}

// ReservationPayments lists the payments of the requested reservations. A reservation without a payment is left out.
type ReservationPayments struct {
	Payments []ReservationPayment `json:"charges"`
}

// ReservationPayment is a payment together with the id of its reservation.
type ReservationPayment struct {
	ReservationID
	Payment PaymentState `json:"charge"`
	// Reports is the number of reports about the payment that the provider has sent after the customer paid.
	Reports int64 `json:"news"`
}

// ReportAcknowledgement acknowledges reports of the provider about a payment. Reports is the number of reports
// that the rental service has processed. The rental service copies this number from a [ReservationPayment].
type ReportAcknowledgement struct {
	ReservationID
	Reports int64 `json:"news"`
}

// ReportAcknowledgements acknowledges the provider's reports about at most [MaxReservationPayments] payments.
type ReportAcknowledgements struct {
	Acknowledgements []ReportAcknowledgement `json:"noted"`
}

// ClosePayment requests that the payment of a cancelled reservation is closed, so that the customer
// can no longer pay. Refund is the refund if the customer has already paid. Nil refunds the full payment.
// The rental service sends nil if it knew of no payment when the reservation was cancelled.
type ClosePayment struct {
	Refund *NumberedRefund `json:"refund"`
}

// NumberedRefund is a refund of a payment. Number identifies the
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
