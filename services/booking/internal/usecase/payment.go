package usecase

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/sale"
	"github.com/slotmesh/slotmesh/libs/sale/refund"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// PaymentOptions are the settings of online payment. If no provider
// is connected, every booking that must be paid online is refused.
type PaymentOptions struct {
	Providers payment.Providers
	// CallTimeout is the timeout of each call to a provider.
	CallTimeout time.Duration
	// ExpiresAfter is the time that a customer has to pay. If the
	// customer does not pay in time, the booking is cancelled.
	ExpiresAfter time.Duration
}

// MaxExpiresAfter is the maximum of the setting PAYMENT_EXPIRES_AFTER. The maximum
// is less than a day, because providers keep a payment page open for at most a day.
const MaxExpiresAfter = 23 * time.Hour

// paymentWords are the parts of error messages about a payment. They
// depend on the kind of sale: booking, order of tickets or reservation.
type paymentWords struct{ sale, pronoun, nothing, advice string }

var paymentSentences = map[event.SubjectKind]paymentWords{
	event.Booking: {"This booking", "it", "nothing was booked",
		"where payment_modes.services is customer_choice, send payment_choice at_door, else ask the business"},
	event.Ticket:      {"These tickets", "them", "nothing was sold", "ask the business"},
	event.Reservation: {"This", "it", "nothing was reserved", "ask the business"},
}

// newPayment returns a new online payment. The argument `due` is the amount to pay, in minor units. The provider of the
// payment is the preferred provider if that provider can charge the amount. Otherwise the provider is the first
// provider of the business that can charge the amount. Fault: payment_not_offered if no provider can charge the amount.
func (b *Booker) newPayment(kind event.SubjectKind, offer *catalog.Snapshot, preferred string, due int64,
	now time.Time) (*store.NewPayment, error) {
	names, accounts := listConnections(offer)
	if i := slices.Index(names, preferred); i > 0 {
		names = slices.Insert(slices.Delete(names, i, i+1), 0, preferred)
	}
	for _, name := range names {
		provider, connected := b.Payments.Providers[name]
		account := accounts[name]
		if !connected || account == "" {
			continue
		}
		if amount, err := provider.RoundChargeable(due, offer.Money()); err == nil {
			return &store.NewPayment{Provider: name, Account: account, Amount: amount, Policy: refund.NewPolicy(offer),
				DueAt: now.Add(b.lockDuration())}, nil
		}
	}
	words := paymentSentences[kind]
	return nil, fault.Newf(fault.PaymentNotOffered,
		"%s must be paid online, and the business has no payment provider that can charge %s, so %s; ask the business.",
		words.sale, words.pronoun, words.nothing)
}

// listConnections returns the names of the providers of a business, and the account of the business with each of them.
// A sandbox business has only the sandbox provider, which moves no money. No other business has the sandbox provider.
func listConnections(offer *catalog.Snapshot) ([]string, map[string]string) {
	if offer.Account.Sandbox {
		return []string{payment.Sandbox}, map[string]string{payment.Sandbox: payment.Sandbox}
	}
	live := slices.DeleteFunc(slices.Clone(offer.Payments.Providers), func(name string) bool {
		return name == payment.Sandbox
	})
	return live, offer.Payments.Accounts
}

// pendingPayment is a payment that has not been created at the provider
// yet. Its booking, order of tickets or reservation is already stored.
type pendingPayment struct {
	payment.Subject
	store.NewPayment
	currency money.Currency
	name     string    // the name of the sold item on the provider's page
	link     string    // the customer's link, to which the provider's page leads back; "" if PAGES_URL is not set
	dueAt    time.Time // until this time the customer can pay
	write    uuid.UUID // the idempotency result to delete if the sale is cancelled, or the nil UUID
	// store stores that the payment is open, with the provider's reference of the charge, as [sale.Opening] requires.
	store func(ctx context.Context, intent payment.Intent) error
}

// openPayment creates the payment of a stored sale at the provider. Then it stores that the payment
// is open. If one of these steps fails, openPayment cancels the sale, as [sale.Opening] describes.
//
// Faults: payment_unavailable; idempotency_in_progress if the request's idempotency key was
// refused in the meantime; outcome_unknown if it is unknown whether the payment was stored
// as open. After outcome_unknown, a retry or the reconciliation determines the outcome.
func (b *Booker) openPayment(ctx context.Context, p pendingPayment) (payment.Intent, error) {
	intent, err := sale.Opening[payment.Intent]{
		Kind: p.Kind, ID: p.ID, CancelTimeout: b.AbandonTimeout, Log: b.Telemetry.Logger,
		Create: func(ctx context.Context) (payment.Intent, error) { return b.createPayment(ctx, p) },
		Store:  p.store,
		Cancel: func(ctx context.Context, created payment.Intent, cause error) error {
			return b.Bookings.AbandonPayment(ctx, store.AbandonRequest{
				BusinessID: p.BusinessID, ID: p.ID, Reference: created.Reference,
				IsNotCreated: errors.Is(cause, payment.ErrRefused), Write: p.write,
			}, b.Clock.Now())
		},
	}.Open(ctx)
	var failed *sale.NotOpenedError
	switch {
	case err == nil:
		b.storeDecision(ctx, p, intent)
	case errors.As(err, &failed) && errors.Is(failed.Cause, postgres.ErrRefused):
		err = newOvertakenFault()
	case failed != nil:
		err = newNotOpenedFault(p.Kind, errors.Is(failed.Cause, payment.ErrRefused))
	}
	return intent, err
}

// newNotOpenedFault returns the fault for a payment that could not be opened. If the provider refused the
// amount, the message of the fault does not ask for a retry, because the provider would refuse again.
func newNotOpenedFault(kind event.SubjectKind, isRefused bool) error {
	words := paymentSentences[kind]
	if isRefused {
		return fault.Newf(fault.PaymentUnavailable,
			"The payment provider refuses to charge this amount online, so %s; %s.", words.nothing, words.advice)
	}
	f := fault.Newf(fault.PaymentUnavailable, "The payment could not be started just now, so %s; try again shortly.",
		words.nothing)
	f.RetryAfter = time.Second
	return f
}

func (b *Booker) createPayment(ctx context.Context, p pendingPayment) (payment.Intent, error) {
	ctx, cancel := context.WithTimeout(ctx, b.Payments.CallTimeout)
	defer cancel()
	c := payment.Charge{Subject: p.Subject, Account: p.Account, Amount: p.Amount, Currency: p.currency}
	if p.OnCheckout {
		var err error
		if c.Checkout, err = newCheckout(p.link, p.name, p.dueAt); err != nil {
			return payment.Intent{}, err
		}
	}
	return b.Payments.Providers[p.Provider].Create(ctx, c)
}

// storeDecision processes the outcome of a payment that the provider decided when it
// created the payment. If the provider decided no outcome, storeDecision does
// nothing. If the outcome cannot be stored, the payment stays open until it expires.
func (b *Booker) storeDecision(ctx context.Context, p pendingPayment, created payment.Intent) {
	if created.ImmediateNotice == nil {
		return
	}
	notice := *created.ImmediateNotice
	notice.Account, notice.Reference = p.Account, created.Reference
	if err := b.HandleNotice(ctx, p.Provider, notice); err != nil {
		b.Telemetry.Logger.WarnContext(ctx,
			"the decision of a payment provider was not stored; the payment stays open until it expires", "provider", p.Provider,
			"error", err)
	}
}

// paymentPage returns an open payment with the provider's page on which the customer pays. If the payment's
// OnCheckout is true or `move` is nil, the method Open of the provider returns the page. In all other cases, the
// customer was to pay on a page of the client that booked. The function `move` then creates the provider's page.
//
// Faults: conflict if no payment is open; payment_unavailable.
func (b *Booker) paymentPage(ctx context.Context, businessID, id uuid.UUID,
	move func(context.Context, payment.Provider, store.PaymentHandle) (payment.Intent, error)) (store.PaymentHandle,
	payment.Intent, error) {
	open, err := b.Bookings.FindOpenPayment(ctx, businessID, id, b.Clock.Now())
	if errors.Is(err, store.ErrNotFound) {
		err = newNothingToPayFault()
	}
	if err != nil {
		return open, payment.Intent{}, err
	}
	provider, connected := b.Payments.Providers[open.Provider]
	if !connected {
		return open, payment.Intent{}, newCannotPayFault(nil)
	}
	ctx, cancel := context.WithTimeout(ctx, b.Payments.CallTimeout)
	defer cancel()
	var intent payment.Intent
	if open.OnCheckout || move == nil {
		intent, err = provider.Open(ctx, open.Account, open.Reference)
	} else {
		intent, err = move(ctx, provider, open)
	}
	switch {
	case errors.Is(err, errNothingToPay):
		err = newNothingToPayFault()
	case err != nil:
		err = newCannotPayFault(err)
	}
	return open, intent, err
}

// errNothingToPay means that the customer can no longer make
// the payment, because it was made or closed in the meantime.
var errNothingToPay = errors.New("nothing is to be paid")

func newNothingToPayFault() error {
	return fault.New(fault.Conflict, "Nothing is to be paid online here now.")
}

func newCannotPayFault(err error) error {
	f := fault.Wrap(fault.PaymentUnavailable, err, "The payment cannot be opened just now; try again shortly.")
	f.RetryAfter = time.Second
	return f
}

// checkoutDuration is the time from the expiry of a payment to the expiry of the provider's page.
// Providers require that a page expires at least half an hour after its creation, and the page may be
// created just before the payment expires. The reconciliation closes the page when the payment expires.
const checkoutDuration = 31 * time.Minute

// newCheckout returns the data of the provider's page for a payment. The payment expires
// at the time in the argument `due`. The argument `name` is the name of the sold item on
// the page. The page sends the customer back to the URL in the argument `link`.
//
// The result depends only on the arguments, so that a retry creates the same page.
// The result is an error if `link` is "", which is the case if PAGES_URL is not set.
func newCheckout(link, name string, due time.Time) (*payment.Checkout, error) {
	if link == "" {
		return nil, errors.New("there are no customers' pages to come back to (PAGES_URL)")
	}
	return &payment.Checkout{
		Name: shorten(name), SuccessURL: link + "?payment=done", CancelURL: link + "?payment=open",
		ExpiresAt: due.Add(checkoutDuration),
	}, nil
}

// joinServices returns the names of the booked services in one string. If the services
// were sold as a package, the string also contains the name of the package.
func joinServices(services []store.SoldService) string {
	names := make([]string, len(services))
	for i, s := range services {
		names[i] = s.Name
	}
	return store.AddPackageName(services, strings.Join(names, ", "))
}

// shorten cuts a longer name to 200 characters and adds an ellipsis, because providers limit the length of names.
func shorten(name string) string {
	const limit = 200
	if text := []rune(name); len(text) > limit {
		return string(text[:limit]) + "…"
	}
	return name
}
