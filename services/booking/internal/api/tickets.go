package api

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/server"
	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/services/booking/internal/desk"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// TicketRecords is what the ticket office needs of the tables; [store.Store] says what its methods do and return.
type TicketRecords interface {
	SellTicket(ctx context.Context, t store.NewTicket) (booking.Ticket, error)
	CancelTicket(ctx context.Context, businessID, id uuid.UUID, now time.Time) (booking.Ticket, error)
	Tickets(ctx context.Context, businessID uuid.UUID, eventID *uuid.UUID, limit int, after string) ([]booking.Ticket, string, error)
	TicketsAhead(ctx context.Context, businessID uuid.UUID, today timespan.Date) (int, error)
	Sales(ctx context.Context, businessID uuid.UUID, eventIDs []uuid.UUID) ([]booking.EventSales, error)
	Outcomes
}

var _ TicketRecords = (*store.Store)(nil)

// Tickets serves the ticket office under /internal (libs/peer/booking is its client).
type Tickets struct {
	records TicketRecords
	offers  desk.Offers
	clock   clock.Clock
}

// NewTickets returns the ticket office. offers gives the newest offer, whose capacities every sale is judged by.
func NewTickets(records TicketRecords, offers desk.Offers, c clock.Clock) *Tickets {
	return &Tickets{records: records, offers: offers, clock: c}
}

// Mount adds the routes.
func (t *Tickets) Mount(app fiber.Router) {
	tickets := app.Group("/internal/businesses/:business/tickets")
	tickets.Post("", once(t.records, t.sell, server.Again(fiber.StatusCreated)))
	tickets.Get("", t.list)
	tickets.Get("/ahead", t.ahead)
	tickets.Post("/sales", t.sales)
	tickets.Post("/:ticket/cancel", once(t.records, t.cancel, server.Again(fiber.StatusOK)))
}

func (t *Tickets) sell(c *fiber.Ctx) error {
	businessID, err := pathID(c, "business")
	if err != nil {
		return err
	}
	body, err := server.Body(c)
	if err != nil {
		return err
	}
	order, err := newTicket(body)
	if err != nil {
		return err
	}
	now := t.clock.Now().UTC().Truncate(time.Microsecond)
	ticket, err := t.offered(c.UserContext(), businessID, order, now)
	if err != nil {
		return err
	}
	sold, err := t.records.SellTicket(c.UserContext(), ticket)
	var soldOut *store.SoldOutError
	if errors.As(err, &soldOut) {
		return fault.Newf(fault.Conflict, "Sold out: asked for %d, while %d are left of %s and %d of the event.",
			order.Quantity, soldOut.TierLeft, ticket.TierName, soldOut.EventLeft)
	}
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusCreated).JSON(sold)
}

// newTicket reads an order.
func newTicket(body []byte) (booking.NewTicket, error) {
	var wire struct {
		Slug         string `json:"slug"`
		EventID      string `json:"event_id"`
		TierID       string `json:"tier_id"`
		Quantity     int    `json:"quantity"`
		CustomerName string `json:"customer_name"`
	}
	if err := json.Unmarshal(body, &wire); err != nil {
		return booking.NewTicket{}, fault.Newf(fault.InvalidParameter,
			"The body must be {\"slug\", \"event_id\", \"tier_id\", \"quantity\", \"customer_name\"}, quantity a whole number and the rest text: %s.", jsonReason(err))
	}
	order := booking.NewTicket{Slug: wire.Slug, Quantity: wire.Quantity, CustomerName: strings.TrimSpace(wire.CustomerName)}
	var eventErr, tierErr error
	order.EventID, eventErr = uuid.Parse(wire.EventID)
	order.TierID, tierErr = uuid.Parse(wire.TierID)
	switch {
	case eventErr != nil:
		return order, fault.New(fault.InvalidParameter, "event_id: send the UUID of an event of the business.")
	case tierErr != nil:
		return order, fault.New(fault.InvalidParameter, "tier_id: send the UUID of a tier of the event.")
	case order.Quantity < 1 || order.Quantity > booking.MaxTicketQuantity:
		return order, fault.Newf(fault.InvalidParameter, "quantity: send a whole number from 1 to %d.", booking.MaxTicketQuantity)
	case !isName(order.CustomerName):
		return order, fault.Newf(fault.InvalidParameter, "customer_name: send 1 to %d characters on one line.", maxCustomerName)
	}
	return order, nil
}

// maxCustomerName is as long as that of a booking's customer may be.
const maxCustomerName = 200

func isName(s string) bool {
	return s != "" && utf8.RuneCountInString(s) <= maxCustomerName && utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// offered finds what an order names in the offer of now. The owner sells for events that are not public, too, and at
// the door until the end; not for one that is inactive or over.
func (t *Tickets) offered(ctx context.Context, businessID uuid.UUID, order booking.NewTicket, now time.Time) (store.NewTicket, error) {
	offer, err := t.offer(ctx, businessID, order.Slug)
	if err != nil {
		return store.NewTicket{}, err
	}
	event := offer.Event(order.EventID)
	if event == nil || !offer.Modules.Events {
		return store.NewTicket{}, fault.Newf(fault.NotFound, "Event not found: %s", order.EventID)
	}
	at := slices.IndexFunc(event.Tiers, func(tier catalog.Tier) bool { return tier.ID == order.TierID })
	if at < 0 {
		return store.NewTicket{}, fault.Newf(fault.NotFound, "Tier not found: %s", order.TierID)
	}
	switch {
	case !event.Active:
		return store.NewTicket{}, fault.New(fault.Conflict, "The event is not active, so no tickets are sold for it.")
	case now.Unix() >= endOf(event, offer.Location()):
		return store.NewTicket{}, fault.New(fault.Conflict, "The event is over, so no tickets are sold for it.")
	}
	tier := event.Tiers[at]
	return store.NewTicket{
		BusinessID: businessID, ID: uuid.New(),
		EventID: event.ID, EventName: event.Name, EventCapacity: event.TotalCapacity,
		TierID: tier.ID, TierName: tier.Name, TierCapacity: tier.Capacity,
		LocalStart: wallClock(event.Date, event.Start), Quantity: order.Quantity, CustomerName: order.CustomerName,
		OfferVersion: offer.Version, Now: now,
	}, nil
}

// offer is the newest of a business, which both its id and its slug name.
func (t *Tickets) offer(ctx context.Context, businessID uuid.UUID, slug string) (*catalog.Offer, error) {
	offer, err := t.offers.Fresh(ctx, slug)
	if err != nil {
		return nil, err
	}
	if offer.ID != businessID {
		return nil, fault.New(fault.InvalidParameter, "slug: names another business than the path.")
	}
	return offer, nil
}

// endOf is the instant, in seconds since the epoch, at which an event ends: on the next day where its end is not after
// its start.
func endOf(e *catalog.Event, loc *time.Location) int64 {
	end := e.End
	if end <= e.Start {
		end += timespan.MinutesPerDay
	}
	return timespan.Instant(e.Date, end, loc)
}

// wallClock is a local time as the store takes it: written as UTC.
func wallClock(d timespan.Date, at timespan.TimeOfDay) time.Time {
	year, month, day := d.YMD()
	return time.Date(year, month, day, 0, int(at), 0, 0, time.UTC)
}

func (t *Tickets) list(c *fiber.Ctx) error {
	businessID, err := pathID(c, "business")
	if err != nil {
		return err
	}
	limit, err := pageLimit(c)
	if err != nil {
		return err
	}
	eventID, err := optionalID(c, "event_id")
	if err != nil {
		return err
	}
	tickets, next, err := t.records.Tickets(c.UserContext(), businessID, eventID, limit, c.Query("cursor"))
	if err != nil {
		return asFault(err)
	}
	return c.JSON(booking.TicketList{Tickets: notNil(tickets), NextCursor: next})
}

func optionalID(c *fiber.Ctx, name string) (*uuid.UUID, error) {
	text := c.Query(name)
	if text == "" {
		return nil, nil
	}
	id, err := uuid.Parse(text)
	if err != nil {
		return nil, fault.Newf(fault.InvalidParameter, "%s: send a UUID, or leave it out.", name)
	}
	return &id, nil
}

func (t *Tickets) ahead(c *fiber.Ctx) error {
	businessID, err := pathID(c, "business")
	if err != nil {
		return err
	}
	offer, err := t.offer(c.UserContext(), businessID, c.Query("slug"))
	if err != nil {
		return err
	}
	n, err := t.records.TicketsAhead(c.UserContext(), businessID, offer.Today(t.clock.Now()))
	if err != nil {
		return err
	}
	return c.JSON(booking.AheadCount{Count: n})
}

func (t *Tickets) sales(c *fiber.Ctx) error {
	businessID, err := pathID(c, "business")
	if err != nil {
		return err
	}
	body, err := server.Body(c)
	if err != nil {
		return err
	}
	var asked booking.SalesRequest
	if err := json.Unmarshal(body, &asked); err != nil || len(asked.EventIDs) > booking.MaxSalesEvents {
		return fault.Newf(fault.InvalidParameter, "event_ids: send at most %d UUIDs of events.", booking.MaxSalesEvents)
	}
	events, err := t.records.Sales(c.UserContext(), businessID, asked.EventIDs)
	if err != nil {
		return err
	}
	return c.JSON(booking.Sales{Events: notNil(events)})
}

func (t *Tickets) cancel(c *fiber.Ctx) error {
	businessID, err := pathID(c, "business")
	if err != nil {
		return err
	}
	ticketID, err := pathID(c, "ticket")
	if err != nil {
		return err
	}
	cancelled, err := t.records.CancelTicket(c.UserContext(), businessID, ticketID, t.clock.Now())
	switch {
	case errors.Is(err, store.ErrNotFound):
		return fault.New(fault.NotFound, "This business has no such tickets.")
	case errors.Is(err, store.ErrCancelled):
		return fault.New(fault.Conflict, "The tickets are cancelled already.")
	case err != nil:
		return err
	}
	return c.JSON(cancelled)
}
