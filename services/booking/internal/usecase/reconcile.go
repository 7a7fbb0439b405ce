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
	"github.com/slotmesh/slotmesh/libs/platform/periodic"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// Payments keeps charges consistent with their bookings, orders of tickets and reservations.
// It processes the notices of providers, and it checks the stored charges periodically:
//
//   - it frees time and tickets if their charge was never opened;
//   - it cancels or refunds charges of cancelled bookings and orders;
//   - it makes the refunds of cancellations at the provider;
//   - it cancels bookings and orders that were not paid in time.
type Payments struct {
	records  *store.Store
	options  PaymentOptions
	clock    clock.Clock
	tel      *telemetry.Telemetry
	outcomes metric.Int64Counter
}

// NewPayments returns a Payments with the given options.
func NewPayments(records *store.Store, options PaymentOptions, c clock.Clock, tel *telemetry.Telemetry) *Payments {
	return &Payments{
		records: records, options: options, clock: c, tel: tel,
		outcomes: tel.Counter("slotmesh.payments.reconciled",
			"Charges that the reconciliation processed, by outcome: released, paid, cancelled, failed; of a refund "+
				"refunded, refused or pending."),
	}
}

// HandleNotice processes a provider's notice about a charge. It ignores the notice if the
// charge is unknown, because the charge may belong to another installation of Slotmesh.
func (p *Payments) HandleNotice(ctx context.Context, provider string, n payment.Notice) error {
	ctx = actor.With(ctx, actor.Actor{Kind: actor.Provider})
	if n.HasChangedRefunds || n.Dispute != nil {
		return p.storeExternalChanges(ctx, provider, n)
	}
	businessID, subjectID, err := p.findSubject(ctx, provider, n)
	if err == nil {
		switch {
		case n.Outcome != "":
			err = p.storeOutcome(ctx, businessID, subjectID, n.Outcome)
		case !n.FailedAt.IsZero():
			err = p.records.MarkAttemptFailed(ctx, businessID, subjectID, n.FailedAt, p.clock.Now())
		case n.Refund != nil:
			err = p.storeRefund(ctx, businessID, subjectID, n.Refund.Number, n.Refund.RefundState)
		}
	}
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// findSubject returns the id of the business and the id of the booking, order or reservation
// that a notice is about. Errors: [store.ErrNotFound] if the charge is unknown.
func (p *Payments) findSubject(ctx context.Context, provider string, n payment.Notice) (uuid.UUID, uuid.UUID, error) {
	businessID, subjectID, err := p.records.FindPayment(ctx, provider, n.Account, n.Reference)
	if errors.Is(err, store.ErrNotFound) && n.Subject.ID != uuid.Nil {
		businessID, subjectID = n.Subject.BusinessID, n.Subject.ID
		err = p.records.CheckPayment(ctx, n.Subject, provider, n.Account)
	}
	return businessID, subjectID, err
}

// storeExternalChanges stores disputes, and refunds that the business made at the
// provider instead of through Slotmesh. The notice of such a change does not contain the
// id of the booking, order or reservation. Therefore storeExternalChanges reads this id
// from the provider. Like HandleNotice, storeExternalChanges ignores unknown charges.
func (p *Payments) storeExternalChanges(ctx context.Context, provider string, n payment.Notice) error {
	reader, canRead := p.options.Providers[provider].(payment.RefundReader)
	if !canRead {
		return nil
	}
	asking, cancel := context.WithTimeout(ctx, p.options.CallTimeout)
	defer cancel()
	found, err := reader.ReadExternalRefunds(asking, n.Account, n.Reference)
	if errors.Is(err, payment.ErrRefused) {
		return nil
	}
	if err != nil {
		return err // the provider sends the notice again
	}
	n.Subject = found.Subject
	businessID, subjectID, err := p.findSubject(ctx, provider, n)
	if err == nil && n.Dispute != nil {
		err = p.records.StoreDispute(ctx, businessID, subjectID, *n.Dispute, p.clock.Now())
	}
	if err == nil && n.HasChangedRefunds {
		err = p.records.StoreExternalRefunds(ctx, businessID, subjectID, found.Sum, p.clock.Now())
	}
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// storeOutcome stores the outcome of a closed charge.
func (p *Payments) storeOutcome(ctx context.Context, businessID, subjectID uuid.UUID, outcome payment.Outcome) error {
	switch now := p.clock.Now(); outcome {
	case payment.Paid:
		return p.records.MarkPaid(ctx, businessID, subjectID, now)
	default:
		return p.records.MarkCancelled(ctx, businessID, subjectID, now)
	}
}

// storeRefund stores the state of a refund. If the provider has refused the refund, storeRefund
// logs the refusal. The owner sees the reason and must refund the customer in another way.
func (p *Payments) storeRefund(ctx context.Context, businessID, subjectID uuid.UUID, number int,
	state payment.RefundState) error {
	changed, err := p.records.StoreRefundResult(ctx, businessID, subjectID, number, state, p.clock.Now())
	if changed && state.Status == payment.RefundRefused {
		p.tel.Logger.WarnContext(ctx, "the payment provider refused a refund", "subject", subjectID, "refund", number,
			"reason", state.Reason)
	}
	return err
}

// reconcileEvery is the interval between two runs of the reconciliation. A slot may
// stay occupied for one interval longer than necessary, which does little harm.
const reconcileEvery = 30 * time.Second

// Run reconciles immediately and then every 30 seconds, until `ctx` ends.
// If the database is unavailable, Run tries again after the next interval.
func (p *Payments) Run(ctx context.Context) error {
	return periodic.Job{Every: reconcileEvery, FailureMessage: "the reconciliation failed; the next run retries",
		Do: p.Reconcile}.Run(ctx, p.tel.Logger)
}

// maxConcurrentCharges is the maximum number of concurrent calls to providers.
// Concurrent calls are for charges of different businesses. Therefore a business
// with many charges, or with a slow provider, delays other businesses only slightly.
const maxConcurrentCharges = 8

// Reconcile closes or refunds all charges that are due. It processes only one charge of a business at a time,
// and takes the next charge from another business if possible. If a charge fails, a later run tries again.
//
// Before each charge, Reconcile frees the time of bookings whose charge was never opened.
// Therefore the release of this time is delayed by at most one call to a provider.
func (p *Payments) Reconcile(ctx context.Context) error {
	ctx = actor.AsSystem(ctx)
	var (
		all  sync.WaitGroup
		done = make(chan uuid.UUID, maxConcurrentCharges)
		busy = []uuid.UUID{}
		last uuid.UUID // the business of the last leased charge
	)
	defer all.Wait()
	for {
		due, err := p.leaseNext(ctx, last, busy)
		switch {
		case err == nil:
			last, busy = due.BusinessID, append(busy, due.BusinessID)
			all.Go(func() {
				p.finish(ctx, due)
				done <- due.BusinessID
			})
		case !errors.Is(err, store.ErrNotFound):
			return err
		case len(busy) == 0:
			return nil
		}
		if err == nil && len(busy) < maxConcurrentCharges {
			continue
		}
		ended := <-done
		busy = slices.DeleteFunc(busy, func(id uuid.UUID) bool { return id == ended })
	}
}

// leaseNext frees the time of bookings whose charge was never opened. Then it leases a due
// charge of a business that the argument `busy` does not contain. If possible, the charge is
// not of the business in the argument `last`. Errors: [store.ErrNotFound] if no charge is due.
func (p *Payments) leaseNext(ctx context.Context, last uuid.UUID, busy []uuid.UUID) (payment.Due, error) {
	released, err := p.records.CancelUnopened(ctx, p.clock.Now())
	p.count(ctx, "released", released)
	if err != nil {
		return payment.Due{}, err
	}
	return p.records.LeaseDue(ctx, last, busy, p.clock.Now())
}

func (p *Payments) finish(ctx context.Context, due payment.Due) {
	outcome, err := p.conclude(ctx, due)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		p.tel.Logger.WarnContext(ctx, "a charge could not be closed or refunded; the next run retries", "kind", due.Kind, "subject", due.ID, "error",
			err)
		outcome = "failed"
	}
	p.count(ctx, outcome, 1)
}

func (p *Payments) count(ctx context.Context, outcome string, n int) {
	p.outcomes.Add(ctx, int64(n), metric.WithAttributes(attribute.String("outcome", outcome)))
}

// conclude refunds or closes a charge, stores the outcome and returns it.
func (p *Payments) conclude(ctx context.Context, d payment.Due) (string, error) {
	provider, ok := p.options.Providers[d.Provider]
	if !ok {
		return "", fmt.Errorf("the provider %s is not connected", d.Provider)
	}
	asking, cancel := context.WithTimeout(ctx, p.options.CallTimeout)
	defer cancel()
	if d.RefundNumber > 0 {
		state, err := provider.Refund(asking, d.Refund())
		if err != nil {
			return "", err
		}
		return string(state.Status), p.storeRefund(ctx, d.BusinessID, d.ID, d.RefundNumber, state)
	}
	outcome, err := p.close(asking, provider, d)
	if err != nil {
		return "", err
	}
	return string(outcome), p.storeOutcome(ctx, d.BusinessID, d.ID, outcome)
}

// close closes a charge, so that the customer can no longer pay it. If it is unknown whether
// the provider has created the charge, close creates the charge with the same idempotency key.
// The provider then returns the existing charge, or a new charge that no customer can pay.
func (p *Payments) close(ctx context.Context, provider payment.Provider, d payment.Due) (payment.Outcome, error) {
	if d.Reference == "" && d.OnCheckout {
		return payment.Cancelled, nil // no customer received the URL of the page
	}
	if d.Reference == "" {
		intent, err := provider.Create(ctx, d.Charge)
		if errors.Is(err, payment.ErrRefused) {
			return payment.Cancelled, nil
		}
		if err != nil {
			return "", err
		}
		if err := p.records.StoreReference(ctx, d.Subject, intent.Reference); err != nil {
			return "", err
		}
		d.Reference = intent.Reference
	}
	return provider.Cancel(ctx, d.Account, d.Reference)
}
