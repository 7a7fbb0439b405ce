package api

import (
	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/booking/internal/usecase"
)

// reschedule changes the time of a booking. The actor of the change is the actor of the request.
func (in *Internal) reschedule(c *fiber.Ctx) error {
	businessID, bookingID, err := parsePathIDs(c, "booking")
	if err != nil {
		return err
	}
	body, err := server.Body(c)
	if err != nil {
		return err
	}
	slug, to, err := parseReschedule(body)
	if err != nil {
		return err
	}
	ctx := c.UserContext()
	offer, err := in.owner.Offer(ctx, businessID, slug)
	if err != nil {
		return usecase.NewUnverifiedFault(err)
	}
	updated, err := in.booker.Reschedule(ctx, offer, server.Actor(c), bookingID, to)
	if err != nil {
		return err
	}
	return c.JSON(in.showBooking(updated))
}

// parseReschedule parses the body of a request to reschedule. It returns the slug of
// the business and the new time. It refuses unknown fields. Fault: invalid_parameter.
func parseReschedule(body []byte) (string, usecase.Reschedule, error) {
	var wire struct {
		Slug         string `json:"slug"`
		BoundsRefund bool   `json:"bounds_refund"`
		booking.Reschedule
	}
	if err := request.JSON(body, &wire); err != nil {
		return "", usecase.Reschedule{}, err
	}
	to := usecase.Reschedule{Override: wire.Override, BoundsRefund: wire.BoundsRefund}
	var err error
	if to.Date, err = request.Date("date", wire.Date); err != nil {
		return "", to, err
	}
	if to.Time, err = request.Time("time", wire.Time); err != nil {
		return "", to, err
	}
	if to.Time == timespan.MinutesPerDay {
		return "", to, request.Invalid("time: nothing starts at 24:00; send 00:00 and the next date.")
	}
	if to.StaffID, err = parseOptionalID("staff_id", wire.StaffID); err != nil {
		return "", to, err
	}
	to.ClassScheduleID, err = parseOptionalID("class_schedule_id", wire.ClassScheduleID)
	return wire.Slug, to, err
}

// relocate changes the location of a booking. The actor of the change is the actor of the request.
func (in *Internal) relocate(c *fiber.Ctx) error {
	businessID, bookingID, err := parsePathIDs(c, "booking")
	if err != nil {
		return err
	}
	body, err := server.Body(c)
	if err != nil {
		return err
	}
	var wire struct {
		Slug string `json:"slug"`
		booking.Relocate
	}
	if err := request.JSON(body, &wire); err != nil {
		return err
	}
	location, err := request.ID("location_id", wire.LocationID)
	if err != nil {
		return err
	}
	offer, err := in.owner.Offer(c.UserContext(), businessID, wire.Slug)
	if err != nil {
		return usecase.NewUnverifiedFault(err)
	}
	updated, err := in.booker.Relocate(c.UserContext(), offer, server.Actor(c), bookingID, location)
	if err != nil {
		return err
	}
	return c.JSON(in.showBooking(updated))
}

func parseOptionalID(name string, text *string) (*uuid.UUID, error) {
	if text == nil {
		return nil, nil
	}
	id, err := request.ID(name, *text)
	return &id, err
}
