package api

import (
	"encoding/json"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/request"
)

func (a *Admin) previewCancellation(c *fiber.Ctx) error {
	slug, id, err := idOf(c, "Booking")
	if err != nil {
		return err
	}
	preview, err := a.Owner.PreviewCancellation(c.UserContext(), slug, id)
	if err != nil {
		return err
	}
	return c.JSON(preview)
}

func (a *Admin) cancelBooking(c *fiber.Ctx) error {
	slug, id, err := idOf(c, "Booking")
	if err != nil {
		return err
	}
	amount, err := refundOf(c)
	if err != nil {
		return err
	}
	cancelled, err := a.Owner.CancelBooking(c.UserContext(), principal(c), slug, id, booking.Cancel{Refund: amount})
	if err != nil {
		return err
	}
	return c.JSON(cancelled)
}

func (a *Admin) refundBooking(c *fiber.Ctx) error {
	slug, id, err := idOf(c, "Booking")
	if err != nil {
		return err
	}
	amount, err := refundOf(c)
	if err != nil {
		return err
	}
	refunded, err := a.Owner.RefundBooking(c.UserContext(), principal(c), slug, id, booking.NewRefund{Refund: amount})
	if err != nil {
		return err
	}
	return c.JSON(refunded)
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
