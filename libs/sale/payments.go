package sale

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/sethvargo/go-retry"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// Opening creates the online payment of a sale that is already stored. The caller
// must not have an open database transaction. P is the type of a created payment.
type Opening[P any] struct {
	Kind event.SubjectKind
	ID   uuid.UUID // id of the sale
	// Create creates the payment at the provider. If it returns an error, the payment may exist nevertheless.
	Create func(ctx context.Context) (P, error)
	// Store stores that the payment is open. If Store returns a fault with code outcome_unknown, the payment
	// may be stored as open. After any other error, the payment is not stored as open and never will be.
	Store func(ctx context.Context, created P) error
	// Cancel cancels the sale. It is idempotent. If Create failed, the argument `created` is the zero value.
	Cancel func(ctx context.Context, created P, cause error) error
	// CancelTimeout is the time limit for all calls of Cancel together.
	// The calls continue after the deadline of the request.
	CancelTimeout time.Duration
	Log           *slog.Logger
}

// NotOpenedError reports that a payment could not be opened, and that its sale is therefore cancelled.
type NotOpenedError struct{ Cause error }

func (e *NotOpenedError) Error() string { return "the payment could not be opened: " + e.Cause.Error() }

// Open creates the payment and then stores that it is open. If Create or Store
// fails, Open calls Cancel to cancel the sale. If the process dies, or if Cancel
// does not succeed in time, the reconciliation job of the service cancels the sale.
//
// Errors: [*NotOpenedError]; the error of Store if its code is outcome_unknown. In the second case Open does
// not cancel the sale: a repeated request may have returned the payment, and the customer may have paid.
func (o Opening[P]) Open(ctx context.Context) (P, error) {
	var none P
	created, err := o.Create(ctx)
	if err == nil {
		err = o.Store(ctx, created)
		if err == nil {
			return created, nil
		}
		if fault.Is(err, fault.OutcomeUnknown) {
			return none, err
		}
	}
	o.Log.WarnContext(ctx, "a payment could not be opened; its sale is cancelled", "kind", o.Kind, "subject", o.ID,
		"error", err)
	o.cancelSale(ctx, created, err)
	return none, &NotOpenedError{err}
}

// cancelPause is the time between two attempts to cancel a sale whose payment could not be opened.
const cancelPause = 50 * time.Millisecond

// cancelSale cancels the sale with the system as actor. It retries until Cancel succeeds or CancelTimeout has passed.
func (o Opening[P]) cancelSale(ctx context.Context, created P, cause error) {
	ctx, cancel := context.WithTimeout(actor.AsSystem(context.WithoutCancel(ctx)), o.CancelTimeout)
	defer cancel()
	err := retry.Constant(ctx, cancelPause, func(ctx context.Context) error {
		try, stop := context.WithTimeout(ctx, o.CancelTimeout/3)
		defer stop()
		return retry.RetryableError(o.Cancel(try, created, cause))
	})
	if err != nil {
		o.Log.WarnContext(ctx, "an unpaid sale stays until the reconciliation cancels it", "subject", o.ID, "error",
			err)
	}
}
