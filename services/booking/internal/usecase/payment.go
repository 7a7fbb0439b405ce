package usecase

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/sale/refund"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/request"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// PaymentOptions are the settings of online payment. Without providers, a booking that must be paid online is refused.
type PaymentOptions struct {
	Providers payment.Providers
	// Within bounds each call to a provider.
	Within time.Duration
	// ExpiresAfter is how long a customer has to pay before the booking is cancelled.
	ExpiresAfter time.Duration
}

// paymentDue returns the online payment that a booking needs now, or nil if it needs
// none. It uses the preferred provider if that can charge the amount, otherwise the
// business's first provider that can. Fault: payment_not_offered if none can.
func (b *Booker) paymentDue(q question, prices []int64, total int64) (*store.NewPayment, error) {
	if q.request.PaymentChoice == request.PayOnline && total > 0 && len(q.offer.ConnectedProviders()) == 0 {
		return nil, fault.New(fault.PaymentNotOffered,
			"payment_choice: this business is not paid online, so nothing was booked; send at_door, or leave it out.")
	}
	if !needsOnlinePayment(q.offer, q.request, q.services, total) {
		return nil, nil
	}
	due := payment.AmountDue(q.services, prices, q.request.PartySize, q.offer.Money())
	if due == 0 {
		return nil, nil // the service that requires payment is free, or its deposit is less than the smallest coin
	}
	charge := b.newPayment(q.offer, q.request.PreferredProvider, due, q.now)
	if charge == nil {
		return nil, fault.New(fault.PaymentNotOffered,
			"This booking must be paid online, and the business has no payment provider that can charge it, so "+
				"nothing was booked; ask the business.")
	}
	charge.OnCheckout, charge.ByHand = q.by == actor.Page, !q.confirmsAtOnce()
	return charge, nil
}

// newPayment returns a payment of the amount due, in minor units. It uses the preferred provider,
// or the business's first provider that can charge the amount. It returns nil if none can.
func (b *Booker) newPayment(offer *catalog.Offer, preferred string, due int64, now time.Time) *store.NewPayment {
	names, accounts := connections(offer)
	if i := slices.Index(names, preferred); i > 0 {
		names = slices.Insert(slices.Delete(names, i, i+1), 0, preferred)
	}
	for _, name := range names {
		provider, connected := b.Payments.Providers[name]
		account := accounts[name]
		if !connected || account == "" {
			continue
		}
		if amount, err := provider.Chargeable(due, offer.Money()); err == nil {
			return &store.NewPayment{Provider: name, Account: account, Amount: amount, Policy: refund.PolicyOf(offer),
				DueAt: now.Add(b.claimFor())}
		}
	}
	return nil
}

// connections returns the names of a business's providers, and its accounts with them. A sandbox business
// has only the sandbox provider, which moves no money. No other business has the sandbox provider.
func connections(offer *catalog.Offer) ([]string, map[string]string) {
	if offer.Account.Sandbox {
		return []string{payment.Sandbox}, map[string]string{payment.Sandbox: payment.Sandbox}
	}
	live := slices.DeleteFunc(slices.Clone(offer.Payments.Providers), func(name string) bool {
		return name == payment.Sandbox
	})
	return live, offer.Payments.Accounts
}

// decided handles an outcome that the provider decided when it created the charge. If there is no
// outcome, it does nothing. If the outcome cannot be stored, the charge stays open until it expires.
func (b *Booker) decided(ctx context.Context, provider, account string, made payment.Intent) {
	if made.Decided == nil {
		return
	}
	notice := *made.Decided
	notice.Account, notice.Reference = account, made.Reference
	if err := b.Notice(ctx, provider, notice); err != nil {
		b.Telemetry.Logger.WarnContext(ctx,
			"what a provider decided is not noted; its charge stays open until it expires", "provider", provider,
			"error", err)
	}
}

// charge creates the charge of a stored booking at the provider, outside any transaction, and then stores that the
// charge is open. If that fails, charge cancels the booking. If the process dies, the reconciliation cancels it.
//
// Faults: payment_unavailable; idempotency_in_progress if the key was refused in the meantime; outcome_unknown if
// it is unknown whether the open charge was stored. In the last case, a retry or the reconciliation finds out.
func (b *Booker) charge(ctx context.Context, n store.NewBooking) (store.Confirmation, error) {
	intent, err := b.createCharge(ctx, n)
	if err == nil {
		var confirmation store.Confirmation
		confirmation, err = b.openCharge(ctx, n, intent)
		switch {
		case err == nil:
			b.decided(ctx, n.Payment.Provider, n.Payment.Account, intent)
			return confirmation, nil
		// a retry may have returned the charge already, and the customer may have paid it
		case fault.Is(err, fault.OutcomeUnknown):
			return store.Confirmation{}, err
		}
	}
	b.Telemetry.Logger.WarnContext(ctx, "a charge could not be opened; its booking is taken back", "booking", n.ID,
		"error", err)
	refused := errors.Is(err, payment.ErrRefused)
	b.takeBack(ctx, n.ID, func(ctx context.Context) error {
		return b.Bookings.AbandonPayment(ctx, n.BusinessID, n.ID, intent.Reference, refused, b.Clock.Now())
	})
	if errors.Is(err, postgres.ErrRefused) {
		return store.Confirmation{}, overtaken()
	}
	return store.Confirmation{}, unpaid(refused)
}

// unpaid returns the fault if a charge could not be opened. If the provider
// refused the amount, a retry does not help, and the fault differs.
func unpaid(refused bool) error {
	if refused {
		return fault.New(fault.PaymentUnavailable,
			"The payment provider refuses to charge this amount online, so nothing was booked; "+
				"where payment_modes.services is customer_choice, send payment_choice at_door, else ask the business.")
	}
	f := fault.New(fault.PaymentUnavailable,
		"The payment could not be started just now, so nothing was booked; try again shortly.")
	f.RetryAfter = time.Second
	return f
}

func (b *Booker) createCharge(ctx context.Context, n store.NewBooking) (payment.Intent, error) {
	ctx, cancel := context.WithTimeout(ctx, b.Payments.Within)
	defer cancel()
	c := payment.Charge{
		Subject: payment.Subject{BusinessID: n.BusinessID, Kind: event.Booking, ID: n.ID},
		Account: n.Payment.Account, Amount: n.Payment.Amount, Currency: n.Currency,
	}
	if n.Payment.OnCheckout {
		var err error
		if c.Checkout, err = b.checkout(event.Booking, n.ID, n.LinkHash, servicesOf(n.Services),
			n.Now.Add(b.Payments.ExpiresAfter)); err != nil {
			return payment.Intent{}, err
		}
	}
	return b.Payments.Providers[n.Payment.Provider].Create(ctx, c)
}

func (b *Booker) openCharge(ctx context.Context, n store.NewBooking,
	intent payment.Intent) (store.Confirmation, error) {
	confirmation := store.Confirmation{Details: n.Details, Payment: &store.PaymentDetails{
		Provider: n.Payment.Provider, Amount: n.Payment.Amount, Reference: intent.Reference,
		ClientSecret: intent.ClientSecret,
		CheckoutURL:  intent.URL,
	}}
	now := b.Clock.Now()
	return confirmation, b.Bookings.OpenPayment(ctx, store.OpenPayment{
		BusinessID: n.BusinessID, Confirmation: confirmation, DueAt: now.Add(b.Payments.ExpiresAfter), Claim: n.Claim,
		Write: n.Named(), Now: now,
	})
}

// abandonPause is the time between two attempts to cancel a booking or order that was not paid.
const abandonPause = 50 * time.Millisecond

// takeBack cancels a booking, order or charge that could not be opened at the provider. It acts as the
// system. It calls abandon, which is idempotent, until the call succeeds or AbandonWithin has passed.
func (b *Booker) takeBack(ctx context.Context, id uuid.UUID, abandon func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), b.AbandonWithin)
	defer cancel()
	ctx = actor.AsSystem(ctx)
	for {
		try, stop := context.WithTimeout(ctx, b.AbandonWithin/3)
		err := abandon(try)
		stop()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			b.Telemetry.Logger.WarnContext(ctx, "what was not paid stays until the reconciliation", "subject", id,
				"error", err)
			return
		case <-time.After(abandonPause):
		}
	}
}
