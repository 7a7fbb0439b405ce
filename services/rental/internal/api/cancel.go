package api

import (
	"encoding/json"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/rental/internal/usecase"
)

func (in *Internal) cancellation(c *fiber.Ctx) error {
	id, err := reservationID(c)
	if err != nil {
		return err
	}
	offer, err := in.business(c)
	if err != nil {
		return err
	}
	preview, err := in.owner.Cancellations(offer).Preview(c.UserContext(), offer.ID, id)
	if err != nil {
		return err
	}
	return send(c, preview.Shown())
}

func (in *Internal) cancel(c *fiber.Ctx) (usecase.Made, error) {
	id, err := reservationID(c)
	if err != nil {
		return usecase.Made{}, err
	}
	var asked booking.Cancel
	if err := optionalBody(c, &asked); err != nil {
		return usecase.Made{}, err
	}
	offer, err := in.business(c)
	if err != nil {
		return usecase.Made{}, err
	}
	cancelled, err := in.owner.Cancellations(offer).Cancel(c.UserContext(), server.Actor(c), offer.ID, id,
		asked.Refund)
	return usecase.Made{Reservation: cancelled}, err
}

func (in *Internal) refund(c *fiber.Ctx) (usecase.Made, error) {
	id, err := reservationID(c)
	if err != nil {
		return usecase.Made{}, err
	}
	var asked booking.NewRefund
	if err := optionalBody(c, &asked); err != nil {
		return usecase.Made{}, err
	}
	offer, err := in.business(c)
	if err != nil {
		return usecase.Made{}, err
	}
	refunded, err := in.owner.Cancellations(offer).Refund(c.UserContext(), server.Actor(c), offer.ID, id,
		asked.Refund)
	return usecase.Made{Reservation: refunded}, err
}

// optionalBody reads the JSON body of a request that may have none.
func optionalBody(c *fiber.Ctx, into any) error {
	body, err := server.Body(c)
	if err != nil || len(body) == 0 {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return request.Invalid(`The body must be {"refund": "policy", "full", "none" or an amount such as 12.50}, or none.`)
	}
	return nil
}
