package stripe

import (
	"context"
	"encoding/json"
	"strings"

	sdk "github.com/stripe/stripe-go/v86"

	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
)

// Look returns the booking, order of tickets or reservation that a PaymentIntent is for, and the sum of the refunds
// that the business made at Stripe instead of through Slotmesh. The sum excludes refunds that failed or were cancelled.
func (s *Stripe) Look(ctx context.Context, account, reference string) (payment.Elsewhere, error) {
	params := &sdk.PaymentIntentRetrieveParams{}
	params.SetStripeAccount(account)
	intent, err := s.client.V1PaymentIntents.Retrieve(ctx, reference, params)
	if err != nil {
		return payment.Elsewhere{}, readable("read a charge", err)
	}
	list := &sdk.RefundListParams{PaymentIntent: sdk.String(reference)}
	list.Limit = sdk.Int64(100)
	list.SetStripeAccount(account)
	var sum int64
	for refund, err := range s.client.V1Refunds.List(ctx, list).All(ctx) {
		if err != nil {
			return payment.Elsewhere{}, readable("list refunds", err)
		}
		if refund.Metadata[refundNumber] == "" && refundState(refund).Status != payment.RefundRefused {
			sum += refund.Amount
		}
	}
	currency, err := money.ParseCurrency(strings.ToUpper(string(intent.Currency)))
	if err != nil {
		return payment.Elsewhere{}, err
	}
	var n payment.Notice
	said(&n, intent.Metadata)
	refunded, err := minor(sum, currency)
	return payment.Elsewhere{Subject: n.Subject, Refunded: refunded}, err
}

// chargeNotice converts the Stripe event that a charge was refunded into a notice.
// The notice does not contain the refunded sum; [Stripe.Look] returns that sum.
func chargeNotice(told sdk.Event) payment.Notice {
	var charge struct {
		PaymentIntent string `json:"payment_intent"`
	}
	if json.Unmarshal(told.Data.Raw, &charge) != nil || charge.PaymentIntent == "" {
		return payment.Notice{}
	}
	return payment.Notice{Account: told.Account, Reference: charge.PaymentIntent, Changed: true}
}

// disputeNotice converts a Stripe event about a dispute into a notice. It ignores inquiries, because an inquiry
// takes no money from the business. If the business does not answer an inquiry, the inquiry becomes a dispute.
func disputeNotice(told sdk.Event) payment.Notice {
	var dispute struct {
		PaymentIntent string `json:"payment_intent"`
		Status        sdk.DisputeStatus
		Reason        string
	}
	if json.Unmarshal(told.Data.Raw, &dispute) != nil || dispute.PaymentIntent == "" ||
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
	return payment.Notice{Account: told.Account, Reference: dispute.PaymentIntent, Dispute: &d}
}
