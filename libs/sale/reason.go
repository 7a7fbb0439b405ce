package sale

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// lineBreaks replaces the line and page breaks of word processors with "\n".
var lineBreaks = strings.NewReplacer("\r\n", "\n", "\v", "\n", "\f", "\n")

// WithReason returns a context for a cancellation for which the business gives the customer a reason. The argument
// `reason` is what a person typed; it may be empty. Fault: invalid_parameter if the reason is too long or is not text.
func WithReason(ctx context.Context, reason string) (context.Context, error) {
	reason = strings.TrimSpace(lineBreaks.Replace(reason))
	isInvalid := func(r rune) bool { return r == utf8.RuneError || unicode.IsControl(r) && r != '\n' && r != '\t' }
	switch {
	case utf8.RuneCountInString(reason) > booking.MaxReason:
		return nil, fault.Newf(fault.InvalidParameter, "reason: must have at most %d characters.", booking.MaxReason)
	case strings.ContainsFunc(reason, isInvalid):
		return nil, fault.New(fault.InvalidParameter, "reason: must be text without control characters.")
	}
	return actor.WithReason(ctx, reason), nil
}
