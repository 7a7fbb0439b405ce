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
	businessID, err := pathID(c, "business")
	if err != nil {
		return err
	}
	body, err := server.Body(c)
	if err != nil {
		return err
	}
	ctx := c.UserContext()
	confirmation, err := in.bookFor(ctx, businessID, body)
	in.outcomes.count(ctx, confirmation, err)
	if err != nil {
		return err
	}
	booked, err := in.records.BookingAsMade(ctx, businessID, confirmation.ID)
	if err != nil {
		return fault.Unknown(err)
	}
	shown := showBooking(booked)
	shown.Warnings = confirmation.Warnings
	shown.ManageURL = in.links.URL(event.Booking, booked.ID, confirmation.LinkHash)
	if p := confirmation.Payment; p != nil {
		shown.CheckoutURL = p.CheckoutURL
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.Status(fiber.StatusCreated).JSON(shown)
}

func (in *Internal) bookFor(ctx context.Context, businessID uuid.UUID, body []byte) (store.Confirmation, error) {
	var business struct {
		Slug string `json:"slug"`
	}
	_ = json.Unmarshal(body, &business) // the slug of an invalid body stays empty; request.Parse returns the fault
	by, named := actor.Of(ctx), idempotency.Of(ctx)
	asked, unread := request.Parse(body, by)
	offer, err := in.owner.Offer(ctx, businessID, business.Slug)
	switch {
	case err != nil && unread != nil:
		return store.Confirmation{}, unread
	case err != nil:
		return in.booker.RefuseWithoutOffer(ctx, businessID, by, named, err)
	case unread != nil:
		return in.booker.Refuse(ctx, offer, by, named, unread)
	}
	return in.booker.Book(ctx, offer, by, named, asked)
}
