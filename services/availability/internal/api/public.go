package api

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/bulkhead"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/availability/internal/slot"
)

// Public serves the calendars to customers. To other services, it serves the calendars, explanations and reports.
type Public struct {
	// ReadTimeout limits how long a calendar waits for the offer and the occupied
	// time together, or for the answer of the rental service. 0 means no limit.
	ReadTimeout time.Duration

	offers   Offers
	occupied OccupiedReader
	clock    clock.Clock
	tel      *telemetry.Telemetry
	degraded metric.Int64Counter
	places   *bulkhead.Tenants // limits the concurrent computations for each business
}

// NewPublic returns the public API. The caller may set ReadTimeout.
func NewPublic(offers Offers, occupied OccupiedReader, now clock.Clock, tel *telemetry.Telemetry) *Public {
	return &Public{
		places: bulkhead.New(max(2, runtime.GOMAXPROCS(0))),
		offers: offers, occupied: occupied, clock: now, tel: tel,
		degraded: tel.Counter("slotmesh.availability.degraded",
			"Answers of calendars whose field computed is false, by the missing data."),
	}
}

// Mount adds the routes of the calendars below /api/public/{slug}.
func (p *Public) Mount(router fiber.Router) {
	router.Get("/api/public/:slug/slots", p.slotsHandler(parseSlots))
	router.Get("/api/public/:slug/available-dates", p.datesHandler(parseDates))
}

// MountForPeers adds the calendars to the internal port, below /internal, for the MCP server and the pages service.
// Requests on this port may have the parameters `moving` and `party_size`, which are needed to reschedule a booking.
//
// MountForPeers also adds the routes for explanations, working time, agendas, and the check of bookings against
// an unpublished offer. No route on this port has a rate limit; the calling services apply their own limits.
func (p *Public) MountForPeers(r *server.Internal) {
	r.Handle(availability.ListSlots.Row, p.slotsHandler(withPeerParameters(parseSlots)))
	r.Handle(availability.ListAvailableDates.Row, p.datesHandler(withPeerParameters(parseDates)))
	r.Handle(availability.ExplainNoStarts.Row,
		server.WithParameters(p.serveNoStarts, append(calendarParameters(), "start", "end")...))
	server.Mount(r, availability.ExplainStart, p.computeExplanation)
	server.Mount(r, availability.ComputeWorkingTime, p.computeWorkingTime)
	server.Mount(r, availability.ComputeAgenda, p.computeAgenda)
	server.Mount(r, availability.FindConflicts, p.findConflicts)
}

// parser parses the query parameters of a calendar.
type parser func(request.Query) (query, error)

func (p *Public) slotsHandler(parse parser) fiber.Handler {
	return server.WithParameters(func(c *fiber.Ctx) error { return p.serveCalendar(c, parse, sendSlots) },
		append(calendarParameters(), "date")...)
}

func (p *Public) datesHandler(parse parser) fiber.Handler {
	return server.WithParameters(func(c *fiber.Ctx) error { return p.serveCalendar(c, parse, sendDates) },
		append(calendarParameters(), "start", "end")...)
}

// calendarParameters returns the names of the query parameters that all calendars have.
func calendarParameters() []string {
	return []string{"service_id", "staff_id", "location_id", "is_package", "staffing_mode", "variants"}
}

// serveCalendar parses the request with the function `parse`,
// computes the calendar, and responds with the function `render`.
func (p *Public) serveCalendar(c *fiber.Ctx, parse parser, render func(*fiber.Ctx, answer, query) error) error {
	q, err := parse(server.Query(c))
	if err != nil {
		return err
	}
	m, err := p.gather(c.UserContext(), c.Params("slug"), q)
	if err != nil {
		return err
	}
	leave, err := p.places.Enter(c.UserContext(), c.Params("slug"))
	if err != nil { // the time limit passed while other computations of the business occupied all places
		p.recordDegraded(c.UserContext(), "place", err)
		return render(c, m.answer, q)
	}
	defer leave()
	return render(c, p.compute(c.UserContext(), m), q)
}

func sendSlots(c *fiber.Ctx, a answer, q query) error {
	return send(c, "no-store", func(b []byte) []byte { return a.appendSlots(b, q.From) })
}

func sendDates(c *fiber.Ctx, a answer, q query) error {
	cacheControl := "no-store"
	if a.isComputed {
		cacheControl = "public, max-age=10"
	}
	return send(c, cacheControl, func(b []byte) []byte { return a.appendDays(b, q) })
}

// bodies is a pool of buffers for response bodies. fasthttp copies the body of each
// response. Therefore a buffer can be used again as soon as its response is set.
var bodies = sync.Pool{New: func() any { return new([]byte) }}

// maxKeptBody is the size in bytes of the largest buffer that the pool keeps.
// Without this limit, one large response would occupy memory for a long time.
const maxKeptBody = 256 << 10

// keepBody returns a buffer to the pool. keepBody reports whether the buffer was small enough to keep.
func keepBody(body *[]byte) bool {
	if cap(*body) > maxKeptBody {
		return false
	}
	bodies.Put(body)
	return true
}

// send responds with the JSON that the function `render` appends to a buffer.
func send(c *fiber.Ctx, cacheControl string, render func([]byte) []byte) error {
	c.Set(fiber.HeaderCacheControl, cacheControl)
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	body := bodies.Get().(*[]byte)
	*body = render((*body)[:0])
	c.Context().Response.SetBody(*body)
	keepBody(body)
	return nil
}

// answer is the content of a calendar response.
type answer struct {
	isComputed bool
	timezone   string // name of the time zone; empty if the offer could not be read
	offer      *catalog.Snapshot
	question   slot.Question
	openings   *slot.Openings // bookable starts; nil unless isComputed is true
}

// material is the data from which a calendar is computed.
type material struct {
	answer              // the answer, without openings
	plan     *slot.Plan // the plan; nil if the offer or the occupied time could not be read
	occupied booking.Occupied
}

// gather reads the offer and the occupied time for a calendar. If one of them cannot
// be read, gather returns no error; the field "computed" of the calendar's answer is then
// false (semantics.md §2). Faults: business_not_found, service_not_found, location_not_found, invalid_parameter.
func (p *Public) gather(ctx context.Context, slug string, q query) (material, error) {
	ctx, cancel := p.withReadTimeout(ctx)
	defer cancel()
	offer, err := p.offers.Get(ctx, slug)
	if fault.Is(err, fault.BusinessNotFound) {
		return material{}, err
	}
	if err != nil {
		p.recordDegraded(ctx, "offer", err)
		return material{}, nil
	}
	services, err := offer.Appointment(q.Services, q.Variants)
	if err != nil {
		return material{}, err
	}
	locationID, err := q.chooseLocation(offer, services)
	if err != nil {
		return material{}, err
	}
	m := material{answer: answer{timezone: offer.Timezone, offer: offer, question: slot.Question{
		Services: services, StaffID: q.StaffID, LocationID: locationID, From: q.From, To: q.To, Now: p.clock.Now(),
		IsPackage: q.IsPackage, IsPerService: q.IsPerService, PartySize: q.PartySize,
	}}}
	plan := slot.NewPlan(offer, m.question)
	if reach, needed := plan.Reach(); needed {
		if m.occupied, err = readOccupied(ctx, p.occupied, offer.ID, reach,
			booking.OccupiedQuery{Seats: services[0].IsClass(), Locations: len(offer.Locations) > 1,
				Except: q.RescheduledID}); err != nil {
			p.recordDegraded(ctx, "occupied time", err)
			return m, nil
		}
	}
	m.plan = plan
	return m, nil
}

// withReadTimeout returns a context that ends after ReadTimeout.
func (p *Public) withReadTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if p.ReadTimeout == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, p.ReadTimeout)
}

func (p *Public) compute(ctx context.Context, m material) answer {
	a := m.answer
	if m.plan == nil {
		return a
	}
	_, span := p.tel.Tracer.Start(ctx, "find slots")
	defer span.End()
	if span.IsRecording() {
		span.SetAttributes(
			attribute.Int("slotmesh.dates", int(a.question.To-a.question.From)+1),
			attribute.Int("slotmesh.services", len(a.question.Services)))
	}
	a.openings = m.plan.Find(m.occupied)
	a.isComputed = true
	return a
}

// recordDegraded counts and logs a response whose field "computed" is false. The argument `missing` names the missing
// data.
func (p *Public) recordDegraded(ctx context.Context, missing string, err error) {
	p.degraded.Add(ctx, 1, metric.WithAttributes(attribute.String("missing", missing)))
	p.tel.Logger.WarnContext(ctx, "a calendar could not be computed", "missing", missing, "error", err)
}
