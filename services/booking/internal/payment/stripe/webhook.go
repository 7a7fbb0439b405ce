package stripe

import (
	"encoding/json"

	sdk "github.com/stripe/stripe-go/v86"
	"github.com/stripe/stripe-go/v86/webhook"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
)

// ReadNotice checks the signature of a webhook's body and reads it. Its age, of at most Stripe's five minutes, is judged by the
// machine's clock, as Stripe signs by real time.
func (s *Stripe) ReadNotice(body []byte, header func(string) string) (payment.Notice, error) {
	event, err := webhook.ConstructEventWithOptions(body, header("Stripe-Signature"), s.webhookSecret, webhook.ConstructEventOptions{
		Tolerance:                webhook.DefaultTolerance,
		IgnoreAPIVersionMismatch: true, // an id is read of it, which no version changes
	})
	if err != nil {
		return payment.Notice{}, fault.Wrap(fault.InvalidParameter, err, "Stripe-Signature: it does not match the body, or is too old.")
	}
	n := payment.Notice{Account: event.Account}
	switch event.Type {
	case sdk.EventTypePaymentIntentSucceeded:
		n.Outcome = payment.Paid
	case sdk.EventTypePaymentIntentCanceled:
		n.Outcome = payment.Cancelled
	default:
		return payment.Notice{}, nil
	}
	var intent struct{ ID string }
	if event.Data == nil || json.Unmarshal(event.Data.Raw, &intent) != nil {
		return payment.Notice{}, nil
	}
	n.Reference = intent.ID
	return n, nil
}
