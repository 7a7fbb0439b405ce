package stripe

import (
	"context"
	"encoding/json"
	"strings"

	sdk "github.com/stripe/stripe-go/v86"

	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
)

// ReadExternalRefunds returns the booking, order of tickets or reservation that a PaymentIntent is for. It also
// returns the sum of the refunds that the business made at Stripe instead of through Slotmesh. The sum excludes
// refunds that failed or were cancelled.
func (s *Stripe) ReadExternalRefunds(ctx context.Context, account, reference string) (payment.ExternalRefunds, error) {
	params := &sdk.PaymentIntentRetrieveParams{}
	params.SetStripeAccount(account)
	intent, err := s.client.V1PaymentIntents.Retrieve(ctx, reference, params)
	if err != nil {
		return payment.ExternalRefunds{}, redactError("read a charge", err)
	}
	list := &sdk.RefundListParams{PaymentIntent: sdk.String(reference)}
	list.Limit = sdk.Int64(100)
	list.SetStripeAccount(account)
	var sum int64
	for refund, err := range s.client.V1Refunds.List(ctx, list).All(ctx) {
		if err != nil {
			return payment.ExternalRefunds{}, redactError("list refunds", err)
		}
		if refund.Metadata[refundNumber] == "" && newRefundState(refund).Status != payment.RefundRefused {
			sum += refund.Amount
		}
	}
	currency, err := money.ParseCurrency(strings.ToUpper(string(intent.Currency)))
	if err != nil {
		return payment.ExternalRefunds{}, err
	}
	var n payment.Notice
	setSubject(&n, intent.Metadata)
	refunded, err := toMinorUnits(sum, currency)
	return payment.ExternalRefunds{Subject: n.Subject, Sum: refunded}, err
}

// newChargeNotice converts a Stripe event into a notice. The event reports that a charge was refunded.
// The notice does not contain the refunded sum; [Stripe.ReadExternalRefunds] returns that sum.
func newChargeNotice(sdkEvent sdk.Event) payment.Notice {
	var charge struct {
		PaymentIntent string `json:"payment_intent"`
	}
	if json.Unmarshal(sdkEvent.Data.Raw, &charge) != nil || charge.PaymentIntent == "" {
		return payment.Notice{}
	}
	return payment.Notice{Account: sdkEvent.Account, Reference: charge.PaymentIntent, HasChangedRefunds: true}
}

// newDisputeNotice converts a Stripe event about a dispute into a notice. It ignores inquiries, because an inquiry
// takes no money from the business. If the business does not answer an inquiry, the inquiry becomes a dispute.
func newDisputeNotice(sdkEvent sdk.Event) payment.Notice {
	var dispute struct {
		PaymentIntent string `json:"payment_intent"`
		Status        sdk.DisputeStatus
		Reason        string
	}
	if json.Unmarshal(sdkEvent.Data.Raw, &dispute) != nil || dispute.PaymentIntent == "" ||
		strings.HasPrefix(string(dispute.Status), "warning") {
		return payment.Notice{}
	}
	d := payment.Dispute{Status: payment.DisputeOpen, Reason: dispute.Reason}
	switch dispute.Status {
	case sdk.DisputeStatusWon:
		d.Status = payment.DisputeWon
	case sdk.DisputeStatusLost:
		d.Status = payment.DisputeLost
	}
	return payment.Notice{Account: sdkEvent.Account, Reference: dispute.PaymentIntent, Dispute: &d}
}
