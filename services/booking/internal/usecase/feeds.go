package usecase

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/metric"
	"golang.org/x/sync/singleflight"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/lru"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/booking/internal/calendar"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// Businesses reads the offer of a business by the id of the business. Fault:
// business_not_found. Any other error means that the offer could not be read.
type Businesses interface {
	Offer(ctx context.Context, id uuid.UUID) (*catalog.Snapshot, error)
}

// The limits of calendar feeds (lifecycle.md §2).
const (
	feedDaysBack = 90
	feedEntries  = 10_000       // maximum number of bookings in one feed; further bookings are left out
	feedText     = 8 << 20      // maximum size of one feed in bytes; further bookings are left out
	feedMaxAge   = time.Minute  // the maximum age of a cached calendar
	feedBytes    = 4 * feedText // maximum size of the cache in bytes; it can hold the largest feed
)

// Feeds makes, revokes and reads calendar feeds. It is safe for concurrent use.
type Feeds struct {
	// ComputeTimeout is the timeout for the computation of one calendar. All requests
	// that wait for the computation share this timeout. NewFeeds sets it.
	ComputeTimeout time.Duration

	records    *store.Store
	offers     Offers
	businesses Businesses
	clock      clock.Clock
	tel        *telemetry.Telemetry
	cache      *lru.Cache[uuid.UUID, *cachedCalendar]
	flights    singleflight.Group
	computed   metric.Int64Counter
}

// cachedCalendar is a cached calendar. The field `feed` is the id of the calendar's feed. The field `computedAt` is the
// time at which the calendar was computed. If the computation failed, the field `err` is the error of the computation.
type cachedCalendar struct {
	Calendar
	feed       uuid.UUID
	computedAt time.Time
	err        error
}

// Calendar is the content of a calendar feed: the text in the format text/calendar, and its ETag.
type Calendar struct {
	Text []byte
	ETag string
}

// NewFeeds returns a Feeds. The argument `offers` reads the newest
// offer by slug; `businesses` reads an offer by the id of the business.
func NewFeeds(records *store.Store, offers Offers, businesses Businesses, c clock.Clock,
	tel *telemetry.Telemetry) *Feeds {
	return &Feeds{
		ComputeTimeout: 10 * time.Second, records: records, offers: offers, businesses: businesses, clock: c, tel: tel,
		cache: lru.New[uuid.UUID](feedBytes, func(k *cachedCalendar) int { return len(k.Text) }),
		computed: tel.Counter("slotmesh.calendars.computed",
			"Calendar feeds that were computed; all other readings are answered from memory."),
	}
}

// Create makes a calendar feed. It returns the feed and the feed's token, which no later call can return.
//
// Faults: invalid_parameter; conflict if the business has too many feeds, or if an earlier
// request with the same Idempotency-Key made the feed ([NewFeedExistsFault]); the faults of [Offers].
func (f *Feeds) Create(ctx context.Context, by actor.Actor, businessID uuid.UUID,
	req booking.NewCalendar) (store.Feed, string, error) {
	ctx = actor.With(ctx, by)
	if req.Shows != booking.ShowsTimes && req.Shows != booking.ShowsNames {
		return store.Feed{}, "", fault.New(fault.InvalidParameter,
			"shows: send times, for when bookings are alone, or names, for what and who they are, too.")
	}
	offer, err := f.offers.Fresh(ctx, req.Slug)
	switch {
	case err != nil:
		return store.Feed{}, "", err
	case offer.ID != businessID:
		return store.Feed{}, "", fault.New(fault.InvalidParameter, "slug: names another business than the path.")
	case req.StaffID != nil && offer.StaffMember(*req.StaffID) == nil:
		return store.Feed{}, "", fault.New(fault.InvalidParameter,
			"staff_id: names no staff member of this business; leave it out for the bookings of all.")
	}
	token, hash := link.NewToken()
	feed := store.Feed{
		BusinessID: businessID, ID: uuid.New(), StaffID: req.StaffID, Shows: req.Shows,
		CreatedAt: f.clock.Now().UTC().Truncate(time.Microsecond), CreatedBy: by.Maker(),
	}
	err = f.records.CreateFeed(ctx, feed, hash)
	var existing *store.FeedExistsError
	if errors.As(err, &existing) {
		err = NewFeedExistsFault(existing.ID)
	}
	if errors.Is(err, store.ErrTooManyFeeds) {
		err = fault.Wrap(fault.Conflict, err, fmt.Sprintf("A business has at most %d calendar feeds; revoke one first.",
			store.MaxFeeds))
	}
	return feed, token, err
}

// NewFeedExistsFault returns the answer to a repeated request to make a feed: a fault with code conflict.
// The feed with the given id exists, but only the answer to the first request contained the feed's URL.
func NewFeedExistsFault(id uuid.UUID) error {
	return fault.Newf(fault.Conflict,
		"Idempotency-Key: a request with this key made the calendar %s; its address is shown once, in "+
			"that answer, and kept nowhere. If that answer was lost, revoke this calendar and make another one with a "+
			"new Idempotency-Key.", id)
}

// Revoke revokes a calendar feed with immediate effect. If the feed
// is already revoked, Revoke changes nothing. Fault: not_found.
func (f *Feeds) Revoke(ctx context.Context, by actor.Actor, businessID, id uuid.UUID) error {
	ctx = actor.With(ctx, by)
	err := f.records.RevokeFeed(ctx, businessID, id, f.clock.Now())
	if errors.Is(err, store.ErrNotFound) {
		return fault.New(fault.NotFound, "This business has no such calendar.")
	}
	return err
}

// Read returns the calendar of the feed with the given token. The calendar is at most one minute old.
// Fault: not_found, with the same message for an unknown token, a revoked feed and a removed business.
func (f *Feeds) Read(ctx context.Context, token string) (Calendar, error) {
	hash, ok := link.HashToken(token)
	if !ok {
		return Calendar{}, link.NewNotFoundFault()
	}
	feed, err := f.records.FeedByToken(ctx, hash)
	if errors.Is(err, store.ErrNotFound) {
		return Calendar{}, link.NewNotFoundFault()
	}
	if err != nil {
		return Calendar{}, err
	}
	offer, err := f.businesses.Offer(ctx, feed.BusinessID)
	if fault.Is(err, fault.BusinessNotFound) {
		return Calendar{}, link.NewNotFoundFault()
	}
	if err != nil {
		return Calendar{}, err
	}
	f.touch(ctx, feed)
	return f.calendar(ctx, feed, offer)
}

// calendar returns the cached calendar of the feed if this calendar is fresh. Otherwise
// it computes the calendar. Concurrent readers of a feed share one computation.
//
// A process computes only one calendar of a business at a time. The reason is that a business
// may have many feeds, and that the computation of a large calendar takes much CPU time.
func (f *Feeds) calendar(ctx context.Context, feed store.Feed, offer *catalog.Snapshot) (Calendar, error) {
	for {
		if cached, ok := f.findFresh(feed); ok {
			return cached.Calendar, nil
		}
		flight := f.flights.DoChan(feed.BusinessID.String(), func() (any, error) {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), f.ComputeTimeout)
			defer cancel()
			return f.compute(ctx, feed, offer), nil
		})
		select {
		case <-ctx.Done():
			return Calendar{}, ctx.Err()
		case done := <-flight:
			if computed := done.Val.(*cachedCalendar); computed.feed == feed.ID {
				return computed.Calendar, computed.err
			}
		}
	}
}

// findFresh returns the cached calendar of the feed. The second result is
// false if no calendar is cached or if the cached calendar is too old.
func (f *Feeds) findFresh(feed store.Feed) (*cachedCalendar, bool) {
	cached, ok := f.cache.Get(feed.ID)
	return cached, ok && f.clock.Now().Before(cached.computedAt.Add(feedMaxAge))
}

func (f *Feeds) compute(ctx context.Context, feed store.Feed, offer *catalog.Snapshot) *cachedCalendar {
	if cached, ok := f.findFresh(feed); ok {
		return cached // another request has computed the calendar in the meantime
	}
	computed := &cachedCalendar{feed: feed.ID, computedAt: f.clock.Now()}
	text, err := f.render(ctx, feed, offer, computed.computedAt)
	if err != nil {
		computed.err = err
		return computed
	}
	sum := sha256.Sum256(text)
	computed.Calendar = Calendar{Text: text, ETag: `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`}
	f.cache.Put(feed.ID, computed)
	f.computed.Add(ctx, 1)
	return computed
}

// render reads the bookings of a feed and returns the feed's calendar as text/calendar.
// If the text is too large, render leaves out half of the bookings and tries again.
func (f *Feeds) render(ctx context.Context, feed store.Feed, offer *catalog.Snapshot, now time.Time) ([]byte, error) {
	today := offer.Today(now)
	entries, err := f.records.FeedEntries(ctx, feed, today-feedDaysBack,
		today+timespan.Date(offer.Bookings.AdvanceDays), now, feedEntries)
	if err != nil {
		return nil, err
	}
	feedOptions := calendar.Feed{Name: offer.Name, ShowsNames: feed.Shows == booking.ShowsNames,
		Member: findMemberName(offer, feed.StaffID), Refresh: feedMaxAge, Offer: offer}
	for {
		text, err := calendar.Render(feedOptions, entries)
		if err != nil || len(text) <= feedText {
			return text, err
		}
		entries = entries[:len(entries)/2]
	}
}

// findMemberName returns the name of the staff member whose bookings a feed shows. It returns
// "" if the feed shows the bookings of all members, or if the member no longer exists.
func findMemberName(offer *catalog.Snapshot, id *uuid.UUID) string {
	if id == nil {
		return ""
	}
	if member := offer.StaffMember(*id); member != nil {
		return member.Name
	}
	return ""
}

// touch stores the time of the feed's last use, at most once a minute. If the write fails, touch only logs the error.
func (f *Feeds) touch(ctx context.Context, feed store.Feed) {
	now := f.clock.Now()
	since := now.Add(-time.Minute)
	if feed.LastUsedAt != nil && feed.LastUsedAt.After(since) {
		return
	}
	if err := f.records.TouchFeed(ctx, feed.BusinessID, feed.ID, now, since); err != nil {
		f.tel.Logger.WarnContext(ctx, "the use of a calendar feed was not stored", "error", err)
	}
}
