package reading

import (
	"context"
	"errors"
	"math"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

var source = []byte("slug: shop\nname: Shop\n")

// two returns a memory budget for two sources.
func two() *memoryBudget { return newMemoryBudget(2*manifest.Cost(source) + 1) }

// hold reserves the memory for a source of a business until the returned function is called.
func hold(t *testing.T, r *memoryBudget, business string) func() {
	t.Helper()
	started, end, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- r.run(t.Context(), business, func(func() bool) error {
			close(started)
			<-end
			return nil
		}, source)
	}()
	<-started
	return func() {
		close(end)
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// ending returns the context of a request that ends while it waits for memory that is never released.
func ending(t *testing.T) context.Context {
	t.Helper()
	ctx, end := context.WithTimeout(t.Context(), 20*time.Millisecond)
	t.Cleanup(end)
	return ctx
}

func never(t *testing.T) func(func() bool) error {
	return func(func() bool) error {
		t.Error("a manifest is parsed without memory from the budget")
		return nil
	}
}

func isLate(err error) bool {
	return fault.Is(err, fault.PeerUnavailable) && fault.Of(err).RetrySeconds() == 1
}

func TestParsingStaysWithinMemoryBudget(t *testing.T) {
	t.Parallel()
	r := two()
	first, second := hold(t, r, "a"), hold(t, r, "b")
	if err := r.run(ending(t), "c", never(t), source); !isLate(err) {
		t.Errorf("a third: %v", err)
	}
	first()
	hold(t, r, "c")()
	second()
	if !r.free.TryAcquire(r.bytes) {
		t.Error("a part of the memory was not released")
	}
}

func TestBusinessParsesOneManifestAtATime(t *testing.T) {
	t.Parallel()
	r := two()
	done := hold(t, r, "a")
	if err := r.run(ending(t), "a", never(t), source); !isLate(err) {
		t.Errorf("its second: %v", err)
	}
	hold(t, r, "b")()
	done()
}

func TestTooLargeManifestIsRefusedImmediately(t *testing.T) {
	t.Parallel()
	r := two()
	large := []byte(strings.Repeat("a: b\n", 100))
	if err := r.run(t.Context(), "a", never(t), large); !fault.Is(err, fault.PayloadTooLarge) {
		t.Errorf("a manifest that is too large: %v", err)
	}
	several := 0
	err := r.run(t.Context(), "a", func(func() bool) error { several++; return nil }, source, source, source)
	if err != nil || several != 1 {
		t.Errorf("several that fit one by one: %v", err)
	}
}

func TestParsingStopsWhenRequestEnds(t *testing.T) {
	t.Parallel()
	r := two()
	ctx, end := context.WithCancel(t.Context())
	err := r.run(ctx, "a", func(stop func() bool) error {
		if stop() {
			t.Error("stopped before its end")
		}
		end()
		_, _, err := manifest.ParseUntil(source, 0, stop)
		return err
	}, source)
	if !isLate(err) || !errors.Is(err, manifest.ErrStopped) || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	broken := errors.New("broken")
	if err := r.run(t.Context(), "a", func(func() bool) error { return broken }, source); !errors.Is(err, broken) {
		t.Errorf("what went wrong otherwise: %v", err)
	}
}

func TestBudgetIsShareOfMemoryLimit(t *testing.T) {
	t.Parallel()
	if got := budgetOf(400 << 20); got != 300<<20 {
		t.Errorf("the budget of 400 MiB is %d MiB", got>>20)
	}
	if got := budgetOf(math.MaxInt64); got != 1<<30 {
		t.Errorf("the budget without a limit is %d MiB", got>>20)
	}
}

// TestProcessBudgetFollowsMemoryLimit shows that the budget is a share of the memory limit of the process. A process
// sets this limit at its start, from the limit of its container.
func TestProcessBudgetFollowsMemoryLimit(t *testing.T) {
	before := debug.SetMemoryLimit(400 << 20)
	defer debug.SetMemoryLimit(before)
	if room := processBudget(); room.bytes != 300<<20 {
		t.Errorf("the budget of a process with 400 MiB is %d bytes", room.bytes)
	}
}
