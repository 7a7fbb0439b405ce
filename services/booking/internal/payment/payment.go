// Package payment is the port to payment providers: what booking asks of one, and how much of what is sold is to be paid
// online. Adapters lie below it. A charge belongs to the provider; booking keeps its reference and what became of it.
package payment

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/event"
	"github.com/slotmesh/slotmesh/libs/money"
)

// ErrRefused says that the provider has looked at a request and refused it: nothing was created or changed, and the
// same request will be refused again. After any other error it is not known what the provider did.
var ErrRefused = errors.New("the payment provider refused the request")

// Provider takes money for businesses. Calls end when their context does, and each may be repeated: the provider knows
// a charge by its subject.
type Provider interface {
	// Chargeable returns the most that can be charged of an amount in minor units: some currencies are charged in
	// coarser steps than ISO 4217 has. Errors: [ErrRefused] where nothing can.
	Chargeable(amount int64, currency money.Currency) (int64, error)
	// Create opens a charge, or returns the one that the same charge opened before; one with a Checkout apart from one without.
	Create(ctx context.Context, c Charge) (Intent, error)
	// Open returns an open charge once more, so that the customer can try again to pay it.
	Open(ctx context.Context, account, reference string) (Intent, error)
	// Supersede is Cancel for a charge in whose place another one comes: the provider tells nobody that it was cancelled.
	Supersede(ctx context.Context, account, reference string) (Outcome, error)
	// Cancel closes a charge, so that it can no longer be paid, and says what has become of it.
	Cancel(ctx context.Context, account, reference string) (Outcome, error)
	// Refund gives back a part of a charge that was paid, once however often it is asked for, and says how far that is. Any error
	// means that it is not known.
	Refund(ctx context.Context, r Refund) (RefundState, error)
}

// Notifier is a [Provider] that tells by a webhook what becomes of charges.
type Notifier interface {
	// ReadNotice reads what came to the provider's webhook. Faults: invalid_parameter for what the provider has not signed.
	ReadNotice(body []byte, header func(name string) string) (Notice, error)
}

// Looker is a [Provider] that can be asked what was done with a payment there, and not here.
type Looker interface {
	// Look says what a charge is of, and how much of it was given back there. Errors: [ErrRefused] where there is no such charge.
	Look(ctx context.Context, account, reference string) (Elsewhere, error)
}

// Elsewhere is what was done with a payment at the provider, and not here.
type Elsewhere struct {
	Subject  Subject // what the charge says it is of, as of [Notice]
	Refunded int64   // in all, in minor units of its currency, also what is on its way
}

// Dispute is how far a customer's dispute of a payment is, by which their bank takes the money back.
type Dispute struct {
	Status DisputeStatus
	Reason string // the provider's, such as fraudulent
}

// DisputeStatus is how far a dispute is.
type DisputeStatus string

// The statuses of a dispute. While it is open, and once it is lost, nothing of the payment can be refunded.
const (
	DisputeOpen DisputeStatus = "open"
	DisputeWon  DisputeStatus = "won"
	DisputeLost DisputeStatus = "lost"
)

// Sandbox is the name of the provider of sandbox businesses, and of their account with it.
const Sandbox = "sandbox"

// Subject is what a charge is of: a booking, an order of tickets, or a reservation. Ids of different kinds differ, too.
type Subject struct {
	BusinessID uuid.UUID
	Kind       event.SubjectKind
	ID         uuid.UUID
}

// Charge is money that a customer owes a business for what they take.
type Charge struct {
	Subject
	Account  string // the business's, with the provider
	Amount   int64  // minor units of Currency, as [Provider].Chargeable gave it
	Currency money.Currency
	Checkout *Checkout // nil: the customer pays on a page of who booked
}

// Checkout is the provider's own page, on which the customer pays.
type Checkout struct {
	Name       string // of what is paid, as the customer reads it there
	SuccessURL string // where the customer goes who has paid
	CancelURL  string // where the customer goes who gives up
	// ExpiresAt is when the provider closes the page, should nobody do so before.
	ExpiresAt time.Time
}

// Intent is an open charge. What it is paid by is for the answer to the customer alone: ClientSecret, by which the customer's browser
// pays it, or, of one with a Checkout, URL, the provider's page. Nothing is for the customer to do where the provider has decided already what
// becomes of it, which is then to be noted as its notice once the charge is open.
type Intent struct {
	Reference    string
	ClientSecret string
	URL          string
	Decided      *Notice // nil: the provider tells later
}

// Outcome is how a charge ended.
type Outcome string

// The outcomes.
const (
	Paid      Outcome = "paid"
	Cancelled Outcome = "cancelled"
)

// Refund is a part of a charge that is to be given back. A charge's refunds are counted from 1: the same Number is the same refund,
// also when it is asked for again, and a new one is another try.
type Refund struct {
	Charge           // Amount is what is given back, as [Provider].Chargeable gave it
	Reference string // of the charge
	Number    int
}

// RefundState is how far a refund is, and the provider's reason where it was refused, such as charge_disputed.
type RefundState struct {
	Status RefundStatus
	Reason string
}

// RefundStatus is how far a refund is.
type RefundStatus string

// The statuses of a refund. A provider may refuse later what it reported as refunded, as when the customer's bank sends the money
// back; RefundRefused is final.
const (
	RefundPending  RefundStatus = "pending"
	RefundRefunded RefundStatus = "refunded"
	RefundRefused  RefundStatus = "refused"
)

// Due is a charge that waits for its provider: to be cancelled, or, where RefundNumber is above 0, for that refund of RefundAmount.
// Reference is "" where it is not known whether there is a charge.
type Due struct {
	Charge
	Provider     string
	Reference    string
	RefundNumber int
	RefundAmount int64
	OnCheckout   bool // paid on the provider's own page
}

// Refund is the refund that the charge waits for.
func (d Due) Refund() Refund {
	r := Refund{Charge: d.Charge, Reference: d.Reference, Number: d.RefundNumber}
	r.Amount = d.RefundAmount
	return r
}

// Notice is what a provider tells of a charge: exactly one of Outcome, FailedAt, Refund, Changed and Dispute is set; none where it is of no
// use here.
type Notice struct {
	Account   string // the business's, with the provider
	Reference string
	Outcome   Outcome
	// Subject is what the charge says it is of: a charge with a Checkout is known by the reference of the page, and the provider tells of
	// failed attempts and refunds by another. Whoever has the account could have written it; it is no proof.
	Subject Subject
	// FailedAt is when an attempt to pay failed, by the provider's clock. The customer may try again (lifecycle.md §4).
	FailedAt time.Time
	Refund   *RefundNotice
	Changed  bool     // something was given back that was not refunded here, or such a refund has failed; [Looker] says how much
	Dispute  *Dispute // how far a dispute is
}

// RefundNotice is how far one refund of a charge is.
type RefundNotice struct {
	Number int
	RefundState
}

// Providers are the connected ones, by the identifiers that manifests name them by.
type Providers map[string]Provider

// Step is what a provider pays this currency in multiples of, in minor units; 1 where it is not connected.
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
