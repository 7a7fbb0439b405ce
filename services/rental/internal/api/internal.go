package api

import (
	"encoding/json"
	"errors"
	"strconv"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/peer/rental"
	"github.com/slotmesh/slotmesh/libs/request"
	"github.com/slotmesh/slotmesh/libs/server"
	"github.com/slotmesh/slotmesh/libs/telemetry"
	"github.com/slotmesh/slotmesh/services/rental/internal/occupancy"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
)

// Internal serves the peer API under /internal.
type Internal struct {
	offers   Offers
	records  Records
	clock    clock.Clock
	reserved metric.Int64Counter
}

// NewInternal returns the internal API.
func NewInternal(offers Offers, records Records, now clock.Clock, tel *telemetry.Telemetry) *Internal {
	return &Internal{
		offers: offers, records: records, clock: now,
		reserved: tel.Counter("slotmesh.rental.reservations", "Attempts to reserve by outcome."),
	}
}

// Mount adds the routes.
func (in *Internal) Mount(router fiber.Router) {
	business := router.Group("/internal/businesses/:slug")
	business.Get("/ceilings", in.ceilings)
	business.Post("/reservations", in.once(in.reserve, fiber.StatusCreated))
	business.Get("/reservations", in.reservations)
	business.Get("/reservations/ahead", in.ahead)
	business.Post("/reservations/:id/:move", in.once(in.move, fiber.StatusOK))
}

// once makes an owner's write once for each Idempotency-Key of a business.
func (in *Internal) once(write fiber.Handler, status int) fiber.Handler {
	return server.Once(write, func(c *fiber.Ctx) ([]byte, error) {
		offer, err := in.offers.Get(c.UserContext(), c.Params("slug"))
		switch {
		case fault.Is(err, fault.BusinessNotFound):
			return nil, nil // and the write of whoever comes late is not there for anybody
		case err != nil:
			return nil, fault.Unknown(err)
		}
		return in.records.Outcome(c.UserContext(), offer.ID)
	}, func(c *fiber.Ctx, answer []byte) error {
		offer, err := in.offers.Get(c.UserContext(), c.Params("slug"))
		if err != nil {
			return fault.Unknown(err)
		}
		var made store.Reservation
		if err := json.Unmarshal(answer, &made); err != nil {
			return err
		}
		return send(c.Status(status), in.show(offer, made))
	})
}

// ceilings answers max_bookable_online of every rental of a business.
func (in *Internal) ceilings(c *fiber.Ctx) error {
	version, err := strconv.ParseInt(c.Query("offer_version"), 10, 64)
	if err != nil {
		return request.Invalid("offer_version: send the version of the offer as a whole number.")
	}
	offer, err := in.offers.AtLeast(c.UserContext(), c.Params("slug"), version)
	if err != nil {
		return err
	}
	answer := rental.Ceilings{Ceilings: make(map[uuid.UUID]int, len(offer.Rentals))}
	for i := range offer.Rentals {
		answer.Ceilings[offer.Rentals[i].ID] = occupancy.StockOf(&offer.Rentals[i]).Ceiling()
	}
	return c.JSON(answer)
}

// reserve holds units. The owner may reserve in the past and beyond the advance limit, which bind customers; what units
// there are binds both.
func (in *Internal) reserve(c *fiber.Ctx) error {
	body, err := server.Body(c)
	if err != nil {
		return err
	}
	var asked rental.NewReservation
	if err := json.Unmarshal(body, &asked); err != nil {
		return fault.Wrap(fault.InvalidParameter, err, "The request body is not a reservation; send one such as admin.md shows.")
	}
	q, err := parseReservation(asked)
	if err != nil {
		return err
	}
	offer, err := in.offers.Fresh(c.UserContext(), c.Params("slug"))
	if err != nil {
		return err
	}
	wanted := rentalOf(offer, q.RentalID)
	if wanted == nil {
		return notFound()
	}
	reservation, err := in.newReservation(offer, wanted, q)
	if err != nil {
		return err
	}
	return in.write(c, offer, wanted, reservation)
}

func (in *Internal) newReservation(offer *catalog.Offer, wanted *catalog.Rental, q reservationQuery) (store.NewReservation, error) {
	span, isHours, err := q.hours(wanted, offer.Location(), [2]string{"start_time", "end_time"})
	if err != nil {
		return store.NewReservation{}, err
	}
	r := store.NewReservation{
		BusinessID: offer.ID, ID: uuid.New(), RentalID: wanted.ID, RentalName: wanted.Name, Quantity: q.Quantity,
		Dates: q.Dates, CustomerName: q.CustomerName, OfferVersion: offer.Version, Now: in.clock.Now(),
	}
	if isHours {
		r.Hours = &store.Hours{Start: *q.Start, End: *q.End, During: span}
	}
	return r, nil
}

// write reserves by the same calculation as the calendars.
func (in *Internal) write(c *fiber.Ctx, offer *catalog.Offer, wanted *catalog.Rental, r store.NewReservation) error {
	calendar := occupancy.NewCalendar(offer.Location(), r.Now, r.Dates)
	span := calendar.Span()
	if r.Hours != nil {
		span = r.Hours.During
	}
	free := 0
	written, err := in.records.Reserve(c.UserContext(), r, func(held []occupancy.Reservation) bool {
		free = calendar.During(span, occupancy.StockOf(wanted), held)
		return free >= r.Quantity
	})
	if errors.Is(err, store.ErrLacking) {
		in.count(c, "lacking")
		return fault.Newf(fault.Conflict, "Too few units are free then: %d of the %d asked for.", free, r.Quantity)
	}
	if err != nil {
		return err
	}
	in.count(c, "reserved")
	return send(c.Status(fiber.StatusCreated), in.show(offer, written))
}

func (in *Internal) count(c *fiber.Ctx, outcome string) {
	in.reserved.Add(c.UserContext(), 1, metric.WithAttributes(attribute.String("outcome", outcome)))
}

// show adds whether a reservation is overdue: picked up and not back although its time has ended, in business time.
func (in *Internal) show(offer *catalog.Offer, r store.Reservation) rental.Reservation {
	now := in.clock.Now()
	ended := r.EndDate < offer.Today(now)
	if r.EndsAt != nil {
		ended = !now.Before(*r.EndsAt)
	}
	r.Overdue = ended && r.Status == rental.StatusPickedUp
	return r.Reservation
}

func (in *Internal) reservations(c *fiber.Ctx) error {
	query := server.Query(c)
	from, to, err := query.OptionalDates("from", "to")
	if err != nil {
		return err
	}
	page, err := query.Page()
	if err != nil {
		return err
	}
	offer, err := in.offers.Get(c.UserContext(), c.Params("slug"))
	if err != nil {
		return err
	}
	found, next, err := in.records.Reservations(c.UserContext(), offer.ID, rental.Filter{From: from, To: to}, page)
	if err != nil {
		return err
	}
	list := rental.ReservationList{Reservations: make([]rental.Reservation, len(found)), NextCursor: next}
	for i, r := range found {
		list.Reservations[i] = in.show(offer, r)
	}
	return send(c, list)
}

func (in *Internal) ahead(c *fiber.Ctx) error {
	offer, err := in.offers.Fresh(c.UserContext(), c.Params("slug"))
	if err != nil {
		return err
	}
	n, err := in.records.Ahead(c.UserContext(), offer.ID, offer.Today(in.clock.Now()))
	if err != nil {
		return err
	}
	return c.JSON(rental.AheadCount{Count: n})
}

func (in *Internal) move(c *fiber.Ctx) error {
	id, err := uuid.Parse(c.Params("id"))
	if err != nil {
		return noReservation()
	}
	transition, ok := state.Of(state.Move(c.Params("move")))
	if !ok {
		return fault.New(fault.NotFound, "There is no such move; a reservation can be moved by pickup, return and cancel.")
	}
	offer, err := in.offers.Get(c.UserContext(), c.Params("slug"))
	if err != nil {
		return err
	}
	moved, err := in.records.Move(c.UserContext(), offer.ID, id, transition, in.clock.Now())
	var refused *store.NotAllowedError
	switch {
	case errors.Is(err, store.ErrNotFound):
		return noReservation()
	case errors.As(err, &refused):
		return fault.Newf(fault.Conflict, "The reservation is %s; %s takes one that is %s.", refused.Status, c.Params("move"), transition.From)
	case err != nil:
		return err
	}
	return send(c, in.show(offer, moved))
}

func noReservation() error { return fault.New(fault.NotFound, "Reservation not found") }
