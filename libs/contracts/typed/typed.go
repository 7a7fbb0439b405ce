// Package typed decodes the responses of services for the clients of internal APIs. It
// imports no HTTP client, so that packages that mainly hold types can also contain a client.
package typed

import "context"

// Caller sends one request to a peer service and decodes the
// response. Its errors are faults. *peer.Client implements it.
type Caller interface {
	Call(ctx context.Context, method, path string, in, out any) error
}

// Asker sends a POST that only reads. Otherwise it is like [Caller].
type Asker interface {
	Ask(ctx context.Context, path string, in, out any) error
}

// Call sends a request and returns the decoded response. The
// argument `in` is the body; if it is nil, the request has no body.
func Call[T any](ctx context.Context, peer Caller, method, path string, in any) (*T, error) {
	out := new(T)
	if err := peer.Call(ctx, method, path, in, out); err != nil {
		return nil, err
	}
	return out, nil
}

// Ask sends a POST that only reads, and returns the decoded response. The argument `in` is the body.
func Ask[T any](ctx context.Context, peer Asker, path string, in any) (*T, error) {
	out := new(T)
	if err := peer.Ask(ctx, path, in, out); err != nil {
		return nil, err
	}
	return out, nil
}
