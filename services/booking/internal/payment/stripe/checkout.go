package stripe

import (
	"context"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/stripe/stripe-go/v86"

	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
)

// sessionPrefix is the prefix of the reference of every Checkout
// Session. The reference of a PaymentIntent has another prefix.
const sessionPrefix = "cs_"

func isSession(reference string) bool { return strings.HasPrefix(reference, sessionPrefix) }

// createSession opens a Checkout Session, which is a payment page of Stripe.
// Stripe creates the PaymentIntent of the session when the customer pays.
func (s *Stripe) createSession(ctx context.Context, c payment.Charge) (payment.Intent, error) {
	n, err := toStripeAmount(c.Amount, c.Currency)
	if err != nil {
		return payment.Intent{}, err
	}
	params := &sdk.CheckoutSessionCreateParams{
		Mode:       sdk.String(string(sdk.CheckoutSessionModePayment)),
		SuccessURL: sdk.String(c.Checkout.SuccessURL),
		CancelURL:  sdk.String(c.Checkout.CancelURL),
		ExpiresAt:  sdk.Int64(c.Checkout.ExpiresAt.Unix()),
		Metadata:   newMetadata(c),
		LineItems: []*sdk.CheckoutSessionCreateLineItemParams{{
			Quantity: sdk.Int64(1),
			PriceData: &sdk.CheckoutSessionCreateLineItemPriceDataParams{
				Currency: sdk.String(strings.ToLower(c.Currency.Code)), UnitAmount: sdk.Int64(n),
				ProductData: &sdk.CheckoutSessionCreateLineItemPriceDataProductDataParams{Name: sdk.String(c.Checkout.Name)},
			},
		}},
		PaymentIntentData: &sdk.CheckoutSessionCreatePaymentIntentDataParams{Metadata: newMetadata(c)},
	}
	params.SetIdempotencyKey("checkout-" + c.ID.String())
	params.SetStripeAccount(c.Account)
	session, err := s.client.V1CheckoutSessions.Create(ctx, params)
	if err != nil {
		return payment.Intent{}, redactError("create a checkout", err)
	}
	if !isSession(session.ID) || session.URL == "" {
		return payment.Intent{}, errors.New("create a checkout: Stripe's answer has no id or no address")
	}
	return payment.Intent{Reference: session.ID, URL: session.URL}, nil
}

// openSession returns an open Checkout Session with the URL of its page.
func (s *Stripe) openSession(ctx context.Context, account, reference string) (payment.Intent, error) {
	session, err := s.fetchSession(ctx, account, reference)
	if err != nil {
		return payment.Intent{}, err
	}
	if session.Status != sdk.CheckoutSessionStatusOpen || session.URL == "" {
		return payment.Intent{}, fmt.Errorf("read a checkout: it is %s", session.Status)
	}
	return payment.Intent{Reference: session.ID, URL: session.URL}, nil
}

// expireSession closes a Checkout Session and returns how the session ended.
// If the session has already ended, expireSession returns that outcome.
func (s *Stripe) expireSession(ctx context.Context, account, reference string) (payment.Outcome, error) {
	params := &sdk.CheckoutSessionExpireParams{}
	params.SetStripeAccount(account)
	_, err := s.client.V1CheckoutSessions.Expire(ctx, reference, params)
	if err == nil {
		return payment.Cancelled, nil
	}
	err = redactError("expire a checkout", err)
	var refusal *refusedError
	switch {
	case !errors.As(err, &refusal):
		return "", err
	case refusal.code == string(sdk.ErrorCodeResourceMissing):
		return payment.Cancelled, nil
	}
	session, readErr := s.fetchSession(ctx, account, reference)
	switch {
	case readErr != nil:
		return "", readErr
	case session.Status == sdk.CheckoutSessionStatusExpired:
		return payment.Cancelled, nil
	case session.Status == sdk.CheckoutSessionStatusComplete &&
		session.PaymentStatus == sdk.CheckoutSessionPaymentStatusPaid:
		return payment.Paid, nil
	}
	return "", fmt.Errorf("expire a checkout: it is %s and %s", session.Status, session.PaymentStatus)
}

// findIntent returns the id of a charge's PaymentIntent. Stripe needs this id for a refund.
func (s *Stripe) findIntent(ctx context.Context, account, reference string) (string, error) {
	if !isSession(reference) {
		return reference, nil
	}
	session, err := s.fetchSession(ctx, account, reference)
	if err != nil {
		return "", err
	}
	if session.PaymentIntent == nil || session.PaymentIntent.ID == "" {
		return "", errors.New("read a checkout: nothing was paid by it")
	}
	return session.PaymentIntent.ID, nil
}

func (s *Stripe) fetchSession(ctx context.Context, account, reference string) (*sdk.CheckoutSession, error) {
	params := &sdk.CheckoutSessionRetrieveParams{}
	params.SetStripeAccount(account)
	session, err := s.client.V1CheckoutSessions.Retrieve(ctx, reference, params)
	if err != nil {
		return nil, redactError("read a checkout", err)
	}
	return session, nil
}
