package stripe

import (
	"encoding/json"
	"errors"
	"fmt"

	sdk "github.com/stripe/stripe-go/v86"
	"github.com/stripe/stripe-go/v86/webhook"

	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
)

// ErrSignature says that a notice is not Stripe's, or is older than Stripe's tolerance of five minutes.
var ErrSignature = errors.New("the signature does not match")

// Notice is what a webhook event says of a charge. Outcome is "" where it says nothing that matters here. Failed says
// that an attempt to pay failed; the charge itself is then still open.
type Notice struct {
	Account   string // the connected account it happened on
	Reference string
	Outcome   payment.Outcome
	Failed    bool
}

// ReadNotice checks the signature of a webhook's body and reads it. Its age is judged by the machine's clock, as Stripe
// signs by real time. Errors: [ErrSignature].
func ReadNotice(body []byte, signature, secret string) (Notice, error) {
	event, err := webhook.ConstructEventWithOptions(body, signature, secret, webhook.ConstructEventOptions{
		Tolerance:                webhook.DefaultTolerance,
		IgnoreAPIVersionMismatch: true, // an id is read of it, which no version changes
	})
	if err != nil {
		return Notice{}, fmt.Errorf("%w: %w", ErrSignature, err)
	}
	var n Notice
	switch event.Type {
	case sdk.EventTypePaymentIntentSucceeded:
		n.Outcome = payment.Paid
	case sdk.EventTypePaymentIntentCanceled:
		n.Outcome = payment.Cancelled
	case sdk.EventTypePaymentIntentPaymentFailed:
		n.Outcome, n.Failed = payment.Cancelled, true
	default:
		return Notice{}, nil
	}
	var intent struct{ ID string }
	if event.Data == nil || json.Unmarshal(event.Data.Raw, &intent) != nil {
		return Notice{}, nil
	}
	n.Account, n.Reference = event.Account, intent.ID
	return n, nil
}
