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

func TestTheSecondClickGetsWhatAFirstOneBooksThatTakesLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		begun := time.Now()
		done, err := once(ctx, "key", func(context.Context) (string, error) {
			if time.Since(begun) < 7*time.Second { // the request to a payment provider may take 5 s
				return "", inFlight
			}
			return "booked", nil
		})
		if err != nil || done != "booked" {
			t.Errorf("got %q, %v", done, err)
		}
	})
}

func TestTheSecondClickIsAnsweredWhileThereIsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		begun := time.Now()
		_, err := once(ctx, "key", func(context.Context) (string, error) { return "", inFlight })
		if took := time.Since(begun); !fault.Is(err, fault.IdempotencyInProgress) || took > 8*time.Second {
			t.Errorf("got %v after %s", err, took)
		}
	})
}
