// Package payment is the port to payment providers: the calls that booking makes, and the amount
// of a sale to be paid online. The adapters are in the packages below it. The provider owns a
// charge; booking stores its reference and its status.
package payment

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/event"
	"github.com/slotmesh/slotmesh/libs/money"
)

// ErrRefused means that the provider has processed a request and refused it: nothing was created or changed,
// and the same request will be refused again. After any other error it is unknown what the provider did.
var ErrRefused = errors.New("the payment provider refused the request")

// Provider takes payments for businesses. A call ends when its context does. Every call is
// idempotent: the provider identifies a charge by its subject.
type Provider interface {
	// Chargeable returns the largest amount up to the given one, in minor units, that the provider can charge. Some
	// currencies are charged in coarser steps than those of ISO 4217. Errors: [ErrRefused] if it can charge none.
	Chargeable(amount int64, currency money.Currency) (int64, error)
	// Create opens a charge. If the same charge is already open, Create returns it. Charges of one
	// subject with and without a Checkout are different charges.
	Create(ctx context.Context, c Charge) (Intent, error)
	// Open returns an open charge again, so that the customer can try again to pay it.
	Open(ctx context.Context, account, reference string) (Intent, error)
	// Supersede cancels a charge that another one replaces. The cancellation causes no [Notice].
	Supersede(ctx context.Context, account, reference string) (Outcome, error)
	// Cancel closes a charge, so that it can no longer be paid, and returns how it ended.
	Cancel(ctx context.Context, account, reference string) (Outcome, error)
	// Refund refunds a part of a paid charge and returns the refund's state. Repeated calls with the
	// same number make one refund. After an error the state is unknown.
	Refund(ctx context.Context, r Refund) (RefundState, error)
}

// Notifier is a [Provider] that reports changes of charges by a webhook.
type Notifier interface {
	// ReadNotice reads the body of a request to the provider's webhook. Fault: invalid_parameter if
	// the provider has not signed it.
	ReadNotice(body []byte, header func(name string) string) (Notice, error)
}

// Looker is a [Provider] that can return the refunds that were made at the provider, not through Slotmesh.
type Looker interface {
	// Look returns the subject of a charge, and how much of it was refunded at the provider, not
	// through Slotmesh. Errors: [ErrRefused] if the charge does not exist.
	Look(ctx context.Context, account, reference string) (Elsewhere, error)
}

// Elsewhere is what was done with a payment at the provider, not through Slotmesh.
type Elsewhere struct {
	Subject  Subject // from the charge's metadata, see [Notice]
	Refunded int64   // the total in minor units of its currency, pending refunds included
}

// Dispute is a customer's dispute of a payment, by which their bank takes the money back.
type Dispute struct {
	Status DisputeStatus
	Reason string // the provider's, such as fraudulent
}

// DisputeStatus is the status of a dispute.
type DisputeStatus string

// The statuses of a dispute. While a dispute is open, and after it is lost, the payment cannot be refunded.
const (
	DisputeOpen DisputeStatus = "open"
	DisputeWon  DisputeStatus = "won"
	DisputeLost DisputeStatus = "lost"
)

// Sandbox is the name of the provider of sandbox businesses, and of their account with it.
const Sandbox = "sandbox"

// Subject identifies what a charge is for: a booking, an order of tickets or a reservation. Ids
// are unique across kinds.
type Subject struct {
	BusinessID uuid.UUID
	Kind       event.SubjectKind
	ID         uuid.UUID
}

// Charge is an amount that a customer is to pay to a business for a subject.
type Charge struct {
	Subject
	Account  string // the business's account with the provider
	Amount   int64  // minor units of Currency, as returned by [Provider].Chargeable
	Currency money.Currency
	Checkout *Checkout // nil: the customer pays on the page of the client that booked
}

// Checkout is the provider's own page, on which the customer pays.
type Checkout struct {
	Name       string // of the sale, as the page shows it to the customer
	SuccessURL string // the page to return to after the payment
	CancelURL  string // the page to return to without a payment
	// ExpiresAt is when the provider closes the page, unless it was closed before.
	ExpiresAt time.Time
}

// Intent is an open charge. ClientSecret and URL are for the answer to the customer only. The
// customer's browser pays with the ClientSecret, or, if the charge has a Checkout, on the provider's
// page at URL. If Decided is set, the provider has already decided the charge, and the customer has
// nothing to do. The caller must act on Decided as on a notice once the charge is open.
type Intent struct {
	Reference    string
	ClientSecret string
	URL          string
	Decided      *Notice // nil: the provider sends a notice later
}

// Outcome is how a charge ended.
type Outcome string

// The outcomes.
const (
	Paid      Outcome = "paid"
	Cancelled Outcome = "cancelled"
)

// Refund is a part of a charge to be refunded. The refunds of a charge are numbered from 1. A
// repeated request with the same Number is the same refund; a new Number is another attempt.
type Refund struct {
	Charge           // Amount is the refund's, as returned by [Provider].Chargeable
	Reference string // of the charge
	Number    int
}

// RefundState is the state of a refund. If the provider refused it, Reason is the provider's
// reason, such as charge_disputed.
type RefundState struct {
	Status RefundStatus
	Reason string
}

// RefundStatus is the status of a refund.
type RefundStatus string

// The statuses of a refund. A provider may refuse a refund after it reported it as refunded, for
// example because the customer's bank returns the money. RefundRefused is final.
const (
	RefundPending  RefundStatus = "pending"
	RefundRefunded RefundStatus = "refunded"
	RefundRefused  RefundStatus = "refused"
)

// Due is a charge that waits for a call to its provider. If RefundNumber is above 0, the call refunds RefundAmount;
// otherwise it cancels the charge. Reference is "" if it is unknown whether the provider has the charge.
type Due struct {
	Charge
	Provider     string
	Reference    string
	RefundNumber int
	RefundAmount int64
	OnCheckout   bool // paid on the provider's own page
}

// Refund returns the refund that the charge waits for.
func (d Due) Refund() Refund {
	r := Refund{Charge: d.Charge, Reference: d.Reference, Number: d.RefundNumber}
	r.Amount = d.RefundAmount
	return r
}

// Notice is a provider's report about a charge. At most one of Outcome, FailedAt, Refund, Changed
// and Dispute is set; if none is, the notice is ignored.
type Notice struct {
	Account   string // the business's account with the provider
	Reference string
	Outcome   Outcome
	// Subject is the subject in the charge's metadata. A charge with a Checkout is stored under the
	// reference of the page, but notices of failed attempts and refunds have another reference. The
	// owner of the account could have written the metadata, so Subject is no proof.
	Subject Subject
	// FailedAt is when an attempt to pay failed, by the provider's clock. The customer may try again (lifecycle.md §4).
	FailedAt time.Time
	Refund   *RefundNotice
	Changed  bool     // a refund was made at the provider, or such a refund failed; [Looker] returns the sum
	Dispute  *Dispute // the state of a dispute
}

// RefundNotice is the state of one refund of a charge.
type RefundNotice struct {
	Number int
	RefundState
}

// Providers are the connected providers by their identifiers in manifests.
type Providers map[string]Provider

// Step returns the step, in minor units, of which a provider charges multiples in this currency.
// It returns 1 if the provider is not connected.
func (p Providers) Step(name string, currency money.Currency) int64 {
	const coarsest = 1000
	if provider, connected := p[name]; connected {
		for step := int64(1); step <= coarsest; step *= 10 {
			if payable, err := provider.Chargeable(step, currency); err == nil && payable == step {
				return step
			}
		}
	}
	return 1
}
