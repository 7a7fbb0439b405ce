package usecase

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// inFlight is the fault that booking returns while it still handles the first of two equal requests.
var inFlight = fault.New(fault.IdempotencyInProgress, "A request with this key is still in flight.")

func TestCallIdempotentWaitsForSlowFirstRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		start := time.Now()
		result, err := callIdempotent(ctx, "key", func(context.Context) (string, error) {
			if time.Since(start) < 7*time.Second { // the request to a payment provider may take 5 s
				return "", inFlight
			}
			return "booked", nil
		})
		if err != nil || result != "booked" {
			t.Errorf("got %q, %v", result, err)
		}
	})
}

func TestCallIdempotentReturnsBeforeDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		start := time.Now()
		_, err := callIdempotent(ctx, "key", func(context.Context) (string, error) { return "", inFlight })
		if elapsed := time.Since(start); !fault.Is(err, fault.IdempotencyInProgress) || elapsed > 8*time.Second {
			t.Errorf("got %v after %s", err, elapsed)
		}
	})
}
