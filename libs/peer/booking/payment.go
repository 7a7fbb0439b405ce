package booking

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/slotmesh/slotmesh/libs/refund"
)

// Payment is what of a booking, an order of tickets or a reservation is paid online.
type Payment struct {
	Provider string      `json:"provider"`
	Status   string      `json:"status"` // one of the Payment… values
	Amount   json.Number `json:"amount"` // in the currency of what it is of, as the others
	Refunded json.Number `json:"refunded"`
	DueAt    *time.Time  `json:"due_at"` // of an open one: until when the customer can pay
	Refund   *Refund     `json:"refund"` // the newest; null: none was owed
	Dispute  *Dispute    `json:"dispute,omitempty"`
	// Policy is the cancellation policy that the sale was made under, with what a reschedule changed of it.
	Policy refund.Policy `json:"cancellation_policy"`
}

// Dispute is a customer's dispute of a payment at their bank. Reason is the provider's, such as fraudulent.
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

// Refund is what is given back of a payment. Reason is the provider's for a refusal, such as charge_disputed.
type Refund struct {
	Amount  json.Number `json:"amount"`
	Percent int         `json:"percent"` // of what was paid, to a whole number
	Status  string      `json:"status"`  // one of the Refund… statuses
	Reason  string      `json:"reason,omitempty"`
}

// Statuses of a refund: pending until the provider has answered for good.
const (
	RefundPending  = "pending"
	RefundRefunded = "refunded"
	RefundRefused  = "refused"
)

// Cancellation is what cancelling a booking or an order of tickets would do at this moment (lifecycle.md §4).
type Cancellation struct {
	Allowed bool   `json:"allowed"`
	Reason  string `json:"reason,omitempty"` // one of the Cancel… reasons, or the status of what it is of; set where it is not allowed
	// Refund is what would be given back by the policy that the booking was made under.
	Refund CancellationRefund `json:"refund"`
	// Until is the last instant at which that still holds; null where it is not allowed or does not end.
	Until *time.Time `json:"until"`
	// Deadline is the last instant at which the customer may cancel; left out of what the owner sees, and where they may not.
	Deadline *time.Time `json:"deadline,omitempty"`
}

// CancellationRefund is an amount that would be refunded, and its share of what was paid online.
type CancellationRefund struct {
	Amount   json.Number `json:"amount"`
	Percent  int         `json:"percent"`
	Currency string      `json:"currency"`
}

// Reasons why a customer may not cancel a booking that an owner could.
const (
	CancelTooLate    = "too_late"    // self_service.cancel_until_hours is over
	CancelNotOffered = "not_offered" // the business lets no customer cancel
)

// Cancel asks for a booking to be cancelled. The zero value refunds by the policy.
type Cancel struct {
	Refund RefundAmount `json:"refund,omitzero"`
}

// NewRefund asks for a refund of a booking that is over, as after a refusal. The zero value is all that is left.
type NewRefund struct {
	Refund RefundAmount `json:"refund,omitzero"`
}

// RefundAmount says how much is refunded: one of the Refund… words, or an amount such as 12.50, which is a number in JSON. ""
// leaves it to the call.
type RefundAmount string

// The words for how much is refunded.
const (
	RefundPolicy RefundAmount = "policy"
	RefundFull   RefundAmount = "full"
	RefundNone   RefundAmount = "none"
)

// Word reports whether a is no amount.
func (a RefundAmount) Word() bool {
	return a == "" || a == RefundPolicy || a == RefundFull || a == RefundNone
}

// MarshalJSON writes an amount as a number.
func (a RefundAmount) MarshalJSON() ([]byte, error) {
	if a.Word() {
		return json.Marshal(string(a))
	}
	return json.Marshal(json.Number(a))
}

// errRefund is what is wrong with any other text.
var errRefund = errors.New(`refund: send "policy", "full", "none" or an amount such as 12.50`)

// ParseRefund reads a word or an amount, as a person writes it.
func ParseRefund(text string) (RefundAmount, error) {
	a := RefundAmount(text)
	if a.Word() || json.Unmarshal([]byte(text), new(float64)) == nil && text != "null" {
		return a, nil
	}
	return "", errRefund
}

// UnmarshalJSON reads a word as a string, an amount as a number.
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
