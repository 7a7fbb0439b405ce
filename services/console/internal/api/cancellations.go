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
func newRefundHandler[T any, W booking.Cancel | booking.NewRefund](label string,
	write func(context.Context, identity.Principal,
		string, uuid.UUID, W) (*T, error)) fiber.Handler {
	return func(c *fiber.Ctx) error {
		slug, id, err := parseID(c, label)
		if err != nil {
			return err
		}
		amount, notify, err := parseRefund(c)
		if err != nil {
			return err
		}
		left, err := write(withNotification(c.UserContext(), notify), principal(c), slug, id,
			W(booking.Cancel{Refund: amount}))
		if err != nil {
			return err
		}
		return c.JSON(left)
	}
}

// parseRefund reads the body of a request to cancel or refund an object. It returns the amount to refund, or "" if the
// body omits the field `refund`. It also returns the value of the field `notify`, or nil if the body omits this field.
func parseRefund(c *fiber.Ctx) (booking.RefundAmount, *bool, error) {
	var body struct {
		Refund json.RawMessage `json:"refund"`
		Notify *bool           `json:"notify"`
	}
	if err := decodeOptional(c, &body); err != nil || body.Refund == nil {
		return "", body.Notify, err
	}
	var amount booking.RefundAmount
	if err := json.Unmarshal(body.Refund, &amount); err != nil {
		return "", nil, request.Invalid("%s.", err)
	}
	return amount, body.Notify, nil
}
