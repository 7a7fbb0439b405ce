package api

import (
	"context"
	"fmt"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
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
func (p *Public) Mount(router fiber.Router) { p.mount(router.Group("/api/public/:slug")) }

// MountForPeers adds the public paths to the internal port, below /internal, for the MCP server. These routes
// have no rate limits, because the MCP server has already counted each request against the limit of its API key.
func (p *Public) MountForPeers(router fiber.Router) {
	p.mount(router.Group("/internal/api/public/:slug"))
}

func (p *Public) mount(business fiber.Router) {
	business.Get("/info", p.info)
	business.Get("/services", server.WithParameters(p.services, "locale", "date"))
	business.Get("/staff", server.WithParameters(p.staff, "service_id", "locale"))
	business.Get("/events", server.WithParameters(p.events, "locale"))
	business.Get("/rentals", server.WithParameters(p.rentals, "locale", "date"))
}

func (p *Public) info(c *fiber.Ctx) error {
	version, err := p.version(c)
	if err != nil {
		return err
	}
	key := rendered.Key{Slug: version.Offer.Slug, Path: "info", Paused: version.Offer.Paused(p.Clock.Now())}
	return p.sendLasting(c, key, version, func() any { return version.Public().Info(key.Paused) })
}

func (p *Public) services(c *fiber.Ctx) error {
	version, err := p.version(c)
	if err != nil {
		return err
	}
	now := p.Clock.Now()
	today := version.Offer.Today(now)
	date, err := dateParam(c, today)
	if err != nil {
		return err
	}
	key := rendered.Key{Slug: version.Offer.Slug, Path: "services", Language: language(c, version.Offer), Date: date,
		Today: today}
	if held := p.held(key, version, now); held != nil {
		return sendAnswer(c, held)
	}
	answer, err := p.answers.Do(c.UserContext(), fmt.Sprint(key, version.Offer.Version),
		func(ctx context.Context) (*rendered.Answer, error) {
			// Another request may have rendered the answer while this request waited.
			if held := p.held(key, version, now); held != nil {
				return held, nil
			}
			return p.quotedServices(ctx, key, version, now)
		})
	if err != nil {
		return err
	}
	return sendAnswer(c, answer)
}

// held returns the cached answer if the prices in the answer are still valid. Otherwise it returns nil.
func (p *Public) held(key rendered.Key, version *ready.Version, now time.Time) *rendered.Answer {
	if held := p.Rendered.Get(key, version.Offer.Version); held != nil && held.Holds(now) {
		return held
	}
	return nil
}

// quotedServices renders the list of services for the date in `key`. If
// that date can be booked, quotedServices first requests the prices.
func (p *Public) quotedServices(ctx context.Context, key rendered.Key, version *ready.Version,
	now time.Time) (*rendered.Answer, error) {
	quotes := public.Quotes{Date: key.Date, Unbookable: !bookable(version.Offer, key.Today, key.Date)}
	n := numbered{complete: true}
	if !quotes.Unbookable {
		n.prices = p.prices(ctx, version, key.Date, now)
		quotes.Prices = n.prices.of
	}
	return p.numbered(ctx, key, version, n, func() any { return version.Public().Services(key.Language, quotes) })
}

// bookable reports whether appointments on the date can be booked: from today to the advance limit (semantics.md §2).
func bookable(offer *catalog.Snapshot, today, date timespan.Date) bool {
	return today <= date && date <= today+timespan.Date(offer.Bookings.AdvanceDays)
}

func (p *Public) staff(c *fiber.Ctx) error {
	version, err := p.version(c)
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
	key := rendered.Key{Slug: version.Offer.Slug, Path: "staff", Language: language(c, version.Offer)}
	if serviceID != nil {
		key.Service = *serviceID
	}
	return p.sendLasting(c, key, version, func() any { return version.Public().Staff(key.Language, serviceID) })
}

func (p *Public) version(c *fiber.Ctx) (*ready.Version, error) {
	slug, err := server.Slug(c)
	if err != nil {
		return nil, err
	}
	version, _, err := p.Versions.Fresh(c.UserContext(), slug)
	return version, err
}

// language returns the language that the query parameter locale selects. If the parameter is
// present and not empty, the answer has each text in one language only. If the business does
// not have the requested language, the answer has the default language (semantics.md §6).
func language(c *fiber.Ctx, offer *catalog.Snapshot) public.Language {
	requested := c.Query("locale")
	if requested == "" {
		return public.Language{}
	}
	code, ok := locale.Match(requested, offer.Languages)
	if !ok {
		code = ""
	}
	return public.Language{Resolved: true, Code: code}
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
