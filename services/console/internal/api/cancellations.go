package api

import (
	"context"
	"encoding/json"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/request"
	"github.com/slotmesh/slotmesh/services/console/internal/usecase"
)

func (a *Admin) cancelBooking(c *fiber.Ctx) error {
	return refunded(c, func(ctx context.Context, by usecase.Principal, slug string, id uuid.UUID, amount booking.RefundAmount) (*booking.Booking, error) {
		return a.Owner.CancelBooking(ctx, by, slug, id, booking.Cancel{Refund: amount})
	})
}

func (a *Admin) refundBooking(c *fiber.Ctx) error {
	return refunded(c, func(ctx context.Context, by usecase.Principal, slug string, id uuid.UUID, amount booking.RefundAmount) (*booking.Booking, error) {
		return a.Owner.RefundBooking(ctx, by, slug, id, booking.NewRefund{Refund: amount})
	})
}

// refunded answers with the booking that is left after a write that may give money back.
func refunded(c *fiber.Ctx, write func(context.Context, usecase.Principal, string, uuid.UUID, booking.RefundAmount) (*booking.Booking, error)) error {
	slug, id, err := idOf(c, "Booking")
	if err != nil {
		return err
	}
	amount, err := refundOf(c)
	if err != nil {
		return err
	}
	left, err := write(c.UserContext(), principal(c), slug, id, amount)
	if err != nil {
		return err
	}
	return c.JSON(left)
}

// refundOf reads how much is to be refunded, "" where there is no body or it does not say.
func refundOf(c *fiber.Ctx) (booking.RefundAmount, error) {
	var body struct {
		Refund json.RawMessage `json:"refund"`
	}
	if err := decodeOptional(c, &body); err != nil || body.Refund == nil {
		return "", err
	}
	var amount booking.RefundAmount
	if err := json.Unmarshal(body.Refund, &amount); err != nil {
		return "", request.Invalid("%s.", err)
	}
	return amount, nil
}
