// Package caller carries the identity of the caller from the gate to the tools.
package caller

import (
	"context"
	"time"
)

// Caller is the holder of an API key.
type Caller struct {
	Slug          string    // of the key's business
	Scope         string    // one of booking.Scope…
	Authorization string    // the request's header, for booking
	Until         time.Time // the deadline of a tool, early enough to respond in time
}

type key struct{}

// With returns a context with the caller c.
func With(ctx context.Context, c Caller) context.Context { return context.WithValue(ctx, key{}, c) }

// Of returns the caller of the request. Without a request it returns a caller without a scope, who may call no tool.
func Of(ctx context.Context) Caller {
	c, _ := ctx.Value(key{}).(Caller)
	return c
}
