// Package idempotency stores the Idempotency-Key of a request in the request's context. The server reads the
// key from the header. Stores use the key to make a write only once. Clients forward the key to other services.
package idempotency

import (
	"context"
	"crypto/sha256"

	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// Header is the name of the request header with the idempotency key. If several requests have the same key, the service
// makes the write only once.
const Header = "Idempotency-Key"

// Request is the idempotency key of a request, together with a hash of the request.
type Request struct {
	Key  string            // the value of the header; "" if the client sent none
	Hash [sha256.Size]byte // hash of the whole request, for example of its method, path and body
	// Holder identifies the client that chose the key, if several independent
	// clients write for one business. "" stands for the business itself.
	Holder string
}

type requestKey struct{}

// With returns a context that holds `r`.
func With(ctx context.Context, r Request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

// WithHolder returns a context in which the argument `holder` is the Holder of the idempotency key. If two holders use
// the same key, the key identifies two different writes.
func WithHolder(ctx context.Context, holder string) context.Context {
	r := Of(ctx)
	r.Holder = holder
	return With(ctx, r)
}

// Of returns the [Request] that ctx holds. The Key of the result is "" if the client sent no key.
func Of(ctx context.Context) Request {
	r, _ := ctx.Value(requestKey{}).(Request)
	return r
}

// NewInProgressFault returns the fault for a request with the same key as another request that is still in progress.
func NewInProgressFault() error {
	return fault.New(fault.IdempotencyInProgress,
		Header+": a request with this key is still in flight; try again shortly.")
}
