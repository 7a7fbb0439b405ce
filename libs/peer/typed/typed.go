// Package typed decodes what peers answer: the clients of all internal APIs ask through it. It knows no HTTP client, so that packages
// of values may hold a client, too.
package typed

import "context"

// Caller sends one request of a peer and decodes its answer; *peer.Client is the one outside tests. Its errors are faults.
type Caller interface {
	Call(ctx context.Context, method, path string, in, out any) error
}

// Asker is a [Caller] of a POST that changes nothing.
type Asker interface {
	Ask(ctx context.Context, path string, in, out any) error
}

// Call returns the answer to a request whose body is in; nil sends none.
func Call[T any](ctx context.Context, peer Caller, method, path string, in any) (*T, error) {
	out := new(T)
	if err := peer.Call(ctx, method, path, in, out); err != nil {
		return nil, err
	}
	return out, nil
}

// Ask returns the answer to a POST that changes nothing.
func Ask[T any](ctx context.Context, peer Asker, path string, in any) (*T, error) {
	out := new(T)
	if err := peer.Ask(ctx, path, in, out); err != nil {
		return nil, err
	}
	return out, nil
}
