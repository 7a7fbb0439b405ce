package stripe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"

	sdk "github.com/stripe/stripe-go/v86"

	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
)

// refundNumber is the metadata key of a refund's number. The number distinguishes the refunds of one charge.
const refundNumber = "slotmesh_refund"

// Refund makes a refund of a PaymentIntent, unless Stripe already has a refund with the number `r.Number`.
//
// Stripe deletes idempotency keys after a day. Therefore Refund first lists the existing
// refunds. The idempotency key only prevents two concurrent requests from making two refunds.
func (s *Stripe) Refund(ctx context.Context, r payment.Refund) (payment.RefundState, error) {
	var refund *sdk.Refund
	intent, err := s.findIntent(ctx, r.Account, r.Reference)
	if err == nil {
		r.Reference = intent
		refund, err = s.findRefund(ctx, r)
	}
	if err == nil && refund == nil {
		refund, err = s.makeRefund(ctx, r)
	}
	var refusal *refusedError
	switch {
	case errors.As(err, &refusal):
		return payment.RefundState{Status: payment.RefundRefused, Reason: refusal.code}, nil
	case err != nil:
		return payment.RefundState{}, err
	}
	return newRefundState(refund), nil
}

func (s *Stripe) findRefund(ctx context.Context, r payment.Refund) (*sdk.Refund, error) {
	params := &sdk.RefundListParams{PaymentIntent: sdk.String(r.Reference)}
	params.Limit = sdk.Int64(100)
	params.SetStripeAccount(r.Account)
	for refund, err := range s.client.V1Refunds.List(ctx, params).All(ctx) {
		if err != nil {
			return nil, redactError("look for a refund", err)
		}
		if refund.Metadata[refundNumber] == strconv.Itoa(r.Number) {
			return refund, nil
		}
	}
	return nil, nil
}

func (s *Stripe) makeRefund(ctx context.Context, r payment.Refund) (*sdk.Refund, error) {
	n, err := toStripeAmount(r.Amount, r.Currency)
	if err != nil {
		return nil, err
	}
	params := &sdk.RefundCreateParams{PaymentIntent: sdk.String(r.Reference), Amount: sdk.Int64(n),
		Metadata: newMetadata(r.Charge)}
	params.AddMetadata(refundNumber, strconv.Itoa(r.Number))
	params.SetIdempotencyKey(fmt.Sprintf("refund-%s-%d", r.ID, r.Number))
	params.SetStripeAccount(r.Account)
	refund, err := s.client.V1Refunds.Create(ctx, params)
	if err != nil {
		return nil, redactError("refund a charge", err)
	}
	return refund, nil
}

// newRefundState returns the state of a refund at Stripe. The state is
// pending if the status at Stripe is neither succeeded, failed nor canceled.
func newRefundState(r *sdk.Refund) payment.RefundState {
	switch r.Status {
	case sdk.RefundStatusSucceeded:
		return payment.RefundState{Status: payment.RefundRefunded}
	case sdk.RefundStatusFailed, sdk.RefundStatusCanceled:
		return payment.RefundState{Status: payment.RefundRefused,
			Reason: cmp.Or(string(r.FailureReason), string(r.Status))}
	}
	return payment.RefundState{Status: payment.RefundPending}
}
