// Package sandbox is the payment provider of sandbox businesses (docs/decisions/025): it moves no money, and decides by the last two digits of an
// amount in minor units, as the numbers of test cards do elsewhere. It keeps nothing: what it decided stands in the charge's reference.
package sandbox

import (
	"context"
	"fmt"
	"strings"

	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/money"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
)

// What becomes of a charge, by the last two digits of its amount in minor units: those of 12.01 EUR and of 1201 JPY are 01.
const (
	declined     = 1 // the customer's attempt to pay fails, and so does each further one; the charge expires
	refused      = 2 // the charge cannot be opened at all
	unrefundable = 3 // it is paid, and no refund of it succeeds
)

// RefundReason is why a refund is refused.
const RefundReason = "sandbox_refund_refused"

const (
	keepsPrefix    = "sandbox_kept_" // of a charge that is not refunded
	ordinaryPrefix = "sandbox_"
	onPage         = "_page"
)

// Sandbox decides on charges. It is safe for many goroutines.
type Sandbox struct{ clock clock.Clock }

var _ payment.Provider = (*Sandbox)(nil)

// New returns the provider; attempts fail at the time of now.
func New(now clock.Clock) *Sandbox { return &Sandbox{clock: now} }

// Chargeable takes every amount above 0 as it is.
func (s *Sandbox) Chargeable(amount int64, currency money.Currency) (int64, error) {
	if amount <= 0 {
		return 0, fmt.Errorf("%w: no amount of %s", payment.ErrRefused, currency.Code)
	}
	return amount, nil
}

// Create decides on a charge. There is nothing to do for the customer, and so neither a client secret nor a page.
func (s *Sandbox) Create(_ context.Context, c payment.Charge) (payment.Intent, error) {
	made := payment.Intent{Reference: ordinaryPrefix + c.ID.String(), Decided: &payment.Notice{Outcome: payment.Paid}}
	switch c.Amount % 100 {
	case declined:
		made.Decided = &payment.Notice{FailedAt: s.clock.Now()}
	case refused:
		return payment.Intent{}, fmt.Errorf("%w: the sandbox refuses amounts that end in 02", payment.ErrRefused)
	case unrefundable:
		made.Reference = keepsPrefix + c.ID.String()
	}
	if c.Checkout != nil {
		made.Reference += onPage
	}
	return made, nil
}

// Open has nothing to show: who was declined is declined again.
func (s *Sandbox) Open(_ context.Context, _, reference string) (payment.Intent, error) {
	return payment.Intent{Reference: reference}, nil
}

// Supersede gives way to any charge.
func (s *Sandbox) Supersede(context.Context, string, string) (payment.Outcome, error) {
	return payment.Cancelled, nil
}

// Cancel closes a charge: one whose payment is not noted was not paid.
func (s *Sandbox) Cancel(context.Context, string, string) (payment.Outcome, error) {
	return payment.Cancelled, nil
}

// Refund refunds at once, or never.
func (s *Sandbox) Refund(_ context.Context, r payment.Refund) (payment.RefundState, error) {
	if strings.HasPrefix(r.Reference, keepsPrefix) {
		return payment.RefundState{Status: payment.RefundRefused, Reason: RefundReason}, nil
	}
	return payment.RefundState{Status: payment.RefundRefunded}, nil
}
