package usecase

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/slotmesh/slotmesh/libs/actor"
	"github.com/slotmesh/slotmesh/libs/event"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/postgres"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"

	"github.com/google/uuid"
)

// charged has an order wait for a charge where it must be paid online now (semantics.md §3): what the event's requirement asks of each
// ticket's price. Fault: payment_not_offered where no provider can charge it.
func (t *Tickets) charged(offer *catalog.Offer, choice string, ticket *store.NewTicket) error {
	sold := offer.Event(ticket.EventID)
	if !offer.PaysOnline(offer.Payments.Modes.Events, choice, *ticket.Total) {
		return nil
	}
	var due int64
	for _, tier := range ticket.Tiers {
		due += int64(tier.Quantity) * catalog.Due(sold.PaymentRequirement, sold.DepositValue, *tier.Price, ticket.Currency)
	}
	if due == 0 {
		return nil
	}
	charge := t.newPayment(offer, "", due, ticket.CreatedAt)
	if charge == nil {
		return fault.New(fault.PaymentNotOffered,
			"These tickets must be paid online, and the business has no payment provider that can charge them, so nothing was sold; ask the business.")
	}
	charge.OnCheckout = true
	ticket.Charge, ticket.Status = charge, booking.StatusPending
	return nil
}

// open lets the provider open its page for an order that was written, while no transaction is open, and notes it. Where that fails, the
// order is taken back; where this process dies, the reconciliation does it. Faults: payment_unavailable, and outcome_unknown where the
// charge may be noted: a repeated request, or the reconciliation, finds what is so.
func (t *Tickets) open(ctx context.Context, n store.NewTicket) (Order, error) {
	intent, err := t.openPage(ctx, n)
	if err == nil {
		now := t.now()
		err = t.records.OpenTicketPayment(ctx, n.BusinessID, n.ID, intent.Reference, t.dueAt(n), now)
		if err == nil {
			t.decided(ctx, n.Charge.Provider, n.Charge.Account, intent)
			return t.asItIs(ctx, n.BusinessID, n.Ticket, intent.URL)
		}
		if !errors.Is(err, store.ErrPaymentOver) { // it may be noted, and a repeated request may have been told so
			return Order{}, fault.Unknown(err)
		}
	}
	t.Telemetry.Logger.WarnContext(ctx, "a charge could not be opened; its tickets are taken back", "ticket", n.ID, "error", err)
	refused := errors.Is(err, payment.ErrRefused)
	write := postgres.OwnersWrite(ctx, n.BusinessID)
	t.takeBack(ctx, n.ID, func(ctx context.Context) error {
		return t.records.AbandonTicket(ctx, n.BusinessID, n.ID, intent.Reference, refused, write, t.now())
	})
	if refused {
		return Order{}, fault.New(fault.PaymentUnavailable, "The payment provider refuses to charge this amount online, so nothing was sold; ask the business.")
	}
	f := fault.New(fault.PaymentUnavailable, "The payment could not be started just now, so nothing was sold; try again shortly.")
	f.RetryAfter = time.Second
	return Order{}, f
}

// dueAt is until when an order can be paid.
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

// ticketsOf names what was ordered.
func ticketsOf(t store.Ticket) string {
	tiers := make([]string, len(t.Tiers))
	for i, tier := range t.Tiers {
		tiers[i] = fmt.Sprintf("%d × %s", tier.Quantity, tier.Name)
	}
	return t.EventName + ": " + strings.Join(tiers, ", ")
}

// asItIs is an order with its charge, after it was written.
func (t *Tickets) asItIs(ctx context.Context, businessID uuid.UUID, made store.Ticket, checkoutURL string) (Order, error) {
	found, err := t.records.Ticket(ctx, businessID, made.ID)
	if err != nil {
		return Order{}, fault.Unknown(err)
	}
	return Order{Ticket: found, CheckoutURL: checkoutURL}, nil
}

// Again answers a repeated request that would be refused now with the order that was made, as it is now: what was written first knew nothing of a
// page to pay on. Faults: those of a repeated request; idempotency_in_progress also where it was taken back before anybody was told of it.
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

// again answers a repeated request for an order that waits, or waited, for its payment: with the page on which it is paid, where it is open.
// One that was taken back before anybody was told of it is ordered anew. Faults: idempotency_in_progress while the first request opens the
// charge.
func (t *Tickets) again(ctx context.Context, businessID uuid.UUID, made store.Ticket) (Order, error) {
	order, err := t.asItIs(ctx, businessID, made, "")
	switch {
	case err != nil:
		return Order{}, err
	case order.Status == booking.StatusCancelled && order.Sequence == 0:
		if err := t.records.UnmakeWrite(ctx, businessID, postgres.OwnersWrite(ctx, businessID), made.ID); err != nil {
			return Order{}, fault.Unknown(err)
		}
		return Order{}, errAgain
	case order.Payment == nil || order.Payment.Status == store.ChargeCreating:
		return Order{}, inProgress()
	case order.Payment.Status != store.ChargeOpen:
		return order, nil
	}
	charge, err := t.records.OpenCharge(ctx, businessID, made.ID, t.now())
	if errors.Is(err, store.ErrNotFound) { // it has expired
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
	return order, nil // without the page it is paid by the customer's link
}
