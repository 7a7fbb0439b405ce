// Package typed decodes the answers of services for the clients of all internal APIs.
// It imports no HTTP client, so that packages of types may also contain a client.
package typed

import "context"

// Caller sends one request to a peer and decodes the answer; the implementation is *peer.Client. Its errors are faults.
type Caller interface {
	Call(ctx context.Context, method, path string, in, out any) error
}

// Asker sends a POST that changes nothing; see [Caller].
type Asker interface {
	Ask(ctx context.Context, path string, in, out any) error
}

// Call sends a request with the body in (nil sends none) and returns the decoded answer.
func Call[T any](ctx context.Context, peer Caller, method, path string, in any) (*T, error) {
	out := new(T)
	if err := peer.Call(ctx, method, path, in, out); err != nil {
		return nil, err
	}
	return out, nil
}

// Ask sends a POST that changes nothing and returns the decoded answer.
func Ask[T any](ctx context.Context, peer Asker, path string, in any) (*T, error) {
	out := new(T)
	if err := peer.Ask(ctx, path, in, out); err != nil {
		return nil, err
	}
	return out, nil
}
