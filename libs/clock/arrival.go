package clock

import (
	"context"
	"time"
)

type arrivalKey struct{}

// WithArrival notes in a request's context when the request reached us, by the machine's clock.
func WithArrival(ctx context.Context, at time.Time) context.Context {
	return context.WithValue(ctx, arrivalKey{}, at)
}

// Arrived is when the request of a context reached us, by the machine's clock whatever time the services are told it is: now,
// where that is not known. Attempts at one write are told apart by it.
func Arrived(ctx context.Context) time.Time {
	if at, ok := ctx.Value(arrivalKey{}).(time.Time); ok {
		return at
	}
	return time.Now()
}
