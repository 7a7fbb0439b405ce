package stripe

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/google/uuid"
	sdk "github.com/stripe/stripe-go/v86"
	"github.com/stripe/stripe-go/v86/webhook"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
)

// ReadNotice checks the signature of a webhook request and parses the body. The signature may be at most
// five minutes old, which is Stripe's default. The check uses the clock of the machine, because the signature
// contains Stripe's time. Fault: invalid_parameter if the signature does not match the body, or is too old.
func (s *Stripe) ReadNotice(body []byte, header func(string) string) (payment.Notice, error) {
	sdkEvent, err := webhook.ConstructEventWithOptions(body, header("Stripe-Signature"), s.webhookSecret,
		webhook.ConstructEventOptions{
			Tolerance:                webhook.DefaultTolerance,
			IgnoreAPIVersionMismatch: true, // the fields that ReadNotice reads are the same in every version
		})
	if err != nil {
		return payment.Notice{}, fault.Wrap(fault.InvalidParameter, err, "Stripe-Signature: it does not match the "+
			"body, or is too old.")
	}
	if sdkEvent.Data == nil {
		return payment.Notice{}, nil
	}
	switch sdkEvent.Type {
	case sdk.EventTypePaymentIntentSucceeded, sdk.EventTypePaymentIntentCanceled,
		sdk.EventTypePaymentIntentPaymentFailed:
		return newIntentNotice(sdkEvent), nil
	case sdk.EventTypeCheckoutSessionCompleted, sdk.EventTypeCheckoutSessionAsyncPaymentSucceeded,
		sdk.EventTypeCheckoutSessionAsyncPaymentFailed, sdk.EventTypeCheckoutSessionExpired:
		return newSessionNotice(sdkEvent), nil
	case sdk.EventTypeRefundCreated, sdk.EventTypeRefundUpdated, sdk.EventTypeRefundFailed,
		sdk.EventTypeChargeRefundUpdated:
		return newRefundNotice(sdkEvent), nil
	case sdk.EventTypeChargeRefunded:
		return newChargeNotice(sdkEvent), nil
	case sdk.EventTypeChargeDisputeCreated, sdk.EventTypeChargeDisputeUpdated, sdk.EventTypeChargeDisputeClosed:
		return newDisputeNotice(sdkEvent), nil
	}
	return payment.Notice{}, nil
}

// newIntentNotice converts a Stripe event about a PaymentIntent into a notice. The
// notice reports how the PaymentIntent ended, or that an attempt to pay failed.
//
// A notice that reports the end has no subject, so booking can find the charge only by the id of the PaymentIntent.
// The charge of a Checkout Session is stored under the id of the session. Therefore booking finds no charge for the
// PaymentIntent of a session, and ignores the notice. Stripe reports the end of the session by another event. A notice
// that reports a failed attempt has a subject, because Stripe sends no event about failed attempts of a session.
func newIntentNotice(sdkEvent sdk.Event) payment.Notice {
	var intent struct {
		ID                 string
		CancellationReason sdk.PaymentIntentCancellationReason `json:"cancellation_reason"`
		Metadata           map[string]string
	}
	if json.Unmarshal(sdkEvent.Data.Raw, &intent) != nil {
		return payment.Notice{}
	}
	n := payment.Notice{Account: sdkEvent.Account, Reference: intent.ID}
	switch sdkEvent.Type {
	case sdk.EventTypePaymentIntentSucceeded:
		n.Outcome = payment.Paid
	case sdk.EventTypePaymentIntentCanceled:
		if intent.CancellationReason == superseded {
			return payment.Notice{}
		}
		n.Outcome = payment.Cancelled
	default:
		n.FailedAt = time.Unix(sdkEvent.Created, 0).UTC()
		setSubject(&n, intent.Metadata)
	}
	return n
}

// newSessionNotice converts a Stripe event about a Checkout Session into a notice. The notice is empty if
// the session is completed but not paid. The customer may then still pay, for example by a bank transfer.
func newSessionNotice(sdkEvent sdk.Event) payment.Notice {
	var session struct {
		ID            string
		PaymentStatus sdk.CheckoutSessionPaymentStatus `json:"payment_status"`
	}
	if json.Unmarshal(sdkEvent.Data.Raw, &session) != nil {
		return payment.Notice{}
	}
	n := payment.Notice{Account: sdkEvent.Account, Reference: session.ID}
	switch {
	case sdkEvent.Type == sdk.EventTypeCheckoutSessionExpired:
		n.Outcome = payment.Cancelled
	case sdkEvent.Type == sdk.EventTypeCheckoutSessionAsyncPaymentFailed:
		n.FailedAt = time.Unix(sdkEvent.Created, 0).UTC()
	case session.PaymentStatus == sdk.CheckoutSessionPaymentStatusPaid:
		n.Outcome = payment.Paid
	default:
		return payment.Notice{}
	}
	return n
}

// setSubject sets the subject of the notice to the subject in a charge's
// metadata. If the metadata contains no subject, setSubject changes nothing.
func setSubject(n *payment.Notice, metadata map[string]string) {
	business, err := uuid.Parse(metadata[businessKey])
	if err != nil {
		return
	}
	for _, kind := range []event.SubjectKind{event.Booking, event.Ticket, event.Reservation} {
		if id, err := uuid.Parse(metadata[subjectKey+string(kind)]); err == nil {
			n.Subject = payment.Subject{BusinessID: business, Kind: kind, ID: id}
		}
	}
}

// newRefundNotice converts a Stripe event about a refund into a notice. If the refund was
// not made through Slotmesh, the notice has no refund number, and HasChangedRefunds is true.
func newRefundNotice(sdkEvent sdk.Event) payment.Notice {
	var refund sdk.Refund
	if json.Unmarshal(sdkEvent.Data.Raw, &refund) != nil || refund.PaymentIntent == nil {
		return payment.Notice{}
	}
	if refund.Metadata[refundNumber] == "" {
		return payment.Notice{Account: sdkEvent.Account, Reference: refund.PaymentIntent.ID, HasChangedRefunds: true}
	}
	number, err := strconv.Atoi(refund.Metadata[refundNumber])
	if err != nil {
		return payment.Notice{}
	}
	n := payment.Notice{
		Account: sdkEvent.Account, Reference: refund.PaymentIntent.ID,
		Refund: &payment.RefundNotice{Number: number, RefundState: newRefundState(&refund)},
	}
	setSubject(&n, refund.Metadata)
	return n
}
