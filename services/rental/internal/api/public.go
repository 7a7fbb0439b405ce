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

// languageCookie is the name of the cookie with the language that a visitor chose on the business's pages.
const languageCookie = "service_language"

// Public serves /rental-availability, /rental-available-dates and the possible starts on a date.
type Public struct {
	offers    Offers
	records   Records
	sentences Sentences
	clock     clock.Clock
	tel       *telemetry.Telemetry
	degraded  metric.Int64Counter
}

// NewPublic returns a Public.
func NewPublic(offers Offers, records Records, sentences Sentences, now clock.Clock, tel *telemetry.Telemetry) *Public {
	return &Public{
		offers: offers, records: records, sentences: sentences, clock: now, tel: tel,
		degraded: tel.Counter("slotmesh.rental.degraded",
			"Rental calendars that could not be computed, by what could not be read."),
	}
}

// Mount adds /rental-availability to the public port. It does not add /rental-available-dates: the availability service
// serves that path to the public. The availability service gets the answers from the endpoint that
// [Public.MountForPeers] adds.
func (p *Public) Mount(router fiber.Router) {
	router.Get("/api/public/:slug/rental-availability", server.WithParameters(p.serveAvailability,
		"rentalId", "startDate", "endDate", "quantity", "startTime", "endTime", "lang"))
}

// MountForPeers adds /rental-availability and /rental-available-dates to the internal port, below
// /internal. The MCP server and the availability service call these endpoints. MountForPeers adds
// no rate limit, because each of these two services applies a limit before the call. It also adds
// the endpoint for the possible starts on a date, which the booking page calls.
func (p *Public) MountForPeers(r *server.Internal) {
	r.Handle(rental.CheckAvailability.Row, p.serveAvailability)
	r.Handle(rental.ListAvailableDates.Row, p.serveDates)
	server.Mount(r, rental.ReadStarts, p.serveStarts)
}

// send sends an answer that must not be cached. Answers with a fault get the same header from the server package.
func send(c *fiber.Ctx, answer any) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(answer)
}

func (p *Public) serveAvailability(c *fiber.Ctx) error {
	q, err := parseAvailability(server.Query(c))
	if err != nil {
		return err
	}
	offer, err := p.offers.Get(c.UserContext(), c.Params("slug"))
	if fault.Is(err, fault.BusinessNotFound) {
		return err
	}
	if err != nil {
		return p.newUnverified(c.UserContext(), "offer", err)
	}
	reason, free, err := p.findReason(c.UserContext(), offer, q)
	if err != nil {
		return err
	}
	if reason == "" {
		return send(c, publicapi.RentalAvailability{Available: true})
	}
	sentence, err := p.findMessage(c, offer, reason, free)
	if err != nil {
		return err
	}
	return send(c, publicapi.RentalAvailability{ConflictReason: sentence, MessageCode: reason})
}

// findReason returns the reason why the requested units are not available, or "" if they are available (semantics.md
// §4). It also returns the number of free units. Faults: invalid_parameter, availability_unverified.
func (p *Public) findReason(ctx context.Context, offer *catalog.Snapshot,
	q availabilityQuery) (message.ID, int, error) {
	dates := usecase.FindRental(offer, q.RentalID)
	if dates == nil {
		return message.RentalNotFound, 0, nil
	}
	span, isHours, err := q.ResolveHours(dates, offer.Location(), [2]string{"startTime", "endTime"})
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
	if violation := q.FindLengthViolation(dates, span, isHours); violation != nil {
		if violation.IsTooLong {
			return message.TooLong, 0, nil
		}
		return message.TooShort, 0, nil
	}
	if !q.IsWithinOpeningHours(dates, offer, span, isHours) {
		return message.Closed, 0, nil
	}
	occupying, err := p.records.FindOccupying(ctx, offer.ID, []uuid.UUID{dates.ID}, q.Dates)
	if err != nil {
		return "", 0, p.newUnverified(ctx, "reservations", err)
	}
	calendar := occupancy.NewCalendar(offer.Location(), now, q.Dates)
	if !isHours {
		span = calendar.Span()
	}
	free := calendar.CountFree(span, occupancy.NewStock(dates), occupying[dates.ID])
	switch {
	case free >= q.Quantity:
		return "", free, nil
	case free > 0:
		return message.NotEnoughUnits, free, nil
	}
	return message.NothingAvailable, 0, nil
}

// findMessage returns the message for the reason in the argument `reason`, in the caller's
// language. The caller's language is the first known language of this list: the query
// parameter `lang`, the language cookie, the default language of the business, English.
func (p *Public) findMessage(c *fiber.Ctx, offer *catalog.Snapshot, reason message.ID, free int) (string, error) {
	code := p.sentences.Choose(c.Query("lang"), c.Cookies(languageCookie), offer.DefaultLanguage)
	if reason == message.NotEnoughUnits {
		return p.sentences.SayCount(code, reason, free)
	}
	return p.sentences.Say(code, reason)
}

func (p *Public) serveDates(c *fiber.Ctx) error {
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
		p.recordDegraded(c.UserContext(), "offer", err)
		return send(c, answer)
	}
	answer.Timezone = offer.Timezone
	var rentals []*catalog.Rental
	for _, id := range q.RentalIDs {
		if r := usecase.FindRental(offer, id); r != nil {
			rentals = append(rentals, r)
		}
	}
	if len(rentals) == 0 {
		return usecase.NewNotFoundFault()
	}
	if err := p.countFree(c.UserContext(), offer, rentals, q.Dates, answer.Days); err != nil {
		p.recordDegraded(c.UserContext(), "reservations", err)
		return send(c, answer)
	}
	answer.Computed = true
	return send(c, answer)
}

// countFree sets the argument `days`: for each date and each rental, the number of units
// that can be reserved from that date on. countFree uses the shortest allowed length of
// the rental: one day, unless the owner has set another length (docs/decisions/011).
//
// countFree sets only those requested dates that are between today and the advance limit. If
// the reservations cannot be read, countFree returns an error and does not change `days`.
func (p *Public) countFree(ctx context.Context, offer *catalog.Snapshot, rentals []*catalog.Rental,
	requested occupancy.Dates,
	days map[timespan.Date]map[uuid.UUID]int) error {
	now := p.clock.Now()
	today := offer.Today(now)
	last := today + timespan.Date(offer.Bookings.AdvanceDays)
	dates := occupancy.Dates{From: max(requested.From, today), To: min(requested.To, last)}
	if dates.To < dates.From {
		return nil
	}
	ids, longest := make([]uuid.UUID, len(rentals)), 1
	for i, r := range rentals {
		ids[i], longest = r.ID, max(longest, r.ShortestDays())
	}
	read := occupancy.Dates{From: dates.From, To: min(dates.To+timespan.Date(longest-1+maxClosedDays), last)}
	occupying, err := p.records.FindOccupying(ctx, offer.ID, ids, read)
	if err != nil {
		return err
	}
	for d := dates.From; d <= dates.To; d++ {
		days[d] = make(map[uuid.UUID]int, len(rentals))
	}
	calendar := occupancy.NewCalendar(offer.Location(), now, read)
	for _, r := range rentals {
		free := calendar.CountFreeByDay(occupancy.NewStock(r), occupying[r.ID])
		for d := dates.From; d <= dates.To; d++ {
			if n := findShortest(offer, r, d, read.To); n > 0 {
				days[d][r.ID] = findMinimum(free, int(d-dates.From), n)
			} else {
				days[d][r.ID] = 0
			}
		}
	}
	return nil
}

// findShortest returns the smallest number of days for which a rental can be reserved from the date `d`
// on. The business must be open for pick-up on `d` and for the return on the last day. The result is 0
// if no pick-up is possible on `d`, or no return is possible until the date in the argument `last`.
func findShortest(offer *catalog.Snapshot, r *catalog.Rental, d, last timespan.Date) int {
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

// maxClosedDays is the largest number of consecutive closed dates by which countFree delays the return of a rental.
const maxClosedDays = 31

// findMinimum returns the smallest of the `n` values of the slice `free` that
// begin at the index `first`. It returns 0 if the slice has too few values.
func findMinimum(free []int, first, n int) int {
	if first+n > len(free) {
		return 0
	}
	return slices.Min(free[first : first+n])
}

// newUnverified returns a fault with code availability_unverified for data that could not be
// read, and logs the error. /rental-availability answers with this fault, because the answer
// of /rental-availability has no field "computed". The argument `missing` names the data.
func (p *Public) newUnverified(ctx context.Context, missing string, err error) error {
	p.recordDegraded(ctx, missing, err)
	return fault.Wrap(fault.AvailabilityUnverified, err, "Availability could not be checked; try again shortly.")
}

// recordDegraded counts and logs that the data named by the argument `missing` could not be read.
func (p *Public) recordDegraded(ctx context.Context, missing string, err error) {
	p.degraded.Add(ctx, 1, metric.WithAttributes(attribute.String("missing", missing)))
	p.tel.Logger.WarnContext(ctx, "a rental calendar could not be computed", "missing", missing, "error", err)
}
