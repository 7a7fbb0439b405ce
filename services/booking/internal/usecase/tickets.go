package usecase

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/actor"
	"github.com/slotmesh/slotmesh/libs/event"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/locale"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/request"
	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// maxCustomerName is as long as that of a booking's customer may be.
const maxCustomerName = 200

// SellTickets sells tickets of one tier under the capacities that the offer has now: all of the order or none. The owner sells
// for events that are not public, too, and at the door until the end; not for one that is inactive or over. On the booking page
// customers buy tickets of public events until they begin, and give an address. Faults: invalid_parameter; not_found for an event or
// tier that is not offered; conflict where it does not fit or nothing is sold any more; what [Offers] answers about the business; on
// the page, what its account does not allow, and payment_unavailable for what must be paid online.
func (o *Owner) SellTickets(ctx context.Context, businessID uuid.UUID, order booking.NewTicket) (store.Ticket, error) {
	order.CustomerName = strings.TrimSpace(order.CustomerName)
	switch {
	case order.Quantity < 1 || order.Quantity > booking.MaxTicketQuantity:
		return store.Ticket{}, fault.Newf(fault.InvalidParameter, "quantity: send a whole number from 1 to %d.", booking.MaxTicketQuantity)
	case !isLine(order.CustomerName, maxCustomerName):
		return store.Ticket{}, fault.Newf(fault.InvalidParameter, "customer_name: send 1 to %d characters on one line.", maxCustomerName)
	}
	address, err := request.OptionalEmail("customer_email", order.CustomerEmail)
	if err != nil {
		return store.Ticket{}, err
	}
	order.CustomerEmail = address
	offer, err := o.Offer(ctx, businessID, order.Slug)
	if err != nil {
		return store.Ticket{}, err
	}
	onPage := actor.Of(ctx).Kind == actor.Page
	if onPage {
		err = cmp.Or(offer.CheckAccount(false, o.now()), hasAddress(order))
	}
	if err != nil {
		return store.Ticket{}, err
	}
	ticket, err := offered(offer, order, onPage, o.now())
	if err != nil {
		return store.Ticket{}, err
	}
	ticket.LinkHash = o.links.Hash(event.Ticket, ticket.ID)
	sold, err := o.records.SellTicket(ctx, ticket)
	var soldOut *store.SoldOutError
	if errors.As(err, &soldOut) {
		err = fault.Newf(fault.Conflict, "Sold out: asked for %d, while %d are left of %s and %d of the event.",
			order.Quantity, soldOut.TierLeft, ticket.TierName, soldOut.EventLeft)
	}
	return sold, err
}

// hasAddress refuses an order of a customer without an e-mail address: it is where the tickets go.
func hasAddress(order booking.NewTicket) error {
	if order.CustomerEmail == nil {
		return fault.New(fault.InvalidParameter, "customer_email: this field is required and must not be empty.")
	}
	return nil
}

// offered finds what an order names in the offer, on the booking page of what customers may buy.
func offered(offer *catalog.Offer, order booking.NewTicket, onPage bool, now time.Time) (store.NewTicket, error) {
	event := offer.Event(order.EventID)
	if event == nil || !offer.Modules.Events || onPage && !event.Public {
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
	case onPage && now.Unix() >= timespan.Instant(event.Date, event.Start, offer.Location()):
		return store.NewTicket{}, fault.New(fault.Conflict, "The event has begun, so no tickets are sold online any more.")
	}
	tier := event.Tiers[at]
	if onPage {
		if err := offer.CheckPrepaid(offer.Payments.Modes.Events, event.PaymentRequirement, tier.Price); err != nil {
			return store.NewTicket{}, err
		}
	}
	return store.NewTicket{
		Ticket: store.Ticket{
			ID: uuid.New(), Status: booking.StatusSold, EventID: event.ID, EventName: event.Name, TierID: tier.ID, TierName: tier.Name,
			LocalStart: wallClock(event.Date, event.Start),
			StartsAt:   time.Unix(timespan.Instant(event.Date, event.Start, offer.Location()), 0).UTC(),
			EndsAt:     time.Unix(endOf(event, offer.Location()), 0).UTC(), Quantity: order.Quantity, CustomerName: order.CustomerName,
			CustomerEmail: order.CustomerEmail, Locale: locale.Or(order.Locale, offer.Languages, offer.DefaultLanguage), CreatedAt: now,
		},
		BusinessID: offer.ID, EventCapacity: event.TotalCapacity, TierCapacity: tier.Capacity, OfferVersion: offer.Version,
	}, nil
}

// Offer is the newest of a business, which both its id and its slug name. Faults: invalid_parameter where they name two; what [Offers]
// answers about the business.
func (o *Owner) Offer(ctx context.Context, businessID uuid.UUID, slug string) (*catalog.Offer, error) {
	offer, err := o.offers.Fresh(ctx, slug)
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

// CancelTickets cancels an order, whose tickets are free again at once. Faults: not_found; conflict where it is cancelled.
func (o *Owner) CancelTickets(ctx context.Context, businessID, id uuid.UUID) (store.Ticket, error) {
	cancelled, err := o.records.CancelTicket(ctx, businessID, id, o.clock.Now())
	switch {
	case errors.Is(err, store.ErrNotFound):
		err = fault.New(fault.NotFound, "This business has no such tickets.")
	case errors.Is(err, store.ErrCancelled):
		err = fault.New(fault.Conflict, "The tickets are cancelled already.")
	}
	return cancelled, err
}

// TicketsAhead counts the tickets, not cancelled, of events that begin today or later in business time. Faults: those of [Offers];
// invalid_parameter where the slug names another business.
func (o *Owner) TicketsAhead(ctx context.Context, businessID uuid.UUID, slug string) (int, error) {
	offer, err := o.Offer(ctx, businessID, slug)
	if err != nil {
		return 0, err
	}
	return o.records.TicketsAhead(ctx, businessID, offer.Today(o.clock.Now()))
}
