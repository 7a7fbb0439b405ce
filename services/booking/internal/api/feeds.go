package api

import (
	"context"
	"encoding/json"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
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

// Mount adds the endpoints of calendar feeds.
func (f *Feeds) Mount(r *server.Internal) {
	findResult := newResultFinder(f.records)
	r.Handle(bookingclient.ReadCalendarFeed.Row, f.read)
	server.MountIdempotent(r, bookingclient.CreateCalendarFeed, f.create, findResult, refuseRepeatedFeed, decodeNewFeed)
	server.Mount(r, bookingclient.ListCalendarFeeds, f.list)
	server.MountIdempotent(r, bookingclient.RevokeCalendarFeed, f.revoke, findResult, server.AnswerNothing)
}

func (f *Feeds) create(ctx context.Context, r bookingclient.With[booking.NewCalendar]) (*booking.Calendar, error) {
	feed, token, err := f.feeds.Create(ctx, actor.Of(ctx), r.At.Business, r.Body)
	if err != nil {
		return nil, err
	}
	rendered := showFeed(feed)
	rendered.Token, rendered.URL = token, f.links.FeedURL(token)
	return &rendered, nil
}

func decodeNewFeed(body []byte, r *bookingclient.With[booking.NewCalendar]) error {
	if err := json.Unmarshal(body, &r.Body); err != nil {
		return fault.Newf(fault.InvalidParameter,
			"The body must be {\"slug\", \"staff_id\": a UUID or null, \"shows\": \"times\" or \"names\"}: %s.",
			describeJSONError(err))
	}
	return nil
}

func refuseRepeatedFeed(_ context.Context, _ bookingclient.With[booking.NewCalendar],
	answer []byte) (*booking.Calendar, error) {
	var existing store.FeedExistsError
	if err := json.Unmarshal(answer, &existing); err != nil {
		return nil, err
	}
	return nil, usecase.NewFeedExistsFault(existing.ID)
}

func (f *Feeds) list(ctx context.Context, r bookingclient.PageRequest) (*booking.CalendarList, error) {
	feeds, next, err := f.records.Feeds(ctx, r.Business, r.Page)
	return &booking.CalendarList{Calendars: convertAll(feeds, showFeed), NextCursor: next}, err
}

func (f *Feeds) revoke(ctx context.Context, r bookingclient.CalendarID) (*endpoints.None, error) {
	return nil, f.feeds.Revoke(ctx, actor.Of(ctx), r.Business, r.ID)
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
