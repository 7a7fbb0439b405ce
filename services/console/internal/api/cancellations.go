package api

import (
	"context"
	"encoding/json"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/services/console/internal/identity"
)

// newRefundHandler returns the handler of a write that can also refund an amount, such as a cancellation. The argument
// `label` is the name of the object in errors. The handler answers with the changed object.
func newRefundHandler[T any](label string, write refundWrite[T, booking.Cancel]) fiber.Handler {
	return func(c *fiber.Ctx) error {
		slug, id, err := parseID(c, label)
		if err != nil {
			return err
		}
		cancel, notify, err := parseRefund(c)
		if err != nil {
			return err
		}
		left, err := write(withNotification(c.UserContext(), notify), principal(c), slug, id, cancel)
		if err != nil {
			return err
		}
		return c.JSON(left)
	}
}

// refundWrite is a use case that cancels or refunds the object with the given id.
type refundWrite[T, W any] func(ctx context.Context, by identity.Principal, slug string, id uuid.UUID, w W) (*T, error)

// refuseReason returns the function `refund` for a body that may have the fields of a cancellation. Fault:
// invalid_parameter if the body has a reason, because the customer gets no reason with a refund.
func refuseReason[T any](refund refundWrite[T, booking.NewRefund]) refundWrite[T, booking.Cancel] {
	return func(ctx context.Context, by identity.Principal, slug string, id uuid.UUID, w booking.Cancel) (*T, error) {
		if w.Reason != "" {
			return nil, request.Invalid("reason: is only for cancellations; leave it out.")
		}
		return refund(ctx, by, slug, id, booking.NewRefund{Refund: w.Refund})
	}
}

// parseRefund reads the body of a request to cancel or refund an object. If the body omits the field `refund`, the
// amount in the result is "". parseRefund also returns the value of the field `notify`, or nil if the body omits this
// field.
func parseRefund(c *fiber.Ctx) (booking.Cancel, *bool, error) {
	var body struct {
		Refund json.RawMessage `json:"refund"`
		Notify *bool           `json:"notify"`
		Reason string          `json:"reason"`
	}
	err := decodeOptional(c, &body)
	cancel := booking.Cancel{Reason: body.Reason}
	if err != nil || body.Refund == nil {
		return cancel, body.Notify, err
	}
	if err := json.Unmarshal(body.Refund, &cancel.Refund); err != nil {
		return booking.Cancel{}, nil, request.Invalid("%s.", err)
	}
	return cancel, body.Notify, nil
}
