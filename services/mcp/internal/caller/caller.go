// Package caller passes the identity of the caller from the gate to the tools, in the context of the request.
package caller

import (
	"context"
	"time"
)

// Caller is the holder of the API key with which a request was sent.
type Caller struct {
	Slug          string    // the slug of the business to which the key belongs
	Scope         string    // the scope of the key, one of booking.Scope…
	Authorization string    // the Authorization header of the request, to send to booking
	Until         time.Time // the deadline of a tool call, which is before the deadline of the request
}

type key struct{}

// With returns a copy of ctx that contains the caller c.
func With(ctx context.Context, c Caller) context.Context { return context.WithValue(ctx, key{}, c) }

// Of returns the caller that ctx contains. If ctx contains no
// caller, Of returns a caller without a scope, who may call no tool.
func Of(ctx context.Context) Caller {
	c, _ := ctx.Value(key{}).(Caller)
	return c
}
