package bulkhead

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func TestTenantsHaveSeparatePlaces(t *testing.T) {
	t.Parallel()
	tenants := New(2)
	var leaves []func()
	for range 2 {
		leave, err := tenants.Enter(t.Context(), "busy")
		if err != nil {
			t.Fatal(err)
		}
		leaves = append(leaves, leave)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tenants.Enter(over, "busy"); !errors.Is(err, context.Canceled) {
		t.Errorf("a third place: %v", err)
	}
	other, err := tenants.Enter(t.Context(), "other")
	if err != nil {
		t.Fatalf("a place for another tenant: %v", err)
	}
	other()
	leaves[0]()
	again, err := tenants.Enter(t.Context(), "busy")
	if err != nil {
		t.Fatalf("a place that was left: %v", err)
	}
	again()
	leaves[1]()
	if n := len(tenants.busy); n != 0 {
		t.Errorf("%d tenants are remembered that have no work", n)
	}
}

func TestEnterBoundsConcurrentWork(t *testing.T) {
	t.Parallel()
	tenants := New(3)
	var at, most atomic.Int64
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			leave, err := tenants.Enter(t.Context(), "one")
			if err != nil {
				t.Error(err)
				return
			}
			defer leave()
			n := at.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			at.Add(-1)
		})
	}
	all.Wait()
	if most.Load() > 3 {
		t.Errorf("%d callers worked at the same time, want at most 3", most.Load())
	}
}

func TestSharedRunsWorkOnceForConcurrentCallers(t *testing.T) {
	t.Parallel()
	var s Shared[int]
	var done atomic.Int64
	begun, hold := make(chan struct{}), make(chan struct{})
	work := func(context.Context) (int, error) {
		if done.Add(1) == 1 {
			close(begun)
		}
		<-hold
		return 7, nil
	}
	first, giveUp := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() { _, err := s.Do(first, "key", work); gone <- err }()
	<-begun
	giveUp() // the first caller leaves, and the work continues
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("a caller whose context was cancelled got %v", err)
	}
	second := make(chan int, 1)
	go func() {
		n, err := s.Do(t.Context(), "key", work)
		if err != nil {
			t.Error(err)
		}
		second <- n
	}()
	if n, err := s.Do(t.Context(), "another", func(context.Context) (int, error) { return 8, nil }); n != 8 ||
		err != nil {
		t.Errorf("another key: %d, %v", n, err)
	}
	close(hold)
	if n := <-second; n != 7 {
		t.Errorf("got %d", n)
	}
}

func TestSharedConvertsPanicToError(t *testing.T) {
	t.Parallel()
	var s Shared[int]
	_, err := s.Do(t.Context(), "key", func(context.Context) (int, error) { panic("broken") })
	if err == nil || !strings.Contains(err.Error(), "panic: broken") {
		t.Errorf("got %v", err)
	}
}

func TestEachContinuesAfterFailure(t *testing.T) {
	t.Parallel()
	var done []string
	broken := errors.New("broken")
	work := func(_ context.Context, tenant string) error {
		if tenant != "good" {
			return broken
		}
		done = append(done, tenant)
		return nil
	}
	err := Each(t.Context(), []string{"bad", "good", "worse", "good"}, work)
	if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "2 of 4: ") || len(done) != 2 {
		t.Errorf("done for %v: %v", done, err)
	}
	if err := Each(t.Context(), done, work); err != nil {
		t.Errorf("nothing failed, but %v", err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Each(over, []string{"good"}, work); !errors.Is(err, context.Canceled) || len(done) != 4 {
		t.Errorf("after its end it is done for %v: %v", done, err)
	}
}
