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
	Status   string      `json:"status"` // one of the Payment… statuses
	Amount   json.Number `json:"amount"` // in the currency of the sale, like Refunded
	Refunded json.Number `json:"refunded"`
	DueAt    *time.Time  `json:"due_at"` // payment deadline; null unless the payment is open
	Refund   *Refund     `json:"refund"` // newest refund; null if nothing was refunded
	Dispute  *Dispute    `json:"dispute,omitempty"`
	// Policy is the cancellation policy at the time of the sale.
	// A reschedule may have limited the share that it refunds.
	Policy refund.Policy `json:"cancellation_policy"`
}

// Dispute is the customer's dispute of a payment at the customer's
// bank. Reason is the code of the provider, such as fraudulent.
type Dispute struct {
	Status string `json:"status"` // one of the Dispute… statuses
	Reason string `json:"reason,omitempty"`
}

// The statuses of a dispute.
const (
	DisputeOpen = "open"
	DisputeWon  = "won"
	DisputeLost = "lost"
)

// The statuses of a payment. A cancelled payment can no longer be made.
const (
	PaymentOpen      = "open"
	PaymentPaid      = "paid"
	PaymentCancelled = "cancelled"
)

// Refund is a refund of a payment. Reason is the provider's code for the reason of a refusal, such as charge_disputed.
type Refund struct {
	Amount  json.Number `json:"amount"`
	Percent int         `json:"percent"` // share of the paid amount, as a whole number
	Status  string      `json:"status"`  // one of the Refund… statuses
	Reason  string      `json:"reason,omitempty"`
}

// The statuses of a refund. A refund is pending until the provider has given its final answer.
const (
	RefundPending  = "pending"
	RefundRefunded = "refunded"
	RefundRefused  = "refused"
)

// Cancellation is the effect that a cancellation of a booking or an order of tickets would have now (lifecycle.md §4).
type Cancellation struct {
	Allowed bool `json:"allowed"`
	// Reason is one of the Cancel… reasons, or the status of the
	// booking or order. It is set if a cancellation is not allowed.
	Reason string `json:"reason,omitempty"`
	// Refund is the refund that the cancellation policy at the time of the sale gives.
	Refund CancellationRefund `json:"refund"`
	// Until is the last instant at which the values of Allowed and Refund are valid. It
	// is null if a cancellation is not allowed, or if these values are valid for ever.
	Until *time.Time `json:"until"`
	// Deadline is the last instant at which the customer may cancel. It
	// is omitted in the owner's view, and if the customer may not cancel.
	Deadline *time.Time `json:"deadline,omitempty"`
	// Steps are the refunds that the cancellation policy gives from now until Deadline, in order of time. Steps is
	// omitted in the owner's view, if nothing is refunded, and if the refund depends on no policy.
	Steps []RefundStep `json:"steps,omitempty"`
}

// RefundStep is the share of an online payment that cancellations refund until the instant Until.
type RefundStep struct {
	Until   time.Time `json:"until"`
	Percent int       `json:"percent"`
}

// CancellationRefund is the refund that a cancellation would
// make. Percent is its share of the amount that was paid online.
type CancellationRefund struct {
	Amount   json.Number `json:"amount"`
	Percent  int         `json:"percent"`
	Currency string      `json:"currency"`
}

// The reasons why a customer may not cancel a booking that the owner may still cancel.
const (
	CancelTooLate    = "too_late"    // the limit self_service.cancel_until_hours has passed
	CancelNotOffered = "not_offered" // the business does not allow customers to cancel
)

// Cancel requests the cancellation of a booking. If Refund is omitted, the cancellation policy determines the refund.
// Reason is the text with which the business explains the cancellation in the customer's message, of at most MaxReason
// characters.
type Cancel struct {
	Refund RefundAmount `json:"refund,omitzero"`
	Reason string       `json:"reason,omitempty"`
}

// MaxReason is the maximum length of the reason for a cancellation, in characters.
const MaxReason = 300

// NewRefund requests a refund of a booking that has ended or was cancelled, for example after the
// provider refused an earlier refund. If Refund is omitted, the request refunds the rest of the payment.
type NewRefund struct {
	Refund RefundAmount `json:"refund,omitzero"`
}

// RefundAmount is the requested amount of a refund. It is RefundPolicy, RefundFull or RefundNone, or a decimal number
// such as 12.50, which is a number in JSON. Each function that takes a RefundAmount documents the meaning of "".
type RefundAmount string

// The words that a [RefundAmount] can be.
const (
	RefundPolicy RefundAmount = "policy"
	RefundFull   RefundAmount = "full"
	RefundNone   RefundAmount = "none"
)

// Word reports whether `a` is one of the words or empty, and therefore not a number.
func (a RefundAmount) Word() bool {
	return a == "" || a == RefundPolicy || a == RefundFull || a == RefundNone
}

// MarshalJSON encodes a word as a JSON string and an amount as a JSON number.
func (a RefundAmount) MarshalJSON() ([]byte, error) {
	if a.Word() {
		return json.Marshal(string(a))
	}
	return json.Marshal(json.Number(a))
}

// errRefund is the error for a text that is neither a word nor a number.
var errRefund = errors.New(`refund: send "policy", "full", "none" or an amount such as 12.50`)

// ParseRefund parses a word or a decimal number that a user has entered.
func ParseRefund(text string) (RefundAmount, error) {
	a := RefundAmount(text)
	if a.Word() || json.Unmarshal([]byte(text), new(float64)) == nil && text != "null" {
		return a, nil
	}
	return "", errRefund
}

// UnmarshalJSON decodes a JSON string as a word and a JSON number as an amount.
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
