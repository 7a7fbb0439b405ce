// Package stripe is the adapter to the payment provider Stripe. A charge is a PaymentIntent or a Checkout Session on
// the business's connected Stripe account. The package calls Stripe with the secret key of Slotmesh's own account.
// The idempotency key of a charge contains the id of its subject. The package sends no data about the customer.
package stripe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	sdk "github.com/stripe/stripe-go/v86"

	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
)

// Name is the name of the provider Stripe in manifests.
const Name = "stripe"

// Stripe calls Stripe's API. It is safe for concurrent use.
type Stripe struct {
	client        *sdk.Client
	webhookSecret string
}

var (
	_ payment.Provider = (*Stripe)(nil)
	_ payment.Notifier = (*Stripe)(nil)
)

// New returns an adapter that calls Stripe with `secretKey`, the secret key of Slotmesh's own
// Stripe account. The adapter accepts webhook requests that are signed with `webhookSecret`.
// The argument `base` is the URL of Stripe's API, such as https://api.stripe.com.
//
// Logging by Stripe's SDK is off, because the SDK's log lines contain the data of
// the requests. Retries by the SDK are off, because the caller's deadline is short.
// If the result of a call is unknown, the reconciliation calls Stripe again later.
func New(secretKey, webhookSecret, base string, transport http.RoundTripper) *Stripe {
	backends := sdk.NewBackendsWithConfig(&sdk.BackendConfig{
		URL:               sdk.String(base),
		HTTPClient:        &http.Client{Transport: transport},
		MaxNetworkRetries: sdk.Int64(0),
		EnableTelemetry:   sdk.Bool(false),
		LeveledLogger:     &sdk.LeveledLogger{Level: sdk.LevelNull},
	})
	return &Stripe{client: sdk.NewClient(secretKey, sdk.WithBackends(backends)), webhookSecret: webhookSecret}
}

// RoundChargeable rounds an amount down to an amount that Stripe can charge in the currency. Errors:
// [payment.ErrRefused] if the rounded amount is 0, or if Stripe does not support the currency.
func (s *Stripe) RoundChargeable(due int64, currency money.Currency) (int64, error) {
	n, err := toStripeAmount(due, currency)
	if err != nil {
		return 0, err
	}
	if n <= 0 {
		return 0, fmt.Errorf("%w: less than the smallest amount of %s", payment.ErrRefused, currency.Code)
	}
	return toMinorUnits(n, currency)
}

// Create opens a PaymentIntent, or a Checkout Session if the charge has a Checkout.
func (s *Stripe) Create(ctx context.Context, c payment.Charge) (payment.Intent, error) {
	if c.Checkout != nil {
		return s.createSession(ctx, c)
	}
	n, err := toStripeAmount(c.Amount, c.Currency)
	if err != nil {
		return payment.Intent{}, err
	}
	params := &sdk.PaymentIntentCreateParams{
		Amount:                  sdk.Int64(n),
		Currency:                sdk.String(strings.ToLower(c.Currency.Code)),
		AutomaticPaymentMethods: &sdk.PaymentIntentCreateAutomaticPaymentMethodsParams{Enabled: sdk.Bool(true)},
		Metadata:                newMetadata(c),
	}
	params.SetIdempotencyKey(c.ID.String())
	params.SetStripeAccount(c.Account)
	intent, err := s.client.V1PaymentIntents.Create(ctx, params)
	if err != nil {
		return payment.Intent{}, redactError("create a charge", err)
	}
	if intent.ID == "" || intent.ClientSecret == "" {
		return payment.Intent{}, errors.New("create a charge: Stripe's answer has no id or no client secret")
	}
	return payment.Intent{Reference: intent.ID, ClientSecret: intent.ClientSecret}, nil
}

// These constants are the metadata keys of a charge. Under the key businessKey, the
// metadata contain the id of the business. The id of the subject is under a key that
// consists of subjectKey and the kind of the subject, for example slotmesh_booking.
const (
	businessKey = "slotmesh_business"
	subjectKey  = "slotmesh_"
)

func newMetadata(c payment.Charge) map[string]string {
	return map[string]string{businessKey: c.BusinessID.String(), subjectKey + string(c.Kind): c.ID.String()}
}

// Open returns a PaymentIntent with its client secret, or a Checkout Session with the URL of its page.
func (s *Stripe) Open(ctx context.Context, account, reference string) (payment.Intent, error) {
	if isSession(reference) {
		return s.openSession(ctx, account, reference)
	}
	params := &sdk.PaymentIntentRetrieveParams{}
	params.SetStripeAccount(account)
	intent, err := s.client.V1PaymentIntents.Retrieve(ctx, reference, params)
	if err != nil {
		return payment.Intent{}, redactError("read a charge", err)
	}
	if intent.ClientSecret == "" {
		return payment.Intent{}, errors.New("read a charge: Stripe's answer has no client secret")
	}
	return payment.Intent{Reference: intent.ID, ClientSecret: intent.ClientSecret}, nil
}

// Cancel closes a PaymentIntent or a Checkout Session and returns how the
// charge ended. If the charge has already ended, Cancel returns that outcome.
func (s *Stripe) Cancel(ctx context.Context, account, reference string) (payment.Outcome, error) {
	if isSession(reference) {
		return s.expireSession(ctx, account, reference)
	}
	return s.cancelIntent(ctx, account, reference, nil)
}

// superseded is the cancellation reason of a PaymentIntent that another charge
// has replaced. [Stripe.ReadNotice] ignores cancellations with this reason.
const superseded = sdk.PaymentIntentCancellationReasonDuplicate

// Supersede closes a PaymentIntent because a Checkout Session replaces it.
func (s *Stripe) Supersede(ctx context.Context, account, reference string) (payment.Outcome, error) {
	return s.cancelIntent(ctx, account, reference, sdk.String(string(superseded)))
}

func (s *Stripe) cancelIntent(ctx context.Context, account, reference string, reason *string) (payment.Outcome, error) {
	params := &sdk.PaymentIntentCancelParams{CancellationReason: reason}
	params.SetStripeAccount(account)
	_, err := s.client.V1PaymentIntents.Cancel(ctx, reference, params)
	var refusal *sdk.Error
	switch {
	case err == nil:
		return payment.Cancelled, nil
	case errors.As(err, &refusal) && refusal.Code == sdk.ErrorCodeResourceMissing:
		return payment.Cancelled, nil
	case errors.As(err, &refusal) && refusal.Code == sdk.ErrorCodePaymentIntentUnexpectedState:
		return s.findOutcome(ctx, account, reference)
	}
	return "", redactError("cancel a charge", err)
}

// findOutcome returns how a PaymentIntent has ended. It is called after Stripe has refused to
// cancel the PaymentIntent. If the PaymentIntent has not ended, the result is an error.
func (s *Stripe) findOutcome(ctx context.Context, account, reference string) (payment.Outcome, error) {
	params := &sdk.PaymentIntentRetrieveParams{}
	params.SetStripeAccount(account)
	intent, err := s.client.V1PaymentIntents.Retrieve(ctx, reference, params)
	if err != nil {
		return "", redactError("read a charge", err)
	}
	switch intent.Status {
	case sdk.PaymentIntentStatusSucceeded:
		return payment.Paid, nil
	case sdk.PaymentIntentStatusCanceled:
		return payment.Cancelled, nil
	}
	return "", fmt.Errorf("cancel a charge: it is %s", intent.Status)
}

// redactError returns an error that may be logged. The error leaves out Stripe's message, because
// the message can contain data of the request. The argument `what` names the failed operation.
//
// The error is [payment.ErrRefused] only if Stripe rejects the request itself, with
// status 400, 402 or 404. In all other cases the charge may exist. Examples are a
// conflict, a rate limit, a rejected key or account, or a reused idempotency key.
func redactError(what string, err error) error {
	var refusal *sdk.Error
	if !errors.As(err, &refusal) {
		return fmt.Errorf("%s: %w", what, err)
	}
	reason := fmt.Errorf("%s: Stripe answered %d %s %s (request %s)", what, refusal.HTTPStatusCode, refusal.Type,
		refusal.Code, refusal.RequestID)
	if refusal.Type == sdk.ErrorTypeIdempotency {
		return reason
	}
	switch refusal.HTTPStatusCode {
	case http.StatusBadRequest, http.StatusPaymentRequired, http.StatusNotFound:
		return &refusedError{error: reason, code: cmp.Or(string(refusal.Code), string(refusal.Type))}
	}
	return reason
}

// refusedError is a final refusal by Stripe. The field `code` is Stripe's error code.
type refusedError struct {
	error
	code string
}

func (*refusedError) Is(target error) bool { return target == payment.ErrRefused }
