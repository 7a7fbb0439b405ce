package api

import (
	"encoding/json"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/ical"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
	"github.com/slotmesh/slotmesh/services/booking/internal/usecase"
)

// Feeds serves calendar feeds (lifecycle.md §2) to other services over HTTP.
type Feeds struct {
	feeds   *usecase.Feeds
	records *store.Store
	links   *link.Links
}

// NewFeeds returns the internal API of calendar feeds.
func NewFeeds(feeds *usecase.Feeds, records *store.Store, links *link.Links) *Feeds {
	return &Feeds{feeds: feeds, records: records, links: links}
}

// Mount adds the routes of calendar feeds.
func (f *Feeds) Mount(app fiber.Router) {
	app.Get("/internal/calendars/:token", f.read)
	business := app.Group("/internal/businesses/:business")
	business.Post("/calendars", withIdempotency(f.records, f.create, refuseRepeatedFeed))
	business.Get("/calendars", f.list)
	business.Delete("/calendars/:id", withIdempotency(f.records, f.revoke, server.AnswerWithResult(fiber.StatusNoContent)))
}

func (f *Feeds) create(c *fiber.Ctx) error {
	businessID, err := parsePathID(c, "business")
	if err != nil {
		return err
	}
	body, err := server.Body(c)
	if err != nil {
		return err
	}
	var req booking.NewCalendar
	if err := json.Unmarshal(body, &req); err != nil {
		return fault.Newf(fault.InvalidParameter,
			"The body must be {\"slug\", \"staff_id\": a UUID or null, \"shows\": \"times\" or \"names\"}: %s.",
			describeJSONError(err))
	}
	feed, token, err := f.feeds.Create(c.UserContext(), server.Actor(c), businessID, req)
	if err != nil {
		return err
	}
	rendered := showFeed(feed)
	rendered.Token, rendered.URL = token, f.links.FeedURL(token)
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.Status(fiber.StatusCreated).JSON(rendered)
}

func refuseRepeatedFeed(_ *fiber.Ctx, answer []byte) error {
	var existing store.FeedExistsError
	if err := json.Unmarshal(answer, &existing); err != nil {
		return err
	}
	return usecase.NewFeedExistsFault(existing.ID)
}

func (f *Feeds) list(c *fiber.Ctx) error {
	businessID, err := parsePathID(c, "business")
	if err != nil {
		return err
	}
	page, err := server.Query(c).Page()
	if err != nil {
		return err
	}
	feeds, next, err := f.records.Feeds(c.UserContext(), businessID, page)
	if err != nil {
		return err
	}
	return c.JSON(booking.CalendarList{Calendars: convertAll(feeds, showFeed), NextCursor: next})
}

func (f *Feeds) revoke(c *fiber.Ctx) error {
	businessID, id, err := parsePathIDs(c, "id")
	if err != nil {
		return err
	}
	if err := f.feeds.Revoke(c.UserContext(), server.Actor(c), businessID, id); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// read answers with the calendar of a feed and an ETag. The pages service
// calls read for the calendar programs that subscribe to the feed.
func (f *Feeds) read(c *fiber.Ctx) error {
	calendar, err := f.feeds.Read(c.UserContext(), c.Params("token"))
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "private, max-age=60")
	c.Set(fiber.HeaderETag, calendar.ETag)
	if server.HasTag(c, calendar.ETag) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	c.Set(fiber.HeaderContentType, ical.MediaType)
	return c.Send(calendar.Text)
}

// showFeed converts a feed into the JSON form of the internal API, without the feed's token.
func showFeed(f store.Feed) booking.Calendar {
	return booking.Calendar{
		ID: f.ID, StaffID: f.StaffID, Shows: f.Shows, CreatedAt: f.CreatedAt, CreatedBy: f.CreatedBy,
		LastUsedAt: f.LastUsedAt, RevokedAt: f.RevokedAt,
	}
}
