package usecase

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"

	"github.com/google/uuid"
)

// charged adds a charge to an order that must be paid online now, and sets the order to
// pending (semantics.md §3). The payment requirement of the event, applied to the price of
// each ticket, determines the amount. Fault: payment_not_offered if no provider can charge it.
func (t *Tickets) charged(offer *catalog.Offer, choice string, ticket *store.NewTicket) error {
	sold := offer.Event(ticket.EventID)
	if !offer.PaysOnline(offer.Payments.Modes.Events, choice, *ticket.Total) {
		return nil
	}
	var due int64
	for _, tier := range ticket.Tiers {
		due += int64(tier.Quantity) * catalog.Due(sold.PaymentRequirement, sold.DepositValue, *tier.Price,
			ticket.Currency)
	}
	if due == 0 {
		return nil
	}
	charge := t.newPayment(offer, "", due, ticket.CreatedAt)
	if charge == nil {
		return fault.New(fault.PaymentNotOffered,
			"These tickets must be paid online, and the business has no payment provider that can charge them, so "+
				"nothing was sold; ask the business.")
	}
	charge.OnCheckout = true
	ticket.Charge, ticket.Status = charge, booking.StatusPending
	return nil
}

// open creates the charge of a stored order at the provider, outside any transaction, and then stores that the
// charge is open. If that fails, open cancels the order. If the process dies, the reconciliation cancels it.
//
// Faults: payment_unavailable; outcome_unknown if it is unknown whether the open
// charge was stored. In that case, a retry or the reconciliation finds out.
func (t *Tickets) open(ctx context.Context, n store.NewTicket) (Order, error) {
	intent, err := t.openPage(ctx, n)
	if err == nil {
		now := t.now()
		err = t.records.OpenTicketPayment(ctx, n.BusinessID, n.ID, intent.Reference, t.dueAt(n), now)
		if err == nil {
			t.decided(ctx, n.Charge.Provider, n.Charge.Account, intent)
			return t.asItIs(ctx, n.BusinessID, n.Ticket, intent.URL)
		}
		if !errors.Is(err, store.ErrPaymentOver) { // the open charge may be stored, and a retry may have returned it
			return Order{}, fault.Unknown(err)
		}
	}
	t.Telemetry.Logger.WarnContext(ctx, "a charge could not be opened; its tickets are taken back", "ticket", n.ID,
		"error", err)
	refused := errors.Is(err, payment.ErrRefused)
	write := postgres.RequestWriteID(ctx, n.BusinessID)
	t.takeBack(ctx, n.ID, func(ctx context.Context) error {
		return t.records.AbandonTicket(ctx, n.BusinessID, n.ID, intent.Reference, refused, write, t.now())
	})
	if refused {
		return Order{}, fault.New(fault.PaymentUnavailable,
			"The payment provider refuses to charge this amount online, so nothing was sold; ask the business.")
	}
	f := fault.New(fault.PaymentUnavailable,
		"The payment could not be started just now, so nothing was sold; try again shortly.")
	f.RetryAfter = time.Second
	return Order{}, f
}

// dueAt returns the time until which an order can be paid.
func (t *Tickets) dueAt(n store.NewTicket) time.Time { return n.CreatedAt.Add(t.Payments.ExpiresAfter) }

func (t *Tickets) openPage(ctx context.Context, n store.NewTicket) (payment.Intent, error) {
	ctx, cancel := context.WithTimeout(ctx, t.Payments.Within)
	defer cancel()
	page, err := t.checkout(event.Ticket, n.ID, n.LinkHash, ticketsOf(n.Ticket), t.dueAt(n))
	if err != nil {
		return payment.Intent{}, err
	}
	return t.Payments.Providers[n.Charge.Provider].Create(ctx, payment.Charge{
		Subject: payment.Subject{BusinessID: n.BusinessID, Kind: event.Ticket, ID: n.ID},
		Account: n.Charge.Account, Amount: n.Charge.Amount, Currency: n.Currency, Checkout: page,
	})
}

// ticketsOf describes an order by the name of its event, and the quantity and name of each tier.
func ticketsOf(t store.Ticket) string {
	tiers := make([]string, len(t.Tiers))
	for i, tier := range t.Tiers {
		tiers[i] = fmt.Sprintf("%d × %s", tier.Quantity, tier.Name)
	}
	return t.EventName + ": " + strings.Join(tiers, ", ")
}

// asItIs reads the current state of an order, with its charge, after
// the order was written. Fault: outcome_unknown if it cannot be read.
func (t *Tickets) asItIs(ctx context.Context, businessID uuid.UUID, made store.Ticket,
	checkoutURL string) (Order, error) {
	found, err := t.records.Ticket(ctx, businessID, made.ID)
	if err != nil {
		return Order{}, fault.Unknown(err)
	}
	return Order{Ticket: found, CheckoutURL: checkoutURL}, nil
}

// Again answers a repeated request that would be refused now. The answer is the order
// that the first request made, in its current state. If the charge is open, the
// answer includes the provider's page, which the stored first answer does not have.
//
// Faults: outcome_unknown; idempotency_in_progress if the first request is
// still in flight, or if its order was cancelled before it was answered.
func (t *Tickets) Again(ctx context.Context, by actor.Actor, businessID uuid.UUID, made store.Ticket) (Order, error) {
	ctx = actor.With(ctx, by)
	if made.Status != booking.StatusPending {
		return Order{Ticket: made}, nil
	}
	order, err := t.again(ctx, businessID, made)
	if errors.Is(err, errAgain) {
		return Order{}, inProgress()
	}
	return order, err
}

// again answers a repeated request for an order with an online payment.
// If the charge is open, the answer includes the provider's page.
//
// If the order was cancelled before any answer contained it, again returns [errAgain], and the caller makes
// a new order. Faults: idempotency_in_progress while the first request opens the charge; outcome_unknown.
func (t *Tickets) again(ctx context.Context, businessID uuid.UUID, made store.Ticket) (Order, error) {
	order, err := t.asItIs(ctx, businessID, made, "")
	switch {
	case err != nil:
		return Order{}, err
	case order.Status == booking.StatusCancelled && order.Sequence == 0:
		if err := t.records.UnmakeWrite(ctx, businessID, postgres.RequestWriteID(ctx, businessID), made.ID); err != nil {
			return Order{}, fault.Unknown(err)
		}
		return Order{}, errAgain
	case order.Payment == nil || order.Payment.Status == store.ChargeCreating:
		return Order{}, inProgress()
	case order.Payment.Status != store.ChargeOpen:
		return order, nil
	}
	charge, err := t.records.OpenCharge(ctx, businessID, made.ID, t.now())
	if errors.Is(err, store.ErrNotFound) { // the charge has expired
		return order, nil
	}
	if err != nil {
		return Order{}, fault.Unknown(err)
	}
	asking, cancel := context.WithTimeout(ctx, t.Payments.Within)
	defer cancel()
	if provider, connected := t.Payments.Providers[charge.Provider]; connected {
		if intent, err := provider.Open(asking, charge.Account, charge.Reference); err == nil {
			order.CheckoutURL = intent.URL
		}
	}
	return order, nil // without the page, the customer pays by the link in the messages
}
