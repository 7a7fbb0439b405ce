package actor

import "context"

// NotifyHeader is the header of a request between services. If its value
// is [NotifyNo], the receiver writes without notifying the customer.
const (
	NotifyHeader = "Slotmesh-Notify"
	NotifyNo     = "no"
)

type silentKey struct{}

// Silently returns a context for writes about which the customer
// is not notified. Only writes by the business observe this.
func Silently(ctx context.Context) context.Context { return context.WithValue(ctx, silentKey{}, true) }

// IsSilent reports whether the context comes from [Silently]: the customer is not notified of writes with this context.
func IsSilent(ctx context.Context) bool { return ctx.Value(silentKey{}) != nil }
