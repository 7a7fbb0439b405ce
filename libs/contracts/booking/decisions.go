package booking

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
)

// DecisionRecipient asks for the link with which the owner of an e-mail address decides about a pending booking. Slug
// is the slug of the business.
type DecisionRecipient struct {
	Booking uuid.UUID `json:"booking"`
	Slug    string    `json:"slug"`
	Email   string    `json:"email"`
}

// DecisionToken identifies a decision by the token of its link.
type DecisionToken struct {
	Token string `json:"token"`
}

// Decide confirms or declines a pending booking by a mailed link. Sequence is the Sequence of the booking that the page
// showed. Transition is TransitionConfirm or TransitionCancel. Reason is the reason of a cancellation ([Cancel]).
type Decide struct {
	Token      string `json:"token"`
	Sequence   int    `json:"sequence"`
	Transition string `json:"transition"`
	Reason     string `json:"reason,omitempty"`
}

// Decision is a booking that the recipient of a notice decides about by a mailed link.
type Decision struct {
	Booking Booking     `json:"booking"`
	IsOpen  bool        `json:"is_open"` // reports that the recipient can decide now
	Refund  json.Number `json:"refund"`  // what declining refunds, in the currency of the booking; 0 if IsOpen is false
	// Made is the change that decided about the booking. It is null while the booking is
	// pending, and after the entries of the booking in the event log are deleted.
	Made *MadeDecision `json:"made"`
}

// MadeDecision reports when and by whom a booking was confirmed or cancelled.
type MadeDecision struct {
	At time.Time `json:"at"`
	By string    `json:"by"` // one of the DecidedBy… constants
	// Email is the masked address of another recipient. It is set only for DecidedByRecipient.
	Email string `json:"email,omitempty"`
}

// The authors of a decision, as values of MadeDecision.By.
const (
	DecidedByYou       = "you"       // the recipient of this link, by this link
	DecidedByRecipient = "recipient" // another recipient, by a link
	DecidedByTeam      = "team"      // a person or a program of the business that is signed in
	DecidedByCustomer  = "customer"
	DecidedBySystem    = "system" // Slotmesh or a payment provider, for example after a payment
)
