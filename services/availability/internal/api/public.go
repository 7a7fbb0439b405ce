package api

import (
	"context"

	"github.com/gofiber/fiber/v2"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/ratelimit"
	"github.com/slotmesh/slotmesh/libs/server"
	"github.com/slotmesh/slotmesh/libs/telemetry"
	"github.com/slotmesh/slotmesh/services/availability/internal/slot"
)

// Requests a minute from one address (interface.md §8).
var (
	slotsLimit = ratelimit.PerMinute(60)
	datesLimit = ratelimit.PerMinute(20)
)

// Public serves the two calendars.
type Public struct {
	offers   Offers
	occupied Occupied
	limiter  ratelimit.Limiter
	clock    clock.Clock
	tel      *telemetry.Telemetry
	degraded metric.Int64Counter
}

// NewPublic returns the public API.
func NewPublic(offers Offers, occupied Occupied, limiter ratelimit.Limiter, now clock.Clock, tel *telemetry.Telemetry) *Public {
	return &Public{
		offers: offers, occupied: occupied, limiter: limiter, clock: now, tel: tel,
		degraded: tel.Counter("slotmesh.availability.degraded", "Calendars answered with computed false, by what could not be read."),
	}
}

// Mount adds the routes.
func (p *Public) Mount(router fiber.Router) {
	business := router.Group("/api/public/:slug")
	business.Get("/slots", p.limited("slots", slotsLimit), p.slots)
	business.Get("/available-dates", p.limited("available-dates", datesLimit), p.dates)
}

// limited counts the request before anything is done for it: a client over its limit costs no other service a thing.
func (p *Public) limited(name string, limit ratelimit.Limit) fiber.Handler {
	return func(c *fiber.Ctx) error {
		decision, err := p.limiter.Allow(c.UserContext(), name+":"+ratelimit.ClientKey(server.ClientIP(c)), limit)
		if err != nil {
			return err
		}
		if !decision.Allowed {
			refused := fault.Newf(fault.RateLimited, "Too many requests; at most %d a minute pass.", limit.N)
			refused.RetryAfter = decision.RetryAfter
			return refused
		}
		return c.Next()
	}
}

func (p *Public) slots(c *fiber.Ctx) error {
	q, err := parseSlots(argsOf(c))
	if err != nil {
		return err
	}
	a, err := p.answer(c.UserContext(), c.Params("slug"), q)
	if err != nil {
		return err
	}
	return send(c, "no-store", a.renderSlots(q.From))
}

func (p *Public) dates(c *fiber.Ctx) error {
	q, err := parseDates(argsOf(c))
	if err != nil {
		return err
	}
	a, err := p.answer(c.UserContext(), c.Params("slug"), q)
	if err != nil {
		return err
	}
	caching := "no-store"
	if a.computed {
		caching = "public, max-age=10"
	}
	return send(c, caching, a.renderDays(q))
}

func argsOf(c *fiber.Ctx) values {
	args := c.Context().QueryArgs()
	return func(name string) []string {
		var all []string
		for _, v := range args.PeekMulti(name) {
			all = append(all, string(v))
		}
		return all
	}
}

func send(c *fiber.Ctx, caching string, body []byte) error {
	c.Set(fiber.HeaderCacheControl, caching)
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return c.Send(body)
}

// answer is what a calendar shows.
type answer struct {
	computed bool
	timezone string // "" where the offer could not be read
	offer    *catalog.Offer
	question slot.Question
	openings *slot.Openings // nil unless computed
}

// answer computes a calendar. What cannot be read makes it computed false, never an error (semantics.md §2). Faults:
// business_not_found, service_not_found, invalid_parameter.
func (p *Public) answer(ctx context.Context, slug string, q query) (answer, error) {
	offer, err := p.offers.Get(ctx, slug)
	if fault.Is(err, fault.BusinessNotFound) {
		return answer{}, err
	}
	if err != nil {
		p.note(ctx, "offer", err)
		return answer{}, nil
	}
	services, err := offer.Appointment(q.Services, q.Variants)
	if err != nil {
		return answer{}, err
	}
	a := answer{timezone: offer.Timezone, offer: offer, question: slot.Question{
		Services: services, StaffID: q.StaffID, From: q.From, To: q.To, Now: p.clock.Now(),
		Package: q.Package, PerService: q.PerService,
	}}
	return p.compute(ctx, a), nil
}

func (p *Public) compute(ctx context.Context, a answer) answer {
	var occupied booking.Occupied
	plan := slot.Lay(a.offer, a.question)
	if reach, needed := plan.Reach(); needed {
		var err error
		if occupied, err = occupiedWithin(ctx, p.occupied, a.offer.ID, reach, a.question.Services[0].Class()); err != nil {
			p.note(ctx, "occupied time", err)
			return a
		}
	}
	_, span := p.tel.Tracer.Start(ctx, "find slots", trace.WithAttributes(
		attribute.Int("slotmesh.dates", int(a.question.To-a.question.From)+1),
		attribute.Int("slotmesh.services", len(a.question.Services)),
	))
	defer span.End()
	a.openings = plan.Find(occupied)
	a.computed = true
	return a
}

// note counts and logs what made an answer computed false.
func (p *Public) note(ctx context.Context, missing string, err error) {
	p.degraded.Add(ctx, 1, metric.WithAttributes(attribute.String("missing", missing)))
	p.tel.Logger.WarnContext(ctx, "a calendar could not be computed", "missing", missing, "error", err)
}
