package booking

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/slotmesh/slotmesh/libs/sale/refund"
)

// Payment is the online payment of a booking, an order of tickets or a reservation.
type Payment struct {
	Provider string      `json:"provider"`
	Status   string      `json:"status"` // one of the Payment… values
	Amount   json.Number `json:"amount"` // in the currency of the sale, like all amounts here
	Refunded json.Number `json:"refunded"`
	DueAt    *time.Time  `json:"due_at"` // of an open payment: its deadline
	Refund   *Refund     `json:"refund"` // the newest; null: no refund was due
	Dispute  *Dispute    `json:"dispute,omitempty"`
	// Policy is the cancellation policy at the time of the sale, with the changes that a reschedule made to it.
	Policy refund.Policy `json:"cancellation_policy"`
}

// Dispute is a customer's dispute of a payment at their bank. Reason is the provider's code, such as fraudulent.
type Dispute struct {
	Status string `json:"status"` // one of the Dispute… values
	Reason string `json:"reason,omitempty"`
}

// Statuses of a dispute.
const (
	DisputeOpen = "open"
	DisputeWon  = "won"
	DisputeLost = "lost"
)

// Statuses of a payment. A cancelled one can no longer be paid.
const (
	PaymentOpen      = "open"
	PaymentPaid      = "paid"
	PaymentCancelled = "cancelled"
)

// Refund is a refund of a payment. Reason is the provider's code for a refusal, such as charge_disputed.
type Refund struct {
	Amount  json.Number `json:"amount"`
	Percent int         `json:"percent"` // share of the paid amount, as a whole number
	Status  string      `json:"status"`  // one of the Refund… statuses
	Reason  string      `json:"reason,omitempty"`
}

// Statuses of a refund. A refund is pending until the provider has given a final answer.
const (
	RefundPending  = "pending"
	RefundRefunded = "refunded"
	RefundRefused  = "refused"
)

// Cancellation is the effect of cancelling a booking or an order of tickets now (lifecycle.md §4).
type Cancellation struct {
	Allowed bool `json:"allowed"`
	// Reason is one of the Cancel… reasons, or the status of the booking or order; set if not allowed
	Reason string `json:"reason,omitempty"`
	// Refund is the refund by the policy at the time of the sale.
	Refund CancellationRefund `json:"refund"`
	// Until is the last instant at which this refund applies; null
	// if cancelling is not allowed or the refund never changes.
	Until *time.Time `json:"until"`
	// Deadline is the last instant at which the customer may cancel. It
	// is omitted in the owner's view, and if the customer may not cancel.
	Deadline *time.Time `json:"deadline,omitempty"`
}

// CancellationRefund is the amount that would be refunded, and its share of the amount that was paid online.
type CancellationRefund struct {
	Amount   json.Number `json:"amount"`
	Percent  int         `json:"percent"`
	Currency string      `json:"currency"`
}

// Reasons why a customer may not cancel a booking although the owner could.
const (
	CancelTooLate    = "too_late"    // the limit self_service.cancel_until_hours has passed
	CancelNotOffered = "not_offered" // the business does not let customers cancel
)

// Cancel requests the cancellation of a booking. The zero value refunds by the policy.
type Cancel struct {
	Refund RefundAmount `json:"refund,omitzero"`
}

// NewRefund requests a refund of a booking that has ended or was cancelled, for example after the
// provider refused an earlier refund. The zero value refunds all of the payment that is left.
type NewRefund struct {
	Refund RefundAmount `json:"refund,omitzero"`
}

// RefundAmount is the amount of a refund: one of the constants Refund…, or a decimal
// such as 12.50, which is a number in JSON. Each call documents the meaning of "".
type RefundAmount string

// The words of a [RefundAmount].
const (
	RefundPolicy RefundAmount = "policy"
	RefundFull   RefundAmount = "full"
	RefundNone   RefundAmount = "none"
)

// Word reports whether a is a word or empty, not a number.
func (a RefundAmount) Word() bool {
	return a == "" || a == RefundPolicy || a == RefundFull || a == RefundNone
}

// MarshalJSON encodes a word as a string and an amount as a number.
func (a RefundAmount) MarshalJSON() ([]byte, error) {
	if a.Word() {
		return json.Marshal(string(a))
	}
	return json.Marshal(json.Number(a))
}

// errRefund is the error of any other text.
var errRefund = errors.New(`refund: send "policy", "full", "none" or an amount such as 12.50`)

// ParseRefund parses a word or a decimal amount from user input.
func ParseRefund(text string) (RefundAmount, error) {
	a := RefundAmount(text)
	if a.Word() || json.Unmarshal([]byte(text), new(float64)) == nil && text != "null" {
		return a, nil
	}
	return "", errRefund
}

// UnmarshalJSON decodes a string as a word and a number as an amount.
func (a *RefundAmount) UnmarshalJSON(text []byte) error {
	var word string
	if json.Unmarshal(text, &word) != nil {
		word = string(text)
	} else if !RefundAmount(word).Word() || word == "" {
		return errRefund
	}
	var err error
	*a, err = ParseRefund(word)
	return err
}
