package tools

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// refusal is the structured content of a tool error.
type refusal struct {
	Error             string `json:"error" jsonschema:"why the call was refused, in one sentence"`
	MessageCode       string `json:"messageCode" jsonschema:"the same as a code"`
	RetryAfterSeconds int    `json:"retry_after_seconds,omitempty" jsonschema:"how long to wait before the same call can succeed"`
	NextStep          string `json:"next_step,omitempty" jsonschema:"what to do next"`
	OtherSlots        []slot `json:"other_slots,omitempty" jsonschema:"up to ten free starts of the same date, nearest first, where the one asked for is taken"`
}

// slotTaken is the refusal of a start that is no longer free, together with the other free starts of the date.
type slotTaken struct {
	error
	otherSlots []slot
	next       string
}

// Unwrap returns the refusal without the other free starts.
func (t *slotTaken) Unwrap() error { return t.error }

// newRefusal converts an error to a tool error. If the error is internal,
// newRefusal logs it, and the tool error does not contain its details.
func (b *Toolbox) newRefusal(ctx context.Context, t *tool, err error) *mcp.CallToolResult {
	f := server.FaultOf(err)
	if f.Kind == fault.Internal {
		b.Telemetry.Logger.ErrorContext(ctx, "tool failed", "tool", t.Name, "error", err)
	}
	r := refusal{Error: named.Replace(f.Sentence), MessageCode: f.Kind.Code, RetryAfterSeconds: f.RetrySeconds(),
		NextStep: nextStep(t, f.Kind)}
	var start *slotTaken
	if errors.As(err, &start) {
		r.OtherSlots, r.NextStep = start.otherSlots, start.next
	}
	return newResult(r.text(), r, true)
}

// named replaces the names of the HTTP API in an error message with the names of the tools.
var named = strings.NewReplacer("Idempotency-Key:", "idempotency_key:", " from /slots", " of find_slots")

func (r refusal) text() string {
	text := r.Error + " (messageCode: " + r.MessageCode + ")"
	if r.RetryAfterSeconds > 0 {
		text += "\nTry again in " + strconv.Itoa(r.RetryAfterSeconds) + " s."
	}
	if r.NextStep != "" {
		text += "\n" + r.NextStep
	}
	return text
}

// nextStep returns a sentence that tells the agent what to do next.
// It returns "" if the error message of the refusal is sufficient.
func nextStep(t *tool, kind fault.Kind) string {
	switch kind {
	case fault.ServiceNotFound:
		return "Call list_services for the ids that there are."
	case fault.ScopeForbidden:
		return "Ask the owner of the business for a key of the right scope; tools/list shows what this one may call."
	case fault.SlotUnavailable, fault.NoStaffAvailable, fault.DateInPast, fault.BeyondAdvanceLimit, fault.TooSoon,
		fault.Closed, fault.NotAStart:
		return "Call find_slots for the times that are free."
	case fault.StaffNotFound:
		return "Call list_staff for the members that there are and what they perform."
	case fault.PaymentNotOffered:
		return "Nothing can be paid online here. Leave payment_choice out, or send at_door."
	case fault.OutsideArea:
		return "The business does not come to this address. Offer another location of get_business_info, or ask " +
			"for another address."
	case fault.AvailabilityUnverified:
		return "Nothing was booked. Call book_appointment again in a few seconds."
	case fault.NotAcceptingBookings, fault.NotOpenYet, fault.SubscriptionInactive, fault.AccountClosing:
		return "Nothing can be booked online now. Tell the customer to contact the business."
	case fault.PaymentUnavailable:
		return "Where get_business_info says that payment_modes.services is customer_choice, payment_choice at_door " +
			"books without paying now."
	case fault.IdempotencyMismatch:
		return "Take a new idempotency_key for a new booking; repeat the very same arguments to repeat a booking."
	case fault.OutcomeUnknown, fault.Internal:
		if !t.Annotations.ReadOnlyHint {
			return "It is not known whether the booking was made. With an idempotency_key, call again with the same " +
				"arguments: nothing is booked twice. Without one, tell the customer to ask the business before " +
				"booking again."
		}
	}
	return ""
}
