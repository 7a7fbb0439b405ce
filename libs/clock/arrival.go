package clock

import (
	"context"
	"time"
)

type arrivalKey struct{}

// WithArrival returns a context with the time at which its request arrived, by the machine's clock.
func WithArrival(ctx context.Context, at time.Time) context.Context {
	return context.WithValue(ctx, arrivalKey{}, at)
}

// Arrived returns the time at which the request of a context arrived, by the machine's clock even if the services
// use another time. Without such a time it returns the current time. It distinguishes attempts at one write.
func Arrived(ctx context.Context) time.Time {
	if at, ok := ctx.Value(arrivalKey{}).(time.Time); ok {
		return at
	}
	return time.Now()
}
