// Package payment is the port to payment providers: the calls that booking makes, and
// the amount of a sale to be paid online. The adapters are in the packages below it.
// The provider stores each charge; booking stores the charge's reference and status.
package payment

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/values/money"
)

// ErrRefused means that the provider has refused a request. The provider has created or changed nothing, and
// would refuse the same request again. After any other error, the provider may have processed the request.
var ErrRefused = errors.New("the payment provider refused the request")

// Provider takes payments for businesses. A call ends when its context ends.
// Every call is idempotent: the provider identifies a charge by its subject.
type Provider interface {
	// Chargeable returns the largest amount up to the given amount that the provider can charge,
	// in minor units. It may be smaller, because providers charge some currencies only in
	// multiples of several minor units. Errors: [ErrRefused] if the provider can charge no amount.
	Chargeable(amount int64, currency money.Currency) (int64, error)
	// Create opens a charge. If the charge is already open, Create returns it. For
	// the same subject, a charge with a Checkout and one without are two charges.
	Create(ctx context.Context, c Charge) (Intent, error)
	// Open returns an open charge again, so that the customer can try again to pay it.
	Open(ctx context.Context, account, reference string) (Intent, error)
	// Supersede cancels a charge that another one replaces. The cancellation causes no [Notice].
	Supersede(ctx context.Context, account, reference string) (Outcome, error)
	// Cancel closes a charge, so that it can no longer be paid, and returns how it ended.
	Cancel(ctx context.Context, account, reference string) (Outcome, error)
	// Refund refunds a part of a paid charge and returns the state of the refund. Calls with
	// the same number make one refund. After an error, the state of the refund is unknown.
	Refund(ctx context.Context, r Refund) (RefundState, error)
}

// Notifier is a [Provider] that reports changes of charges by a webhook.
type Notifier interface {
	// ReadNotice reads the body of a request to the provider's webhook. Fault: invalid_parameter if
	// the provider has not signed it.
	ReadNotice(body []byte, header func(name string) string) (Notice, error)
}

// Looker is a [Provider] that can report the refunds that a business
// made in the provider's own interface, not through Slotmesh.
type Looker interface {
	// Look returns the subject of a charge, and the sum of the refunds that were made in
	// the provider's own interface. Errors: [ErrRefused] if the charge does not exist.
	Look(ctx context.Context, account, reference string) (Elsewhere, error)
}

// Elsewhere describes a payment for which the business made
// refunds in the provider's own interface, not through Slotmesh.
type Elsewhere struct {
	Subject  Subject // from the charge's metadata, see [Notice]
	Refunded int64   // the total in minor units of its currency, pending refunds included
}

// Dispute is a customer's dispute of a payment. In a dispute,
// the customer's bank takes the money back from the business.
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

// Subject identifies the booking, order of tickets or reservation
// that a charge is for. Ids are unique across these kinds.
type Subject struct {
	BusinessID uuid.UUID
	Kind       event.SubjectKind
	ID         uuid.UUID
}

// Charge is an amount that a customer must pay to a business, for a booking, an order of tickets or a reservation.
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

// Intent is an open charge. The customer's browser pays with ClientSecret. If the charge has a Checkout,
// the customer pays on the provider's page at URL instead. Both are for the answer to the customer only.
//
// Decided is set if the provider has already decided the charge, so that the customer has nothing to
// do. When the charge is stored as open, the caller must handle Decided like a notice of the provider.
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

// Refund is a refund of a part of a charge. The refunds of a charge are numbered from 1. A
// request with the same Number is a retry of the same refund; a new Number is another refund.
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

// The statuses of a refund. A provider may refuse a refund after it reported the refund as
// refunded, for example because the customer's bank returns the money. RefundRefused is final.
const (
	RefundPending  RefundStatus = "pending"
	RefundRefunded RefundStatus = "refunded"
	RefundRefused  RefundStatus = "refused"
)

// Due is a charge for which a call to its provider is due. If RefundNumber is above 0, the call refunds RefundAmount;
// otherwise the call cancels the charge. If Reference is "", it is unknown whether the provider has the charge.
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

// Notice is a provider's report about a charge. At most one of Outcome, FailedAt,
// Refund, Changed and Dispute is set. If none is set, the notice is ignored.
type Notice struct {
	Account   string // the business's account with the provider
	Reference string
	Outcome   Outcome
	// Subject is the subject in the charge's metadata at the provider. It identifies
	// the charge if Reference does not: a charge with a Checkout is stored under the
	// page's reference. Notices of failed attempts and refunds have another reference.
	//
	// Subject is not trustworthy, because the owner of the provider's account can write the metadata.
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

// Providers contains the connected providers, by the names that manifests use for them.
type Providers map[string]Provider

// Step returns the step of a provider's charges in this currency: every charge must be a
// multiple of it. The step is in minor units. It is 1 if the provider is not connected.
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
