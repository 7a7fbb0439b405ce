package stripe

import (
	"encoding/json"
	"strconv"
	"time"

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
		IgnoreAPIVersionMismatch: true, // what is read of it is the same in every version
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
	case sdk.EventTypePaymentIntentPaymentFailed:
		n.FailedAt = time.Unix(event.Created, 0).UTC()
	case sdk.EventTypeRefundUpdated, sdk.EventTypeRefundFailed, sdk.EventTypeChargeRefundUpdated:
		return refundNotice(event), nil
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

// refundNotice reads how far a refund is; one that was not made here has no number and says nothing.
func refundNotice(event sdk.Event) payment.Notice {
	var refund sdk.Refund
	if event.Data == nil || json.Unmarshal(event.Data.Raw, &refund) != nil || refund.PaymentIntent == nil {
		return payment.Notice{}
	}
	number, err := strconv.Atoi(refund.Metadata[refundNumber])
	if err != nil {
		return payment.Notice{}
	}
	return payment.Notice{
		Account: event.Account, Reference: refund.PaymentIntent.ID,
		Refund: &payment.RefundNotice{Number: number, RefundState: refundState(&refund)},
	}
}
