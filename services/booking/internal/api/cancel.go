package api

import (
	"encoding/json"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

func (in *Internal) serveCancellation(c *fiber.Ctx) error {
	businessID, bookingID, err := parsePathIDs(c, "booking")
	if err != nil {
		return err
	}
	preview, err := in.cancellations.Bookings.Preview(c.UserContext(), businessID, bookingID)
	if err != nil {
		return err
	}
	return c.JSON(preview.Render())
}

func (in *Internal) cancel(c *fiber.Ctx) error {
	businessID, bookingID, err := parsePathIDs(c, "booking")
	if err != nil {
		return err
	}
	var req booking.Cancel
	if err := parseOptionalBody(c, &req); err != nil {
		return err
	}
	cancelled, err := in.cancellations.Bookings.Cancel(c.UserContext(), server.Actor(c), businessID, bookingID,
		req.Refund)
	if err != nil {
		return err
	}
	return c.JSON(in.showBooking(cancelled))
}

func (in *Internal) refund(c *fiber.Ctx) error {
	businessID, bookingID, err := parsePathIDs(c, "booking")
	if err != nil {
		return err
	}
	var req booking.NewRefund
	if err := parseOptionalBody(c, &req); err != nil {
		return err
	}
	refunded, err := in.cancellations.Bookings.Refund(c.UserContext(), server.Actor(c), businessID, bookingID,
		req.Refund)
	if err != nil {
		return err
	}
	return c.JSON(in.showBooking(refunded))
}

// parseOptionalBody parses the JSON body of a request into the value to which the argument
// `into` points. It does nothing if the request has no body. Fault: invalid_parameter.
func parseOptionalBody(c *fiber.Ctx, into any) error {
	body, err := server.Body(c)
	if err != nil || len(body) == 0 {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fault.New(fault.InvalidParameter,
			`The body must be {"refund": "policy", "full", "none" or an amount such as 12.50}, or none.`)
	}
	return nil
}
