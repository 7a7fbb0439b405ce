// Package caller carries who is calling from the gate to the tools.
package caller

import (
	"context"
	"time"
)

// Caller is the holder of an API key.
type Caller struct {
	Slug          string    // of the business that the key names
	Scope         string    // one of booking.Scope…
	Authorization string    // the header as it came, for booking
	Until         time.Time // when a tool must have done, so that the answer comes within the request's time
}

type key struct{}

// With returns a context of a request by c.
func With(ctx context.Context, c Caller) context.Context { return context.WithValue(ctx, key{}, c) }

// Of returns who makes the request; outside one, nobody: a caller without a scope, who may do nothing.
func Of(ctx context.Context) Caller {
	c, _ := ctx.Value(key{}).(Caller)
	return c
}
