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

// ArrivalTime returns the time at which the request of ctx arrived, or the current time if ctx has none. It is the
// machine's time, even if the service's clock shows another time. The time distinguishes attempts at the same write.
func ArrivalTime(ctx context.Context) time.Time {
	if at, ok := ctx.Value(arrivalKey{}).(time.Time); ok {
		return at
	}
	return time.Now()
}
