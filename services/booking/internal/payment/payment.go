// Package payment is the port to payment providers: what booking asks of one, and how much of a booking is to be paid
// online. Adapters lie below it. A charge belongs to the provider; booking keeps its reference and what became of it.
package payment

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/money"
)

// ErrRefused says that the provider has looked at a request and refused it: nothing was created or changed, and the
// same request will be refused again. After any other error it is not known what the provider did.
var ErrRefused = errors.New("the payment provider refused the request")

// Provider takes money for businesses. Calls end when their context does, and each may be repeated: the provider knows
// a charge by its booking.
type Provider interface {
	// Chargeable returns the most that can be charged of an amount in minor units: some currencies are charged in
	// coarser steps than ISO 4217 has. Errors: [ErrRefused] where nothing can.
	Chargeable(amount int64, currency money.Currency) (int64, error)
	// Create opens a charge, or returns the one that the same charge opened before.
	Create(ctx context.Context, c Charge) (Intent, error)
	// Cancel closes a charge, so that it can no longer be paid, and says what has become of it.
	Cancel(ctx context.Context, account, reference string) (Outcome, error)
	// Refund gives back all of a charge that was paid.
	Refund(ctx context.Context, c Charge, reference string) error
	// ReadNotice reads what came to the provider's webhook. Faults: invalid_parameter for what the provider has not signed.
	ReadNotice(body []byte, header func(name string) string) (Notice, error)
}

// Charge is money that a customer owes a business for a booking.
type Charge struct {
	BusinessID uuid.UUID
	BookingID  uuid.UUID
	Account    string // the business's, with the provider
	Amount     int64  // minor units of Currency, as [Provider].Chargeable gave it
	Currency   money.Currency
}

// Intent is an open charge. ClientSecret lets the customer's browser pay it; it is for the answer to the customer alone.
type Intent struct {
	Reference    string
	ClientSecret string
}

// Outcome is how a charge ended.
type Outcome string

// The outcomes.
const (
	Paid      Outcome = "paid"
	Cancelled Outcome = "cancelled"
	Refunded  Outcome = "refunded"
)

// Due is a charge to be ended: cancelled, or refunded where Refund says so. Reference is "" where it is not known
// whether there is a charge.
type Due struct {
	Charge
	Provider  string
	Reference string
	Refund    bool
}

// Notice is what a provider tells of a charge. Outcome is "" where it says nothing of how the charge ended: an attempt to pay that
// failed leaves it open, so that the customer may try again (lifecycle.md §4).
type Notice struct {
	Account   string // the business's, with the provider
	Reference string
	Outcome   Outcome
}

// Providers are the connected ones, by the identifiers that manifests name them by.
type Providers map[string]Provider
