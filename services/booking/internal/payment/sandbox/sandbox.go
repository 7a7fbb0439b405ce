// Package sandbox is the payment provider of sandbox businesses (docs/decisions/025). It moves no money.
//
// The last two digits of an amount in minor units decide whether the charge is paid, like
// the test card numbers of other providers. The package stores nothing. It recognizes
// from the reference of a charge whether it must refuse refunds of the charge.
package sandbox

import (
	"context"
	"fmt"
	"strings"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
)

// These constants are the last two digits of the amounts that have a special outcome. The
// amounts are in minor units: the last two digits of 12.01 EUR and of 1201 JPY are 01.
const (
	declined     = 1 // every attempt to pay fails, and the charge expires
	refused      = 2 // the charge cannot be opened
	unrefundable = 3 // the charge is paid, and every refund of it is refused
)

// RefundReason is the reason that the sandbox returns if it refuses a refund.
const RefundReason = "sandbox_refund_refused"

const (
	keepsPrefix    = "sandbox_kept_" // prefix of the reference of a charge whose refunds are refused
	ordinaryPrefix = "sandbox_"
	onPage         = "_page"
)

// Sandbox is the payment provider of sandbox businesses. It is safe for concurrent use.
type Sandbox struct{ clock clock.Clock }

var _ payment.Provider = (*Sandbox)(nil)

// New returns the sandbox provider. The clock `now` gives the time of a failed attempt to pay.
func New(now clock.Clock) *Sandbox { return &Sandbox{clock: now} }

// RoundChargeable returns every amount above 0 unchanged. Errors: [payment.ErrRefused] for an amount of 0 or below.
func (s *Sandbox) RoundChargeable(amount int64, currency money.Currency) (int64, error) {
	if amount <= 0 {
		return 0, fmt.Errorf("%w: no amount of %s", payment.ErrRefused, currency.Code)
	}
	return amount, nil
}

// Create opens a charge and decides its outcome immediately. The customer has nothing to do. Therefore the result
// has neither a client secret nor the URL of a page. Errors: [payment.ErrRefused] for an amount that ends in 02.
func (s *Sandbox) Create(_ context.Context, c payment.Charge) (payment.Intent, error) {
	intent := payment.Intent{Reference: ordinaryPrefix + c.ID.String(),
		ImmediateNotice: &payment.Notice{Outcome: payment.Paid}}
	switch c.Amount % 100 {
	case declined:
		intent.ImmediateNotice = &payment.Notice{FailedAt: s.clock.Now()}
	case refused:
		return payment.Intent{}, fmt.Errorf("%w: the sandbox refuses amounts that end in 02", payment.ErrRefused)
	case unrefundable:
		intent.Reference = keepsPrefix + c.ID.String()
	}
	if c.Checkout != nil {
		intent.Reference += onPage
	}
	return intent, nil
}

// Open returns a charge without the URL of a page. A declined charge stays declined.
func (s *Sandbox) Open(_ context.Context, _, reference string) (payment.Intent, error) {
	return payment.Intent{Reference: reference}, nil
}

// Supersede always returns [payment.Cancelled], for the same reason as [Sandbox.Cancel].
func (s *Sandbox) Supersede(context.Context, string, string) (payment.Outcome, error) {
	return payment.Cancelled, nil
}

// Cancel always returns [payment.Cancelled]. A sandbox charge is paid only when booking stores the payment, and
// booking does not cancel a charge that is stored as paid. Therefore the charge is never paid when Cancel is called.
func (s *Sandbox) Cancel(context.Context, string, string) (payment.Outcome, error) {
	return payment.Cancelled, nil
}

// Refund refunds the amount immediately. The result is [payment.RefundRefused] if the amount of the charge ends in 03.
func (s *Sandbox) Refund(_ context.Context, r payment.Refund) (payment.RefundState, error) {
	if strings.HasPrefix(r.Reference, keepsPrefix) {
		return payment.RefundState{Status: payment.RefundRefused, Reason: RefundReason}, nil
	}
	return payment.RefundState{Status: payment.RefundRefunded}, nil
}
