package server

import (
	"context"
	"errors"
	"testing"
	"time"
)

type someKey struct{}

func TestDeadlineEndsWaiters(t *testing.T) {
	t.Parallel()
	parent := context.WithValue(t.Context(), someKey{}, "kept")
	at := time.Now().Add(20 * time.Millisecond)
	ctx, end := newDeadline(parent, at)
	defer end()
	if got, ok := ctx.Deadline(); !ok || !got.Equal(at) {
		t.Errorf("deadline %v, %v", got, ok)
	}
	if ctx.Value(someKey{}) != "kept" {
		t.Error("the parent's value is lost")
	}
	below, cancel := context.WithCancel(ctx)
	defer cancel()
	<-below.Done()
	if !errors.Is(below.Err(), context.DeadlineExceeded) || !errors.Is(ctx.Err(), context.DeadlineExceeded) ||
		ctx.Value(someKey{}) != "kept" {
		t.Errorf("ended by %v, above %v", below.Err(), ctx.Err())
	}
}

func TestDeadlinePassesWithoutTimer(t *testing.T) {
	t.Parallel()
	ctx, end := newDeadline(t.Context(), time.Now().Add(-time.Second))
	defer end()
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Errorf("got %v", ctx.Err())
	}
	<-ctx.Done()
}

func TestDeadlineEndsWithRequestAndParent(t *testing.T) {
	t.Parallel()
	far := time.Now().Add(time.Hour)
	for _, waits := range []bool{false, true} {
		ctx, end := newDeadline(t.Context(), far)
		if waits {
			_ = ctx.Done()
		}
		if ctx.Err() != nil {
			t.Errorf("ended before its time by %v", ctx.Err())
		}
		end()
		end()
		<-ctx.Done()
		if !errors.Is(ctx.Err(), context.Canceled) {
			t.Errorf("ended by %v", ctx.Err())
		}

		parent, cancel := context.WithCancel(t.Context())
		ctx, end = newDeadline(parent, far)
		if waits {
			_ = ctx.Done()
		}
		cancel()
		if <-ctx.Done(); !errors.Is(ctx.Err(), context.Canceled) {
			t.Errorf("the parent's end shows as %v", ctx.Err())
		}
		end()
	}
	near, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ctx, end := newDeadline(near, far)
	defer end()
	if at, _ := ctx.Deadline(); !at.Before(far) {
		t.Errorf("the parent's nearer deadline is lost: %v", at)
	}
}

// Package context starts a goroutine for each child of a foreign context, unless it finds its own context in the chain.
func TestChildContextsNeedNoGoroutine(t *testing.T) {
	t.Parallel()
	ctx, end := newDeadline(t.Context(), time.Now().Add(time.Hour))
	below, cancel := context.WithCancel(ctx)
	defer cancel()
	end()
	if below.Err() == nil { // immediately, without a goroutine
		t.Error("a derived context has not ended")
	}
}
