package clock

import (
	"context"
	"time"
)

type arrivalKey struct{}

// WithArrival returns a context that holds the arrival time of a request. The argument `at` is this time, according to
// the machine's clock.
func WithArrival(ctx context.Context, at time.Time) context.Context {
	return context.WithValue(ctx, arrivalKey{}, at)
}

// ArrivalTime returns the arrival time that [WithArrival] stored in ctx, or the current time if ctx has no arrival
// time. Both times come from the machine's clock, even if the service uses another [Clock]. Stores use the arrival time
// to distinguish several attempts at the same write.
func ArrivalTime(ctx context.Context) time.Time {
	if at, ok := ctx.Value(arrivalKey{}).(time.Time); ok {
		return at
	}
	return time.Now()
}
