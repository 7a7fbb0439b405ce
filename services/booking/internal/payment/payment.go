// Package payment is the port to payment providers. It defines the calls that booking makes to a
// provider, and computes the amount that must be paid online. The adapters are in the packages below
// this one. The provider stores each charge; booking stores the reference and the status of the charge.
package payment

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/values/money"
)

// ErrRefused means that the provider has refused a request. The provider has then created or changed nothing, and
// would refuse the same request again. If a call returns another error, the provider may have processed the request.
var ErrRefused = errors.New("the payment provider refused the request")

// Provider takes payments for businesses. A call ends when its context ends. Every
// call is idempotent, because the provider identifies a charge by its [Subject].
type Provider interface {
	// RoundChargeable rounds the given amount down to an amount that the provider can charge. Amounts are in minor
	// units. The result may be smaller than the given amount, because providers charge some currencies only in
	// multiples of several minor units. Errors: [ErrRefused] if the provider cannot charge even the smallest amount.
	RoundChargeable(amount int64, currency money.Currency) (int64, error)
	// Create opens a charge and returns it. If the charge is already open, Create returns
	// the open charge. A subject can have two charges: one with a Checkout and one without.
	Create(ctx context.Context, c Charge) (Intent, error)
	// Open returns a charge that is already open, so that the customer can try again to pay.
	Open(ctx context.Context, account, reference string) (Intent, error)
	// Supersede cancels a charge because another charge replaces
	// it. The provider sends no [Notice] about this cancellation.
	Supersede(ctx context.Context, account, reference string) (Outcome, error)
	// Cancel closes a charge, so that the customer can no longer pay it. It returns how the charge ended.
	Cancel(ctx context.Context, account, reference string) (Outcome, error)
	// Refund refunds a part of a paid charge and returns the state of the refund. Several calls with the
	// same refund number make one refund. If Refund returns an error, the state of the refund is unknown.
	Refund(ctx context.Context, r Refund) (RefundState, error)
}

// Notifier is a [Provider] that reports changes of charges by a webhook.
type Notifier interface {
	// ReadNotice checks the signature of a request to the provider's webhook and parses the body. The argument `header`
	// returns the value of a request header. Fault: invalid_parameter if the signature of the provider is not valid.
	ReadNotice(body []byte, header func(name string) string) (Notice, error)
}

// RefundReader is a [Provider] that can report refunds outside Slotmesh. A refund
// outside Slotmesh is one that a business made in the provider's own interface.
type RefundReader interface {
	// ReadExternalRefunds returns the booking, order of tickets or reservation that a charge is for, and the sum of
	// the refunds that were made outside Slotmesh. Errors: [ErrRefused] if the charge does not exist.
	ReadExternalRefunds(ctx context.Context, account, reference string) (ExternalRefunds, error)
}

// ExternalRefunds describes the refunds of one charge that the business
// made in the provider's own interface, not through Slotmesh.
type ExternalRefunds struct {
	Subject Subject // the subject in the charge's metadata, see [Notice]
	Sum     int64   // the sum of these refunds in minor units of the charge's currency, including pending refunds
}

// Dispute is a customer's dispute of a payment: the customer's bank demands the money back from the business.
type Dispute struct {
	Status DisputeStatus
	Reason string // the provider's reason, such as fraudulent
}

// DisputeStatus is the status of a dispute.
type DisputeStatus string

// The statuses of a dispute. A payment cannot be refunded while
// a dispute is open, or after the business has lost the dispute.
const (
	DisputeOpen DisputeStatus = "open"
	DisputeWon  DisputeStatus = "won"
	DisputeLost DisputeStatus = "lost"
)

// Sandbox is the name of the payment provider of sandbox businesses. It
// is also the name of each sandbox business's account with this provider.
const Sandbox = "sandbox"

// Subject identifies the booking, the order of tickets or the reservation
// that a charge is for. Ids are unique across the three kinds.
type Subject struct {
	BusinessID uuid.UUID
	Kind       event.SubjectKind
	ID         uuid.UUID
}

// Charge is an amount that a customer must pay to a business, for a booking, an order of tickets or a reservation.
type Charge struct {
	Subject
	Account  string // the business's account with the provider
	Amount   int64  // minor units of Currency, as returned by [Provider].RoundChargeable
	Currency money.Currency
	Checkout *Checkout // the provider's page; nil: the customer pays on the page of the client that booked
}

// Checkout describes the provider's own page on which a customer pays.
type Checkout struct {
	Name       string // the name of the booking, order or reservation that the page shows to the customer
	SuccessURL string // the URL to which the provider sends the customer after the payment
	CancelURL  string // the URL to which the provider sends a customer who does not pay
	// ExpiresAt is the time at which the provider closes the page, if the charge is still open at this time.
	ExpiresAt time.Time
}

// Intent is an open charge. The customer's browser needs ClientSecret to pay the charge. If the charge has a Checkout,
// the customer pays on the provider's page at URL instead. Only the customer may receive ClientSecret and URL.
//
// ImmediateNotice is set if the provider has already decided the outcome, so that
// the customer has nothing to do. The caller must first store the charge as open.
// Then the caller must process ImmediateNotice like a notice of the provider.
type Intent struct {
	Reference       string
	ClientSecret    string
	URL             string
	ImmediateNotice *Notice // nil: the provider sends a notice about the outcome later
}

// Outcome is the result of a closed charge.
type Outcome string

// The outcomes of a charge.
const (
	Paid      Outcome = "paid"
	Cancelled Outcome = "cancelled"
)

// Refund is a refund of a part of a charge. The refunds of a charge are numbered from 1. A request
// with the Number of an earlier request is a retry of the same refund; a new Number is another refund.
type Refund struct {
	Charge           // Charge.Amount is the amount of the refund, as returned by [Provider].RoundChargeable
	Reference string // the reference of the charge
	Number    int
}

// RefundState is the state of a refund. If the provider has refused the
// refund, Reason is the provider's reason, such as charge_disputed.
type RefundState struct {
	Status RefundStatus
	Reason string
}

// RefundStatus is the status of a refund.
type RefundStatus string

// The statuses of a refund. A provider may first report RefundRefunded and later
// RefundRefused, for example if the customer's bank returns the money. RefundRefused is final.
const (
	RefundPending  RefundStatus = "pending"
	RefundRefunded RefundStatus = "refunded"
	RefundRefused  RefundStatus = "refused"
)

// Due is a charge for which booking must call the provider. If RefundNumber is above 0,
// the call refunds RefundAmount in minor units; otherwise the call cancels the charge.
// If Reference is "", booking does not know whether the provider has created the charge.
type Due struct {
	Charge
	Provider     string
	Reference    string
	RefundNumber int
	RefundAmount int64
	OnCheckout   bool // true: the customer pays on the provider's own page
}

// Refund returns the refund that booking must request from the provider.
// The result is valid only if RefundNumber is above 0.
func (d Due) Refund() Refund {
	r := Refund{Charge: d.Charge, Reference: d.Reference, Number: d.RefundNumber}
	r.Amount = d.RefundAmount
	return r
}

// Notice is a provider's report about a charge. At most one of the fields Outcome, FailedAt,
// Refund, HasChangedRefunds and Dispute is set. If none of them is set, booking ignores the notice.
type Notice struct {
	Account   string // the business's account with the provider
	Reference string
	Outcome   Outcome
	// Subject is the subject in the charge's metadata at the provider. Booking finds the charge by Subject
	// if Reference does not identify the charge. For example, booking stores a charge with a Checkout under
	// the reference of the page, but notices of failed attempts and refunds contain another reference.
	//
	// The owner of the provider's account can change the metadata. Therefore booking
	// must check that the subject has a charge with this provider and account.
	Subject Subject
	// FailedAt is the time of a failed attempt to pay, according to the
	// provider's clock. The customer may try again (lifecycle.md §4).
	FailedAt          time.Time
	Refund            *RefundNotice
	HasChangedRefunds bool     // the sum of refunds outside Slotmesh may have changed; [RefundReader] returns the sum
	Dispute           *Dispute // the state of a dispute
}

// RefundNotice is the state of one refund of a charge.
type RefundNotice struct {
	Number int
	RefundState
}

// Providers contains the connected providers. The keys are the names of the providers in manifests.
type Providers map[string]Provider

// Step returns the smallest amount that the provider can charge in the currency, in minor units.
// Every charge is a multiple of the step. The step is 1 if the provider is not connected.
func (p Providers) Step(name string, currency money.Currency) int64 {
	const coarsest = 1000
	if provider, connected := p[name]; connected {
		for step := int64(1); step <= coarsest; step *= 10 {
			if payable, err := provider.RoundChargeable(step, currency); err == nil && payable == step {
				return step
			}
		}
	}
	return 1
}
