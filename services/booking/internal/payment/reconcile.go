package payment

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/telemetry"
)

// Due is a charge to be settled: cancelled, or refunded where Refund says so. Reference is "" where it is not known
// whether there is a charge.
type Due struct {
	Charge
	Provider  string
	Reference string
	Refund    bool
}

// Ledger keeps what became of charges; store.Store says what its methods do and return.
type Ledger interface {
	ReleaseUnfinished(ctx context.Context, now time.Time) (int, error)
	LeaseDue(ctx context.Context, now time.Time) (*Due, error)
	NoteReference(ctx context.Context, businessID, bookingID uuid.UUID, reference string) error
	PaymentPaid(ctx context.Context, businessID, bookingID uuid.UUID, now time.Time) error
	PaymentCancelled(ctx context.Context, businessID, bookingID uuid.UUID, now time.Time) error
	PaymentRefunded(ctx context.Context, businessID, bookingID uuid.UUID, now time.Time) error
}

// Reconciler brings bookings and charges into line: time held by bookings whose charge was never opened is freed,
// charges without a booking are cancelled or refunded, and bookings that were not paid in time are cancelled.
type Reconciler struct {
	ledger    Ledger
	providers Providers
	clock     clock.Clock
	within    time.Duration
	tel       *telemetry.Telemetry
	settled   metric.Int64Counter
}

// NewReconciler returns a reconciler that gives each call of a provider the time within.
func NewReconciler(l Ledger, p Providers, c clock.Clock, within time.Duration, tel *telemetry.Telemetry) *Reconciler {
	return &Reconciler{
		ledger: l, providers: p, clock: c, within: within, tel: tel,
		settled: tel.Counter("slotmesh.payments.reconciled", "Charges that the reconciliation looked at, by outcome: released, paid, cancelled, refunded or failed."),
	}
}

// reconcileEvery is how often the reconciliation runs. Half a minute more that a slot is held harms little.
const reconcileEvery = 30 * time.Second

// Run makes a step at once and then every half a minute, until ctx ends. A store that is away is tried again.
func (r *Reconciler) Run(ctx context.Context) error {
	ticker := time.NewTicker(reconcileEvery)
	defer ticker.Stop()
	for {
		if err := r.Step(ctx); err != nil && ctx.Err() == nil {
			r.tel.Logger.WarnContext(ctx, "payments stay unsettled for now", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// Step settles what is due, one charge after the other, until nothing is. A charge that cannot be settled is left for
// later. Before each, time is freed: so however many charges a provider leaves hanging, that waits for one call at most.
func (r *Reconciler) Step(ctx context.Context) error {
	for {
		if err := r.release(ctx); err != nil {
			return err
		}
		due, err := r.ledger.LeaseDue(ctx, r.clock.Now())
		if err != nil || due == nil {
			return err
		}
		outcome, err := r.settle(ctx, *due)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			r.tel.Logger.WarnContext(ctx, "a charge stays unsettled for now", "booking", due.BookingID, "error", err)
			outcome = "failed"
		}
		r.count(ctx, string(outcome), 1)
	}
}

func (r *Reconciler) release(ctx context.Context) error {
	released, err := r.ledger.ReleaseUnfinished(ctx, r.clock.Now())
	r.count(ctx, "released", released)
	return err
}

func (r *Reconciler) count(ctx context.Context, outcome string, n int) {
	r.settled.Add(ctx, int64(n), metric.WithAttributes(attribute.String("outcome", outcome)))
}

func (r *Reconciler) settle(ctx context.Context, d Due) (Outcome, error) {
	provider, ok := r.providers[d.Provider]
	if !ok {
		return "", fmt.Errorf("the provider %s is not connected", d.Provider)
	}
	asking, cancel := context.WithTimeout(ctx, r.within)
	defer cancel()
	if d.Refund {
		return r.refund(ctx, asking, provider, d)
	}
	outcome, err := r.close(asking, provider, d)
	switch {
	case err != nil:
		return "", err
	case outcome == Paid:
		return outcome, r.ledger.PaymentPaid(ctx, d.BusinessID, d.BookingID, r.clock.Now())
	}
	return outcome, r.ledger.PaymentCancelled(ctx, d.BusinessID, d.BookingID, r.clock.Now())
}

const refunded Outcome = "refunded"

func (r *Reconciler) refund(ctx, asking context.Context, provider Provider, d Due) (Outcome, error) {
	if err := provider.Refund(asking, d.Charge, d.Reference); err != nil {
		return "", err
	}
	return refunded, r.ledger.PaymentRefunded(ctx, d.BusinessID, d.BookingID, r.clock.Now())
}

// close makes sure that a charge cannot be paid. Where it is not known whether there is one, it is created under the
// booking's idempotency key: the provider then names the one there is, or makes one that nobody can pay.
func (r *Reconciler) close(ctx context.Context, provider Provider, d Due) (Outcome, error) {
	if d.Reference == "" {
		intent, err := provider.Create(ctx, d.Charge)
		if errors.Is(err, ErrRefused) {
			return Cancelled, nil
		}
		if err != nil {
			return "", err
		}
		if err := r.ledger.NoteReference(ctx, d.BusinessID, d.BookingID, intent.Reference); err != nil {
			return "", err
		}
		d.Reference = intent.Reference
	}
	return provider.Cancel(ctx, d.Account, d.Reference)
}
