package actor

import "context"

// NotifyHeader is the header in which a peer asks not to notify the customer of a write; its value is [NotifyNo].
const (
	NotifyHeader = "Slotmesh-Notify"
	NotifyNo     = "no"
)

type silentKey struct{}

// Silently returns a context for writes of which the customer is not notified. Only writes of the business respect it.
func Silently(ctx context.Context) context.Context { return context.WithValue(ctx, silentKey{}, true) }

// IsSilent reports whether the customer is not notified of the writes of a context.
func IsSilent(ctx context.Context) bool { return ctx.Value(silentKey{}) != nil }
