package api

import (
	"context"
	"encoding/json"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/booking/internal/request"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// book handles POST /bookings: it makes a booking for a customer as POST /book does. The actor
// of the booking is the actor of the request. An Idempotency-Key is valid for this actor only.
//
// If a request is repeated, the answer contains the booking as the
// first request made it, even if the booking has changed since then.
func (in *Internal) book(c *fiber.Ctx) error {
	businessID, err := readBusiness(c)
	if err != nil {
		return err
	}
	body, err := server.Body(c)
	if err != nil {
		return err
	}
	ctx := c.UserContext()
	confirmation, err := in.bookForCustomer(ctx, businessID, body)
	in.outcomes.count(ctx, confirmation, err)
	if err != nil {
		return err
	}
	booked, err := in.records.OriginalBooking(ctx, businessID, confirmation.ID)
	if err != nil {
		return fault.Unknown(err)
	}
	rendered := in.showBooking(booked)
	rendered.Warnings = confirmation.Warnings
	rendered.ManageURL = in.links.URL(event.Booking, booked.ID, confirmation.LinkHash)
	if p := confirmation.Payment; p != nil {
		rendered.CheckoutURL = p.CheckoutURL
	}
	return c.Status(fiber.StatusCreated).JSON(rendered)
}

func (in *Internal) bookForCustomer(ctx context.Context, businessID uuid.UUID,
	body []byte) (store.Confirmation, error) {
	var business struct {
		Slug string `json:"slug"`
	}
	_ = json.Unmarshal(body, &business) // the slug of an invalid body stays empty; request.Parse returns the fault
	by, idemKey := actor.Of(ctx), idempotency.Of(ctx)
	req, readErr := request.Parse(body, by)
	offer, err := in.owner.Offer(ctx, businessID, business.Slug)
	switch {
	case err != nil && readErr != nil:
		return store.Confirmation{}, readErr
	case err != nil:
		return in.booker.RefuseWithoutOffer(ctx, businessID, by, idemKey, err)
	case readErr != nil:
		return in.booker.Refuse(ctx, offer, by, idemKey, readErr)
	}
	return in.booker.Book(ctx, offer, by, idemKey, req)
}
