package api

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/catalogclient"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/contracts/pricing"
	"github.com/slotmesh/slotmesh/libs/platform/bulkhead"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/locale"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/catalog/internal/current"
	"github.com/slotmesh/slotmesh/services/catalog/internal/public"
	"github.com/slotmesh/slotmesh/services/catalog/internal/ready"
	"github.com/slotmesh/slotmesh/services/catalog/internal/rendered"
)

// Quoter returns the prices of several items in one call. The client of
// pricing implements Quoter. After an error, the prices are unknown.
type Quoter interface {
	Quotes(ctx context.Context, request pricing.QuotesRequest) (*pricing.QuotesResponse, error)
}

// Public serves /info, /services, /staff, /events and /rentals (interface.md §4).
type Public struct {
	Versions     *current.Cache[*ready.Version]
	Quoter       Quoter
	QuoteTimeout time.Duration // maximum wait for pricing; then the list is served without quoted prices
	Sales        Sales
	SalesTimeout time.Duration // maximum wait for booking; then events are served without spots_remaining
	Ceilings     Ceilings
	// maximum wait for the rental service; then rentals are served without max_bookable_online
	CeilingsTimeout time.Duration
	Rendered        *rendered.Cache
	Clock           clock.Clock
	Places          *bulkhead.Tenants // limits concurrent price requests and renderings of each business

	answers bulkhead.Shared[*rendered.Answer] // answers in progress, which concurrent requests share
	quotes  bulkhead.Shared[prices]
}

// Mount adds the public routes below /api/public/{slug}.
func (p *Public) Mount(router fiber.Router) {
	for _, r := range p.routes() {
		router.Get(strings.TrimPrefix(r.row.Path, "/internal"), r.serve)
	}
}

// MountForPeers adds the public paths to the internal port, below /internal, for the MCP server. These routes
// have no rate limits, because the MCP server has already counted each request against the limit of its API key.
func (p *Public) MountForPeers(internal *server.Internal) {
	for _, r := range p.routes() {
		internal.Handle(r.row, r.serve)
	}
}

// route is a path that both ports serve.
type route struct {
	row   *endpoints.Row
	serve fiber.Handler
}

func (p *Public) routes() []route {
	return []route{
		{catalogclient.ReadInfo.Row, p.sendInfo},
		{catalogclient.ListServices.Row, server.WithParameters(p.sendServices, "locale", "date")},
		{catalogclient.ListStaff.Row, server.WithParameters(p.sendStaff, "service_id", "locale")},
		{catalogclient.ListEvents.Row, server.WithParameters(p.sendEvents, "locale")},
		{catalogclient.ListRentals.Row, server.WithParameters(p.sendRentals, "locale", "date")},
	}
}

func (p *Public) sendInfo(c *fiber.Ctx) error {
	version, err := p.findVersion(c)
	if err != nil {
		return err
	}
	key := rendered.Key{Slug: version.Snapshot.Slug, Path: "info", IsPaused: version.Snapshot.IsPaused(p.Clock.Now())}
	return p.sendVersioned(c, key, version, func() any { return version.Public().Info(key.IsPaused) })
}

func (p *Public) sendServices(c *fiber.Ctx) error {
	version, err := p.findVersion(c)
	if err != nil {
		return err
	}
	now := p.Clock.Now()
	today := version.Snapshot.Today(now)
	date, err := dateParam(c, today)
	if err != nil {
		return err
	}
	key := rendered.Key{Slug: version.Snapshot.Slug, Path: "services", Language: language(c, version.Snapshot),
		Date:  date,
		Today: today}
	if cached := p.findCached(key, version, now); cached != nil {
		return sendAnswer(c, cached)
	}
	answer, err := p.answers.Do(c.UserContext(), fmt.Sprint(key, version.Snapshot.Version),
		func(ctx context.Context) (*rendered.Answer, error) {
			// Another request may have rendered the answer while this request waited.
			if cached := p.findCached(key, version, now); cached != nil {
				return cached, nil
			}
			return p.renderServices(ctx, key, version, now)
		})
	if err != nil {
		return err
	}
	return sendAnswer(c, answer)
}

// findCached returns the cached answer if the prices in the answer are still valid. Otherwise it returns nil.
func (p *Public) findCached(key rendered.Key, version *ready.Version, now time.Time) *rendered.Answer {
	if cached := p.Rendered.Get(key, version.Snapshot.Version); cached != nil && cached.IsValidAt(now) {
		return cached
	}
	return nil
}

// renderServices renders the list of services for the date in `key`. If
// that date can be booked, renderServices first requests the prices.
func (p *Public) renderServices(ctx context.Context, key rendered.Key, version *ready.Version,
	now time.Time) (*rendered.Answer, error) {
	quotes := public.Quotes{Date: key.Date, IsUnbookable: !isBookable(version.Snapshot, key.Today, key.Date)}
	n := peerNumbers{isComplete: true}
	if !quotes.IsUnbookable {
		n.prices = p.requestPrices(ctx, version, key.Date, now)
		quotes.Prices = n.prices.byID
	}
	return p.renderNumbered(ctx, key, version, n, func() any { return version.Public().Services(key.Language, quotes) })
}

// isBookable reports whether appointments on the date can be booked: from today to the advance limit (semantics.md §2).
func isBookable(snapshot *catalog.Snapshot, today, date timespan.Date) bool {
	return today <= date && date <= today+timespan.Date(snapshot.Bookings.AdvanceDays)
}

func (p *Public) sendStaff(c *fiber.Ctx) error {
	version, err := p.findVersion(c)
	if err != nil {
		return err
	}
	serviceID, err := serviceParam(c)
	if err != nil {
		return err
	}
	if serviceID != nil && !version.Public().HasService(*serviceID) {
		return fault.Newf(fault.ServiceNotFound, "Service not found: %s", serviceID)
	}
	key := rendered.Key{Slug: version.Snapshot.Slug, Path: "staff", Language: language(c, version.Snapshot)}
	if serviceID != nil {
		key.Service = *serviceID
	}
	return p.sendVersioned(c, key, version, func() any { return version.Public().Staff(key.Language, serviceID) })
}

func (p *Public) findVersion(c *fiber.Ctx) (*ready.Version, error) {
	slug, err := server.Slug(c)
	if err != nil {
		return nil, err
	}
	version, _, err := p.Versions.Get(c.UserContext(), slug)
	return version, err
}

// language returns the language that the query parameter locale selects. If the parameter is
// present and not empty, the answer has each text in one language only. If the business does
// not have the requested language, the answer has the default language (semantics.md §6).
func language(c *fiber.Ctx, snapshot *catalog.Snapshot) public.Language {
	requested := c.Query("locale")
	if requested == "" {
		return public.Language{}
	}
	code, ok := locale.Match(requested, snapshot.Languages)
	if !ok {
		code = ""
	}
	return public.Language{IsResolved: true, Code: code}
}

// dateParam returns the booking date for which prices are quoted. The default is the current date of the business.
func dateParam(c *fiber.Ctx, today timespan.Date) (timespan.Date, error) {
	if !c.Context().QueryArgs().Has("date") {
		return today, nil
	}
	return request.Date("date", c.Query("date"))
}

// serviceParam returns the id of the service whose staff is requested.
// serviceParam returns nil if the staff of all services is requested.
func serviceParam(c *fiber.Ctx) (*uuid.UUID, error) {
	if !c.Context().QueryArgs().Has("service_id") {
		return nil, nil
	}
	id, err := request.ID("service_id", c.Query("service_id"))
	return &id, err
}
