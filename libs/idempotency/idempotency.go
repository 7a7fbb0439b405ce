// Package idempotency carries the Idempotency-Key of a request in its context: from the server that reads it to the store that
// makes the write once, and to the client that passes it on to the service that does.
package idempotency

import (
	"context"
	"crypto/sha256"
)

// Header is the request header by which a client names a write, so that it is done once however often it is sent.
const Header = "Idempotency-Key"

// Request is what a client named, and what it asked for under that name.
type Request struct {
	Key  string            // "": the client named nothing
	Hash [sha256.Size]byte // of all that was asked for, such as the method, the path and the body
	// Holder is who chose the key, where several who do not know of each other write for one business; "": the business itself.
	Holder string
}

type requestKey struct{}

// With returns a context of the request.
func With(ctx context.Context, r Request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

// HeldBy returns a context in which the key is that of a holder: the same key of another names another write.
func HeldBy(ctx context.Context, holder string) context.Context {
	r := Of(ctx)
	r.Holder = holder
	return With(ctx, r)
}

// Of returns the request of a context; its Key is "" where the client named nothing.
func Of(ctx context.Context) Request {
	r, _ := ctx.Value(requestKey{}).(Request)
	return r
}
