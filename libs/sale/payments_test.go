package sale_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/sale"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

var errBroken = errors.New("the connection broke")

// TestOpenCancelsUnopenedSale shows that a sale is taken back if its payment is certainly not stored as open.
// The sale stays if the payment may be stored.
func TestOpenCancelsUnopenedSale(t *testing.T) {
	t.Parallel()
	for _, kind := range []event.SubjectKind{event.Booking, event.Ticket, event.Reservation} {
		for name, c := range map[string]struct {
			create, store error
			takenBack     bool
		}{
			"opened":                     {},
			"not created":                {create: errBroken, takenBack: true},
			"creation with unknown end":  {create: fault.Unknown(errBroken), takenBack: true},
			"not stored":                 {store: errBroken, takenBack: true},
			"stored with unknown result": {store: fault.Unknown(errBroken)},
		} {
			t.Run(string(kind)+" "+name, func(t *testing.T) {
				t.Parallel()
				cancelled := ""
				ctx, cancel := context.WithCancel(context.Background())
				_, err := sale.Opening[string]{
					Kind: kind, CancelTimeout: time.Minute, Log: slog.New(slog.DiscardHandler),
					Create: func(context.Context) (string, error) {
						if c.create != nil {
							cancel() // the customer's request ends
							return "", c.create
						}
						return "reference", nil
					},
					Store: func(context.Context, string) error {
						if c.store != nil {
							cancel()
						}
						return c.store
					},
					Cancel: func(ctx context.Context, created string, cause error) error {
						if ctx.Err() != nil || actor.Of(ctx).Kind != actor.System || !errors.Is(cause, errBroken) {
							t.Errorf("cancelled by %v after %v: %v", actor.Of(ctx), cause, ctx.Err())
						}
						cancelled = "without a reference"
						if created != "" {
							cancelled = "with a reference"
						}
						return nil
					},
				}.Open(ctx)
				cancel()
				var failed *sale.NotOpenedError
				want := ""
				if c.takenBack {
					want = "without a reference"
					if c.create == nil {
						want = "with a reference"
					}
				}
				if errors.As(err, &failed) != c.takenBack || cancelled != want || (err == nil) != (name == "opened") {
					t.Errorf("err %v, cancelled %q, want %q", err, cancelled, want)
				}
			})
		}
	}
}

func TestOpenRetriesCancel(t *testing.T) {
	t.Parallel()
	attempts := 0
	opening := sale.Opening[string]{
		CancelTimeout: time.Minute, Log: slog.New(slog.DiscardHandler),
		Create: func(context.Context) (string, error) { return "", errBroken },
		Cancel: func(context.Context, string, error) error {
			if attempts++; attempts < 3 {
				return errBroken
			}
			return nil
		},
	}
	if _, err := opening.Open(context.Background()); attempts != 3 || err == nil {
		t.Errorf("%d attempts, %v", attempts, err)
	}
}
