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

	"github.com/slotmesh/slotmesh/libs/actor"
	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/telemetry"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// Payments brings charges and what they are of, bookings and orders of tickets, into line, by the providers' notices and by looking: what is
// held for a charge that was never opened is freed, charges of what is off are cancelled or refunded, what is owed of cancellations is
// refunded, and what was not paid in time is cancelled.
type Payments struct {
	charges  *store.Store
	options  PaymentOptions
	clock    clock.Clock
	tel      *telemetry.Telemetry
	outcomes metric.Int64Counter
}

// NewPayments returns payments by these options.
func NewPayments(charges *store.Store, options PaymentOptions, c clock.Clock, tel *telemetry.Telemetry) *Payments {
	return &Payments{
		charges: charges, options: options, clock: c, tel: tel,
		outcomes: tel.Counter("slotmesh.payments.reconciled", "Charges that the reconciliation looked at, by outcome: released, paid, cancelled, failed; of a refund refunded, refused or pending."),
	}
}

// Notice acts on a provider's notice. One of a charge that is not known is none of ours: it may be another installation's.
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

// find finds what a notice is of. Errors: [store.ErrNotFound].
func (p *Payments) find(ctx context.Context, provider string, n payment.Notice) (uuid.UUID, uuid.UUID, error) {
	businessID, subjectID, err := p.charges.FindPayment(ctx, provider, n.Account, n.Reference)
	if errors.Is(err, store.ErrNotFound) && n.Subject.ID != uuid.Nil {
		businessID, subjectID = n.Subject.BusinessID, n.Subject.ID
		err = p.charges.HasPayment(ctx, n.Subject, provider, n.Account)
	}
	return businessID, subjectID, err
}

// news notes what was done with a payment at the provider: it is asked, as such a notice does not say what it is of. One of a charge that is
// not known is none of ours.
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
		return err // the provider tells again
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

// note keeps how a charge ended.
func (p *Payments) note(ctx context.Context, businessID, subjectID uuid.UUID, outcome payment.Outcome) error {
	switch now := p.clock.Now(); outcome {
	case payment.Paid:
		return p.charges.PaymentPaid(ctx, businessID, subjectID, now)
	default:
		return p.charges.PaymentCancelled(ctx, businessID, subjectID, now)
	}
}

// noteRefund keeps how a refund ended. A refusal is the owner's to act on, who is shown its reason.
func (p *Payments) noteRefund(ctx context.Context, businessID, subjectID uuid.UUID, number int, said payment.RefundState) error {
	changed, err := p.charges.RefundEnded(ctx, businessID, subjectID, number, said, p.clock.Now())
	if changed && said.Status == payment.RefundRefused {
		p.tel.Logger.WarnContext(ctx, "the payment provider refused a refund", "subject", subjectID, "refund", number, "reason", said.Reason)
	}
	return err
}

// reconcileEvery is how often the reconciliation runs. Half a minute more that a slot is held harms little.
const reconcileEvery = 30 * time.Second

// Run reconciles at once and then every half a minute, until ctx ends. A store that is away is tried again.
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

// reconcileAtOnce is how many businesses' charges are ended at the same time. Of each business it is one, so that a business with very
// many, or one whose charges the provider leaves hanging, takes one of these places.
const reconcileAtOnce = 8

// Reconcile ends the charges that are due until none is: those of one business one after the other, businesses in turn. A charge that
// cannot be ended is left for later. Before each, time is freed: so however many charges a provider leaves hanging, that waits for one
// call at most.
func (p *Payments) Reconcile(ctx context.Context) error {
	ctx = actor.AsSystem(ctx)
	var (
		all  sync.WaitGroup
		done = make(chan uuid.UUID, reconcileAtOnce)
		busy = []uuid.UUID{}
		last uuid.UUID // business whose turn it was
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

// next frees the time of unfinished bookings, and leases a charge of the business whose turn it is.
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
		p.tel.Logger.WarnContext(ctx, "a charge stays unsettled for now", "kind", due.Kind, "subject", due.ID, "error", err)
		outcome = "failed"
	}
	p.count(ctx, outcome, 1)
}

func (p *Payments) count(ctx context.Context, outcome string, n int) {
	p.outcomes.Add(ctx, int64(n), metric.WithAttributes(attribute.String("outcome", outcome)))
}

// conclude refunds a charge or makes sure that it cannot be paid any more, notes what has become of it and returns that.
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

// close makes sure that a charge cannot be paid. Where it is not known whether there is one, it is created under the
// subject's idempotency key: the provider then names the one there is, or makes one that nobody can pay.
func (p *Payments) close(ctx context.Context, provider payment.Provider, d payment.Due) (payment.Outcome, error) {
	if d.Reference == "" && d.OnCheckout {
		return payment.Cancelled, nil // nobody was given the address of the page
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
