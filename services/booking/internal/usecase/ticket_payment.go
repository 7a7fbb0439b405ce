package usecase

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/sale"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"

	"github.com/google/uuid"
)

// addPayment adds an online payment to the order if the order must be paid online, and sets the order's
// status to pending (semantics.md §3). The payment requirement of the event determines which part of each
// ticket's price is due. Fault: payment_not_offered if no provider can charge the amount that is due.
func (t *Tickets) addPayment(offer *catalog.Snapshot, choice string, ticket *store.NewTicket) error {
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
	charge, err := t.newPayment(event.Ticket, offer, "", due, ticket.CreatedAt)
	if err != nil {
		return err
	}
	charge.OnCheckout = true
	ticket.NewPayment, ticket.Status = charge, booking.StatusPending
	return nil
}

// pay opens the payment of a stored order. Faults: the faults of
// openPayment; outcome_unknown if the order cannot be read afterwards.
func (t *Tickets) pay(ctx context.Context, n store.NewTicket) (Order, error) {
	due := n.CreatedAt.Add(t.Payments.ExpiresAfter)
	intent, err := t.openPayment(ctx, pendingPayment{
		Subject:    payment.Subject{BusinessID: n.BusinessID, Kind: event.Ticket, ID: n.ID},
		NewPayment: *n.NewPayment, currency: n.Currency, name: describeTickets(n.Ticket),
		link: t.Links.URL(event.Ticket, n.ID, n.LinkHash), dueAt: due,
		write: postgres.RequestWriteID(ctx, n.BusinessID),
		store: func(ctx context.Context, intent payment.Intent) error {
			err := t.records.OpenTicketPayment(ctx, n.BusinessID, n.ID, intent.Reference, due, t.now())
			if err != nil && !errors.Is(err, store.ErrPaymentOver) {
				return fault.Unknown(err)
			}
			return err
		},
	})
	if err != nil {
		return Order{}, err
	}
	return t.readCurrent(ctx, n.BusinessID, n.Ticket, intent.URL)
}

// describeTickets describes an order of tickets in one line: the name of the event, and the quantity and name of each
// tier.
func describeTickets(t store.Ticket) string {
	tiers := make([]string, len(t.Tiers))
	for i, tier := range t.Tiers {
		tiers[i] = fmt.Sprintf("%d × %s", tier.Quantity, tier.Name)
	}
	return t.EventName + ": " + strings.Join(tiers, ", ")
}

// readCurrent reads the current state of a stored order, including its
// charge. Fault: outcome_unknown if the order cannot be read.
func (t *Tickets) readCurrent(ctx context.Context, businessID uuid.UUID, order store.Ticket,
	checkoutURL string) (Order, error) {
	order, err := t.records.Ticket(ctx, businessID, order.ID)
	if err != nil {
		return Order{}, fault.Unknown(err)
	}
	return Order{Ticket: order, CheckoutURL: checkoutURL}, nil
}

// AnswerRetry answers a repeated request to buy tickets. The answer is the order that the first
// request made, in its current state. If the charge of the order is open, the answer
// contains the URL of the provider's page, which the stored first answer does not contain.
//
// Faults: outcome_unknown; idempotency_in_progress if the first request is still
// in flight, or if its order was cancelled before any answer contained it.
func (t *Tickets) AnswerRetry(ctx context.Context, by actor.Actor, businessID uuid.UUID,
	order store.Ticket) (Order, error) {
	ctx = actor.With(ctx, by)
	if order.Status != booking.StatusPending {
		return Order{Ticket: order}, nil
	}
	result, err := t.answerPaidRetry(ctx, businessID, order)
	if errors.Is(err, sale.ErrChanged) {
		return Order{}, idempotency.NewInProgressFault()
	}
	return result, err
}

// answerPaidRetry answers a repeated request to buy tickets if the order has an online payment.
// If the charge is open, the answer contains the URL of the provider's page.
//
// Errors: [sale.ErrChanged] if the order was cancelled before it was returned to any request; the caller can then make a
// new order. Faults: idempotency_in_progress if the first request is still opening the charge; outcome_unknown if a
// database query fails.
func (t *Tickets) answerPaidRetry(ctx context.Context, businessID uuid.UUID, first store.Ticket) (Order, error) {
	order, err := t.readCurrent(ctx, businessID, first, "")
	switch {
	case err != nil:
		return Order{}, err
	case order.Status == booking.StatusCancelled && order.Sequence == 0:
		if err := t.records.DeleteIdempotencyResult(ctx, businessID, postgres.RequestWriteID(ctx, businessID),
			first.ID); err != nil {
			return Order{}, fault.Unknown(err)
		}
		return Order{}, sale.ErrChanged
	case order.Payment == nil || order.Payment.Status == store.PaymentCreating:
		return Order{}, idempotency.NewInProgressFault()
	case order.Payment.Status != store.PaymentOpen:
		return order, nil
	}
	_, intent, err := t.paymentPage(ctx, businessID, first.ID, nil)
	if err != nil && !fault.Is(err, fault.Conflict) && !fault.Is(err, fault.PaymentUnavailable) {
		return Order{}, fault.Unknown(err)
	}
	order.CheckoutURL = intent.URL
	return order, nil // if CheckoutURL is "", the customer can still pay by the link in the messages
}
