package usecase

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// Payments brings charges into line with the bookings and orders that they are for. It acts on the
// providers' notices and on periodic checks:
//
//   - it frees the time and tickets of charges that were never opened;
//   - it cancels or refunds charges whose booking or order is cancelled;
//   - it executes the refunds of cancellations;
//   - it cancels bookings and orders that were not paid in time.
type Payments struct {
	charges  *store.Store
	options  PaymentOptions
	clock    clock.Clock
	tel      *telemetry.Telemetry
	outcomes metric.Int64Counter
}

// NewPayments returns a Payments with these options.
func NewPayments(charges *store.Store, options PaymentOptions, c clock.Clock, tel *telemetry.Telemetry) *Payments {
	return &Payments{
		charges: charges, options: options, clock: c, tel: tel,
		outcomes: tel.Counter("slotmesh.payments.reconciled",
			"Charges that the reconciliation looked at, by outcome: released, paid, cancelled, failed; of a refund "+
				"refunded, refused or pending."),
	}
}

// Notice acts on a provider's notice. It ignores a notice of an unknown charge, which may belong
// to another installation.
func (p *Payments) Notice(ctx context.Context, provider string, n payment.Notice) error {
	ctx = actor.With(ctx, actor.Actor{Kind: actor.Provider})
	if n.Changed || n.Dispute != nil {
		return p.news(ctx, provider, n)
	}
	businessID, subjectID, err := p.find(ctx, provider, n)
	if err == nil {
		switch {
		case n.Outcome != "":
			err = p.note(ctx, businessID, subjectID, n.Outcome)
		case !n.FailedAt.IsZero():
			err = p.charges.PaymentFailed(ctx, businessID, subjectID, n.FailedAt, p.clock.Now())
		case n.Refund != nil:
			err = p.noteRefund(ctx, businessID, subjectID, n.Refund.Number, n.Refund.RefundState)
		}
	}
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// find returns the business and the booking, order or reservation that a notice is about. Error: [store.ErrNotFound].
func (p *Payments) find(ctx context.Context, provider string, n payment.Notice) (uuid.UUID, uuid.UUID, error) {
	businessID, subjectID, err := p.charges.FindPayment(ctx, provider, n.Account, n.Reference)
	if errors.Is(err, store.ErrNotFound) && n.Subject.ID != uuid.Nil {
		businessID, subjectID = n.Subject.BusinessID, n.Subject.ID
		err = p.charges.HasPayment(ctx, n.Subject, provider, n.Account)
	}
	return businessID, subjectID, err
}

// news stores refunds and disputes that were made at the provider, not through Slotmesh. Such a notice does not
// contain the booking's id, so news asks the provider for it. It ignores an unknown charge, as Notice does.
func (p *Payments) news(ctx context.Context, provider string, n payment.Notice) error {
	looker, looks := p.options.Providers[provider].(payment.Looker)
	if !looks {
		return nil
	}
	asking, cancel := context.WithTimeout(ctx, p.options.Within)
	defer cancel()
	found, err := looker.Look(asking, n.Account, n.Reference)
	if errors.Is(err, payment.ErrRefused) {
		return nil
	}
	if err != nil {
		return err // the provider repeats the notice
	}
	n.Subject = found.Subject
	businessID, subjectID, err := p.find(ctx, provider, n)
	if err == nil && n.Dispute != nil {
		err = p.charges.Disputed(ctx, businessID, subjectID, *n.Dispute, p.clock.Now())
	}
	if err == nil && n.Changed {
		err = p.charges.RefundedElsewhere(ctx, businessID, subjectID, found.Refunded, p.clock.Now())
	}
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// note stores how a charge ended: paid, otherwise cancelled.
func (p *Payments) note(ctx context.Context, businessID, subjectID uuid.UUID, outcome payment.Outcome) error {
	switch now := p.clock.Now(); outcome {
	case payment.Paid:
		return p.charges.PaymentPaid(ctx, businessID, subjectID, now)
	default:
		return p.charges.PaymentCancelled(ctx, businessID, subjectID, now)
	}
}

// noteRefund stores how a refund ended. If the provider refused the refund, the owner sees the reason and must act.
func (p *Payments) noteRefund(ctx context.Context, businessID, subjectID uuid.UUID, number int,
	said payment.RefundState) error {
	changed, err := p.charges.RefundEnded(ctx, businessID, subjectID, number, said, p.clock.Now())
	if changed && said.Status == payment.RefundRefused {
		p.tel.Logger.WarnContext(ctx, "the payment provider refused a refund", "subject", subjectID, "refund", number,
			"reason", said.Reason)
	}
	return err
}

// reconcileEvery is the interval of the reconciliation. If a slot
// stays occupied half a minute too long, that does little harm.
const reconcileEvery = 30 * time.Second

// Run reconciles at once and then every half a minute, until ctx ends. If the store is
// unavailable, Run retries at the next interval.
func (p *Payments) Run(ctx context.Context) error {
	ticker := time.NewTicker(reconcileEvery)
	defer ticker.Stop()
	for {
		if err := p.Reconcile(ctx); err != nil && ctx.Err() == nil {
			p.tel.Logger.WarnContext(ctx, "payments stay unsettled for now", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// reconcileAtOnce is the number of charges that the reconciliation ends concurrently, each of a different
// business. Therefore a business with many charges, or with a slow provider, delays the others little.
const reconcileAtOnce = 8

// Reconcile ends all charges that are due. It changes the business after each charge, and ends the
// charges of one business one after another. If a charge cannot be ended, it is retried later.
//
// Before each charge, Reconcile frees the time of bookings whose charge was
// never opened. Therefore that time waits for at most one call to a provider.
func (p *Payments) Reconcile(ctx context.Context) error {
	ctx = actor.AsSystem(ctx)
	var (
		all  sync.WaitGroup
		done = make(chan uuid.UUID, reconcileAtOnce)
		busy = []uuid.UUID{}
		last uuid.UUID // the business that had the last turn
	)
	defer all.Wait()
	for {
		due, err := p.next(ctx, last, busy)
		switch {
		case err == nil:
			last, busy = due.BusinessID, append(busy, due.BusinessID)
			all.Go(func() {
				p.end(ctx, due)
				done <- due.BusinessID
			})
		case !errors.Is(err, store.ErrNotFound):
			return err
		case len(busy) == 0:
			return nil
		}
		if err == nil && len(busy) < reconcileAtOnce {
			continue
		}
		ended := <-done
		busy = slices.DeleteFunc(busy, func(id uuid.UUID) bool { return id == ended })
	}
}

// next frees the time of bookings whose charge was never opened, and leases a
// charge of the next business. Error: [store.ErrNotFound] if no charge is due.
func (p *Payments) next(ctx context.Context, last uuid.UUID, busy []uuid.UUID) (payment.Due, error) {
	released, err := p.charges.ReleaseUnfinished(ctx, p.clock.Now())
	p.count(ctx, "released", released)
	if err != nil {
		return payment.Due{}, err
	}
	return p.charges.LeaseDue(ctx, last, busy, p.clock.Now())
}

func (p *Payments) end(ctx context.Context, due payment.Due) {
	outcome, err := p.conclude(ctx, due)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		p.tel.Logger.WarnContext(ctx, "a charge stays unsettled for now", "kind", due.Kind, "subject", due.ID, "error",
			err)
		outcome = "failed"
	}
	p.count(ctx, outcome, 1)
}

func (p *Payments) count(ctx context.Context, outcome string, n int) {
	p.outcomes.Add(ctx, int64(n), metric.WithAttributes(attribute.String("outcome", outcome)))
}

// conclude refunds a charge or closes it, stores the outcome and returns it.
func (p *Payments) conclude(ctx context.Context, d payment.Due) (string, error) {
	provider, ok := p.options.Providers[d.Provider]
	if !ok {
		return "", fmt.Errorf("the provider %s is not connected", d.Provider)
	}
	asking, cancel := context.WithTimeout(ctx, p.options.Within)
	defer cancel()
	if d.RefundNumber > 0 {
		said, err := provider.Refund(asking, d.Refund())
		if err != nil {
			return "", err
		}
		return string(said.Status), p.noteRefund(ctx, d.BusinessID, d.ID, d.RefundNumber, said)
	}
	outcome, err := p.close(asking, provider, d)
	if err != nil {
		return "", err
	}
	return string(outcome), p.note(ctx, d.BusinessID, d.ID, outcome)
}

// close ensures that a charge can no longer be paid. If it is unknown whether the
// provider has the charge, close creates the charge again with the same idempotency key.
// The provider then returns the existing charge, or a new one that no customer can pay.
func (p *Payments) close(ctx context.Context, provider payment.Provider, d payment.Due) (payment.Outcome, error) {
	if d.Reference == "" && d.OnCheckout {
		return payment.Cancelled, nil // no customer got the address of the page
	}
	if d.Reference == "" {
		intent, err := provider.Create(ctx, d.Charge)
		if errors.Is(err, payment.ErrRefused) {
			return payment.Cancelled, nil
		}
		if err != nil {
			return "", err
		}
		if err := p.charges.NoteReference(ctx, d.Subject, intent.Reference); err != nil {
			return "", err
		}
		d.Reference = intent.Reference
	}
	return provider.Cancel(ctx, d.Account, d.Reference)
}
