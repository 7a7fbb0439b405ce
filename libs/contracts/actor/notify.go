package actor

import "context"

// NotifyHeader is a header of requests between services. If its value is [NotifyNo],
// the receiver makes the requested change without notifying the customer.
const (
	NotifyHeader = "Slotmesh-Notify"
	NotifyNo     = "no"
)

type silentKey struct{}

// Silently returns a context for changes of which the customer is not notified. It has
// an effect only if the business makes the change; changes by other actors ignore it.
func Silently(ctx context.Context) context.Context { return context.WithValue(ctx, silentKey{}, true) }

// IsSilent reports whether the context comes from [Silently], so
// that the customer is not notified of changes with this context.
func IsSilent(ctx context.Context) bool { return ctx.Value(silentKey{}) != nil }
