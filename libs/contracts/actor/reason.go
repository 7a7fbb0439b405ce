package actor

import "context"

type reasonKey struct{}

// WithReason returns a context for a cancellation. The argument `reason` is the text with which the business explains
// the cancellation to the customer; it may be empty. Changes by other actors ignore it.
func WithReason(ctx context.Context, reason string) context.Context {
	return context.WithValue(ctx, reasonKey{}, reason)
}

// Reason returns the reason from [WithReason], or "" if there is none.
func Reason(ctx context.Context) string {
	reason, _ := ctx.Value(reasonKey{}).(string)
	return reason
}
