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

// Opening opens the payment of a stored sale, outside any transaction. P is the payment as its creator returns it.
type Opening[P any] struct {
	Kind event.SubjectKind
	ID   uuid.UUID // of the sale
	// Create creates the payment. After an error it may exist.
	Create func(ctx context.Context) (P, error)
	// Store stores that the payment is open. After the fault outcome_unknown, it
	// may be stored. After any other error it is not and never will be.
	Store func(ctx context.Context, created P) error
	// TakeBack cancels the sale. It is idempotent. The argument created is the zero value after an error of Create.
	TakeBack func(ctx context.Context, created P, cause error) error
	// Within limits the time for TakeBack, which continues after the request's own deadline.
	Within time.Duration
	Log    *slog.Logger
}

// NotOpenedError means that a payment could not be opened, and that its sale was taken back.
type NotOpenedError struct{ Cause error }

func (e *NotOpenedError) Error() string { return "the payment could not be opened: " + e.Cause.Error() }

// Open creates the payment and then stores that it is open. If one of the two fails, Open takes the
// sale back. If the process dies, or the sale cannot be taken back in time, the reconciliation does it.
//
// Errors: [*NotOpenedError]; the fault outcome_unknown of Store. After that, a repeated request may have returned
// the payment already, and the customer may have paid it, so that the sale stays.
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
	o.Log.WarnContext(ctx, "a payment could not be opened; its sale is taken back", "kind", o.Kind, "subject", o.ID,
		"error", err)
	o.takeBack(ctx, created, err)
	return none, &NotOpenedError{err}
}

// takeBackPause is the time between two attempts to take back a sale.
const takeBackPause = 50 * time.Millisecond

// takeBack takes the sale back as the system. It retries until it succeeds or Within has passed.
func (o Opening[P]) takeBack(ctx context.Context, created P, cause error) {
	ctx, cancel := context.WithTimeout(actor.AsSystem(context.WithoutCancel(ctx)), o.Within)
	defer cancel()
	err := retry.Constant(ctx, takeBackPause, func(ctx context.Context) error {
		try, stop := context.WithTimeout(ctx, o.Within/3)
		defer stop()
		return retry.RetryableError(o.TakeBack(try, created, cause))
	})
	if err != nil {
		o.Log.WarnContext(ctx, "what was not paid stays until the reconciliation", "subject", o.ID, "error", err)
	}
}
