package api

import (
	"context"
	"slices"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/message"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/rental/internal/occupancy"
	"github.com/slotmesh/slotmesh/services/rental/internal/usecase"
)

// languageCookie is the cookie with the language that a visitor chose on the business's pages.
const languageCookie = "service_language"

// Public serves the two public calendars and the starts of a date.
type Public struct {
	offers    Offers
	records   Records
	sentences Sentences
	clock     clock.Clock
	tel       *telemetry.Telemetry
	degraded  metric.Int64Counter
}

// NewPublic returns the public API.
func NewPublic(offers Offers, records Records, sentences Sentences, now clock.Clock, tel *telemetry.Telemetry) *Public {
	return &Public{
		offers: offers, records: records, sentences: sentences, clock: now, tel: tel,
		degraded: tel.Counter("slotmesh.rental.degraded",
			"Rental calendars that could not be computed, by what could not be read."),
	}
}

// Mount adds /rental-availability to the public port. Availability serves
// /rental-available-dates to the public; it reads the answer through [Public.MountForPeers].
func (p *Public) Mount(router fiber.Router) {
	router.Get("/api/public/:slug/rental-availability", server.WithParameters(p.availability,
		"rentalId", "startDate", "endDate", "quantity", "startTime", "endTime", "lang"))
}

// MountForPeers adds both calendars to the internal port, below /internal, for the MCP
// server and for availability. It adds no rate limit, because both apply their own before
// they call. For the booking page, it also adds the possible start times of a date.
func (p *Public) MountForPeers(r *server.Internal) {
	r.Handle(rental.CheckAvailability.Row, p.availability)
	r.Handle(rental.ListAvailableDates.Row, p.dates)
	server.Mount(r, rental.ReadStarts, p.starts)
}

// send answers with a body that must not be cached. An answer with a fault gets the same header elsewhere.
func send(c *fiber.Ctx, answer any) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(answer)
}

func (p *Public) availability(c *fiber.Ctx) error {
	q, err := parseAvailability(server.Query(c))
	if err != nil {
		return err
	}
	offer, err := p.offers.Get(c.UserContext(), c.Params("slug"))
	if fault.Is(err, fault.BusinessNotFound) {
		return err
	}
	if err != nil {
		return p.unverified(c.UserContext(), "offer", err)
	}
	why, free, err := p.judge(c.UserContext(), offer, q)
	if err != nil {
		return err
	}
	if why == "" {
		return send(c, publicapi.RentalAvailability{Available: true})
	}
	sentence, err := p.sentence(c, offer, why, free)
	if err != nil {
		return err
	}
	return send(c, publicapi.RentalAvailability{ConflictReason: sentence, MessageCode: why})
}

// judge returns why a request cannot be met, or "" if it can be met. It also returns how
// many units are free (semantics.md §4). Faults: invalid_parameter, availability_unverified.
func (p *Public) judge(ctx context.Context, offer *catalog.Offer, q availabilityQuery) (message.ID, int, error) {
	asked := usecase.Rental(offer, q.RentalID)
	if asked == nil {
		return message.RentalNotFound, 0, nil
	}
	span, isHours, err := q.Hours(asked, offer.Location(), [2]string{"startTime", "endTime"})
	if err != nil {
		return "", 0, err
	}
	now := p.clock.Now()
	today := offer.Today(now)
	if q.Dates.From < today {
		return message.DateInPast, 0, nil
	}
	if q.Dates.To > today+timespan.Date(offer.Bookings.AdvanceDays) {
		return message.BeyondAdvanceLimit, 0, nil
	}
	if wrong := q.WrongLength(asked, span, isHours); wrong != nil {
		if wrong.TooLong {
			return message.TooLong, 0, nil
		}
		return message.TooShort, 0, nil
	}
	if !q.HandedOver(asked, offer, span, isHours) {
		return message.Closed, 0, nil
	}
	held, err := p.records.Holding(ctx, offer.ID, []uuid.UUID{asked.ID}, q.Dates)
	if err != nil {
		return "", 0, p.unverified(ctx, "reservations", err)
	}
	calendar := occupancy.NewCalendar(offer.Location(), now, q.Dates)
	if !isHours {
		span = calendar.Span()
	}
	free := calendar.During(span, occupancy.StockOf(asked), held[asked.ID])
	switch {
	case free >= q.Quantity:
		return "", free, nil
	case free > 0:
		return message.NotEnoughUnits, free, nil
	}
	return message.NothingAvailable, 0, nil
}

// sentence returns the text of a reason in the caller's language. The language is the first known
// one of the parameter lang, the cookie and the business's default; otherwise it is English.
func (p *Public) sentence(c *fiber.Ctx, offer *catalog.Offer, why message.ID, free int) (string, error) {
	code := p.sentences.Choose(c.Query("lang"), c.Cookies(languageCookie), offer.DefaultLanguage)
	if why == message.NotEnoughUnits {
		return p.sentences.SayCount(code, why, free)
	}
	return p.sentences.Say(code, why)
}

func (p *Public) dates(c *fiber.Ctx) error {
	q, err := parseAvailableDates(server.Query(c))
	if err != nil {
		return err
	}
	offer, err := p.offers.Get(c.UserContext(), c.Params("slug"))
	if fault.Is(err, fault.BusinessNotFound) {
		return err
	}
	answer := publicapi.RentalDates{Days: map[timespan.Date]map[uuid.UUID]int{}}
	if err != nil {
		p.note(c.UserContext(), "offer", err)
		return send(c, answer)
	}
	answer.Timezone = offer.Timezone
	var rentals []*catalog.Rental
	for _, id := range q.RentalIDs {
		if r := usecase.Rental(offer, id); r != nil {
			rentals = append(rentals, r)
		}
	}
	if len(rentals) == 0 {
		return usecase.NotFound()
	}
	if err := p.count(c.UserContext(), offer, rentals, q.Dates, answer.Days); err != nil {
		p.note(c.UserContext(), "reservations", err)
		return send(c, answer)
	}
	answer.Computed = true
	return send(c, answer)
}

// count sets, for each rental and each date, how many units can be reserved from that date on. It counts for
// the shortest allowed length of the rental: one day, unless the owner sets another (docs/decisions/011).
//
// The dates are those from today to the advance limit. If the reservations
// cannot be read, count returns an error and does not change days.
func (p *Public) count(ctx context.Context, offer *catalog.Offer, rentals []*catalog.Rental, asked occupancy.Dates,
	days map[timespan.Date]map[uuid.UUID]int) error {
	now := p.clock.Now()
	today := offer.Today(now)
	last := today + timespan.Date(offer.Bookings.AdvanceDays)
	dates := occupancy.Dates{From: max(asked.From, today), To: min(asked.To, last)}
	if dates.To < dates.From {
		return nil
	}
	ids, longest := make([]uuid.UUID, len(rentals)), 1
	for i, r := range rentals {
		ids[i], longest = r.ID, max(longest, r.ShortestDays())
	}
	read := occupancy.Dates{From: dates.From, To: min(dates.To+timespan.Date(longest-1+maxClosedDays), last)}
	held, err := p.records.Holding(ctx, offer.ID, ids, read)
	if err != nil {
		return err
	}
	for d := dates.From; d <= dates.To; d++ {
		days[d] = make(map[uuid.UUID]int, len(rentals))
	}
	calendar := occupancy.NewCalendar(offer.Location(), now, read)
	for _, r := range rentals {
		free := calendar.Days(occupancy.StockOf(r), held[r.ID])
		for d := dates.From; d <= dates.To; d++ {
			if n := shortestFrom(offer, r, d, read.To); n > 0 {
				days[d][r.ID] = throughout(free, int(d-dates.From), n)
			} else {
				days[d][r.ID] = 0
			}
		}
	}
	return nil
}

// shortestFrom returns the smallest number of days for which a rental can be reserved
// from the date d on. The business must be open on the days of pick-up and return.
// The result is 0 if pick-up on d, or a return by the date last, is not possible.
func shortestFrom(offer *catalog.Offer, r *catalog.Rental, d, last timespan.Date) int {
	if !offer.HandsOverOn(r, d) {
		return 0
	}
	for n := r.ShortestDays(); d+timespan.Date(n)-1 <= last && (r.MaxRentalDays == nil || n <= *r.MaxRentalDays); n++ {
		if offer.HandsOverOn(r, d+timespan.Date(n)-1) {
			return n
		}
	}
	return 0
}

// maxClosedDays is the largest number of consecutive closed dates by which a return can be delayed.
const maxClosedDays = 31

// throughout returns the smallest of n values, beginning at the
// index first. It returns 0 if the slice has too few values.
func throughout(free []int, first, n int) int {
	if first+n > len(free) {
		return 0
	}
	return slices.Min(free[first : first+n])
}

// unverified returns the fault for a request that cannot be answered because data
// could not be read. The answer has no field computed, unlike that of the calendar.
func (p *Public) unverified(ctx context.Context, missing string, err error) error {
	p.note(ctx, missing, err)
	return fault.Wrap(fault.AvailabilityUnverified, err, "Availability could not be checked; try again shortly.")
}

// note counts and logs that data could not be read.
func (p *Public) note(ctx context.Context, missing string, err error) {
	p.degraded.Add(ctx, 1, metric.WithAttributes(attribute.String("missing", missing)))
	p.tel.Logger.WarnContext(ctx, "a rental calendar could not be computed", "missing", missing, "error", err)
}
