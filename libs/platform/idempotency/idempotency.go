// Package idempotency stores the Idempotency-Key of a request in its context. The server reads the header and
// sets the key. The store uses the key to make the write once. A client forwards the key to another service.
package idempotency

import (
	"context"
	"crypto/sha256"
)

// Header is the request header by which a client identifies a write, so that repeated requests make it once.
const Header = "Idempotency-Key"

// Request is a client's key with a hash of the request.
type Request struct {
	Key  string            // "": no key was sent
	Hash [sha256.Size]byte // of the whole request, such as method, path and body
	// Holder is the owner of the key, if several independent clients write for one business; "" is the business itself.
	Holder string
}

type requestKey struct{}

// With returns a context with the request.
func With(ctx context.Context, r Request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

// WithHolder returns a context in which the key belongs to a holder.
// The same key of another holder identifies another write.
func WithHolder(ctx context.Context, holder string) context.Context {
	r := Of(ctx)
	r.Holder = holder
	return With(ctx, r)
}

// Of returns the request of a context; its Key is "" if the client sent none.
func Of(ctx context.Context) Request {
	r, _ := ctx.Value(requestKey{}).(Request)
	return r
}
