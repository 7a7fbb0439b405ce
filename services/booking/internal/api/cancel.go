package api

import (
	"encoding/json"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/server"
)

func (in *Internal) cancellation(c *fiber.Ctx) error {
	businessID, bookingID, err := bookingOf(c)
	if err != nil {
		return err
	}
	preview, err := in.cancellations.Preview(c.UserContext(), businessID, bookingID)
	if err != nil {
		return err
	}
	return c.JSON(showCancellation(preview))
}

func (in *Internal) cancel(c *fiber.Ctx) error {
	businessID, bookingID, err := bookingOf(c)
	if err != nil {
		return err
	}
	var asked booking.Cancel
	if err := optionalBody(c, &asked); err != nil {
		return err
	}
	cancelled, err := in.cancellations.Cancel(c.UserContext(), businessID, bookingID, asked.Refund)
	if err != nil {
		return err
	}
	return c.JSON(showBooking(cancelled))
}

func (in *Internal) refund(c *fiber.Ctx) error {
	businessID, bookingID, err := bookingOf(c)
	if err != nil {
		return err
	}
	var asked booking.NewRefund
	if err := optionalBody(c, &asked); err != nil {
		return err
	}
	refunded, err := in.cancellations.Refund(c.UserContext(), businessID, bookingID, asked.Refund)
	if err != nil {
		return err
	}
	return c.JSON(showBooking(refunded))
}

// bookingOf reads the ids of the path of a booking.
func bookingOf(c *fiber.Ctx) (uuid.UUID, uuid.UUID, error) {
	businessID, err := pathID(c, "business")
	if err != nil {
		return uuid.Nil, uuid.Nil, err
	}
	bookingID, err := pathID(c, "booking")
	return businessID, bookingID, err
}

// optionalBody reads the JSON body of a request that may have none.
func optionalBody(c *fiber.Ctx, into any) error {
	body, err := server.Body(c)
	if err != nil || len(body) == 0 {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fault.New(fault.InvalidParameter, `The body must be {"refund": "policy", "full", "none" or an amount such as 12.50}, or none.`)
	}
	return nil
}
