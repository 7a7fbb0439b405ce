package usecase

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/actor"
	"github.com/slotmesh/slotmesh/libs/event"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/formdata"
	"github.com/slotmesh/slotmesh/libs/locale"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/peer/pricing"
	"github.com/slotmesh/slotmesh/libs/pricelabel"
	"github.com/slotmesh/slotmesh/libs/request"
	"github.com/slotmesh/slotmesh/libs/timespan"
	bookingrequest "github.com/slotmesh/slotmesh/services/booking/internal/request"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// How many characters the name and the telephone number of a booking's customer may have.
const (
	maxCustomerName  = 200
	maxCustomerPhone = 50
)

// Tickets sells tickets and takes them back. It is safe for many goroutines.
type Tickets struct {
	records *store.Store
	*Booker // prices and charges
}

// NewTickets returns tickets that are priced and charged as a booker's bookings are.
func NewTickets(records *store.Store, booker *Booker) *Tickets {
	return &Tickets{records: records, Booker: booker}
}

// Order is an order of tickets for who ordered them. CheckoutURL is the provider's page on which it is paid, "" where nothing is to be paid
// now; it is for the customer alone.
type Order struct {
	store.Ticket
	CheckoutURL string
}

// now is to the microsecond, as the tables keep it.
func (t *Tickets) now() time.Time { return t.Clock.Now().UTC().Truncate(time.Microsecond) }

// Sell sells tickets of one event under the capacities that the offer has now: all of the order or none. The owner sells for events that
// are not public, too, and at the door until the end; not for one that is inactive or over. On the booking page customers buy tickets of
// public events until they begin, at the price that holds now, and give an address. Faults: invalid_parameter; not_found for an event or
// tier that is not offered; conflict where it does not fit or nothing is sold any more; what [Offers] answers about the business; on
// the page, what its account does not allow, too_many_open_bookings, availability_unverified without a price, and payment_unavailable for
// what must be paid online; source_forbidden for every other actor.
func (t *Tickets) Sell(ctx context.Context, by actor.Actor, businessID uuid.UUID, order booking.NewTicket) (Order, error) {
	if by.Kind != actor.Page && by.Kind != actor.Owner {
		return Order{}, fault.New(fault.SourceForbidden, "Tickets are sold on the booking page or by the owner.")
	}
	ctx = actor.With(ctx, by)
	order, err := checked(order)
	if err != nil {
		return Order{}, err
	}
	for range maxRounds {
		sold, err := t.sell(ctx, by, businessID, order)
		if !errors.Is(err, errAgain) {
			return sold, err
		}
	}
	return Order{}, Unverified(errAgain)
}

// checked is an order with the fields that can be judged without the offer; what is ordered is in Tiers.
func checked(order booking.NewTicket) (booking.NewTicket, error) {
	order.CustomerName = strings.TrimSpace(order.CustomerName)
	if len(order.Tiers) == 0 {
		order.Tiers = []booking.OrderedTier{{TierID: order.TierID, Quantity: order.Quantity}}
	}
	order.Quantity = 0
	for i, tier := range order.Tiers {
		if tier.Quantity < 1 || tier.Quantity > booking.MaxTicketQuantity {
			return order, fault.Newf(fault.InvalidParameter, "quantity: send a whole number from 1 to %d.", booking.MaxTicketQuantity)
		}
		if slices.ContainsFunc(order.Tiers[:i], func(other booking.OrderedTier) bool { return other.TierID == tier.TierID }) {
			return order, fault.New(fault.InvalidParameter, "tiers: send each tier once, with all its tickets.")
		}
		order.Quantity += tier.Quantity
	}
	switch {
	case order.PaymentChoice != "" && order.PaymentChoice != bookingrequest.PayOnline && order.PaymentChoice != bookingrequest.PayAtDoor:
		return order, fault.New(fault.InvalidParameter, "payment_choice: send online or at_door, or leave it out.")
	case len(order.Tiers) > booking.MaxTicketTiers:
		return order, fault.Newf(fault.InvalidParameter, "tiers: send at most %d.", booking.MaxTicketTiers)
	case order.Quantity > booking.MaxTicketQuantity:
		return order, fault.Newf(fault.InvalidParameter, "quantity: one order takes at most %d tickets.", booking.MaxTicketQuantity)
	case !isLine(order.CustomerName, maxCustomerName):
		return order, fault.Newf(fault.InvalidParameter, "customer_name: send 1 to %d characters on one line.", maxCustomerName)
	}
	var err error
	if order.CustomerEmail, err = request.OptionalEmail("customer_email", order.CustomerEmail); err != nil {
		return order, err
	}
	order.CustomerPhone, err = request.OptionalLine("customer_phone", order.CustomerPhone, maxCustomerPhone)
	return order, err
}

// sell is one attempt under one offer. It returns [errAgain] when that has changed.
func (t *Tickets) sell(ctx context.Context, by actor.Actor, businessID uuid.UUID, order booking.NewTicket) (Order, error) {
	offer, err := offerOf(ctx, t.Offers, businessID, order.Slug)
	if err != nil {
		return Order{}, err
	}
	now, onPage := t.now(), by.Kind == actor.Page
	if onPage {
		if err := cmp.Or(offer.CheckAccount(false, now), hasAddress(order)); err != nil {
			return Order{}, err
		}
	}
	ticket, err := offered(offer, order, onPage, now)
	if err == nil {
		ticket.FormData, err = answersTo(offer, by, order)
	}
	if err == nil && onPage {
		err = t.price(ctx, offer, &ticket)
	}
	if err == nil && onPage {
		err = t.charged(offer, order.PaymentChoice, &ticket)
	}
	if err != nil {
		return Order{}, err
	}
	ticket.LinkHash = t.Links.Hash(event.Ticket, ticket.ID)
	if onPage {
		ticket.MaxOpen = &offer.Bookings.MaxOpenPerCustomer
	}
	sold, err := t.records.SellTicket(ctx, ticket)
	var soldOut *store.SoldOutError
	switch {
	case errors.As(err, &soldOut):
		return Order{}, tooFewTickets(ticket, soldOut)
	case errors.Is(err, store.ErrTooManyOpen):
		return Order{}, tooManyOpen(*ticket.MaxOpen)
	case err != nil || sold.Status != booking.StatusPending:
		return Order{Ticket: sold}, err
	case sold.ID != ticket.ID:
		return t.again(ctx, businessID, sold)
	}
	return t.open(ctx, ticket)
}

// answersTo are those that are kept of who orders. Fault: as [catalog.Offer.Answered].
func answersTo(offer *catalog.Offer, by actor.Actor, order booking.NewTicket) (json.RawMessage, error) {
	given, err := formdata.Read("form_data", order.FormData, by)
	if err != nil {
		return nil, err
	}
	kept, err := offer.Answered(by, given, order.EventID)
	if err != nil {
		return nil, err
	}
	return json.Marshal(kept)
}

// tooFewTickets says what is left of what was asked for.
func tooFewTickets(asked store.NewTicket, left *store.SoldOutError) error {
	of := make([]string, len(asked.Tiers))
	for i, tier := range asked.Tiers {
		of[i] = fmt.Sprintf("%d are left of %s", left.TiersLeft[i], tier.Name)
	}
	return fault.Newf(fault.Conflict, "Sold out: asked for %d, while %s and %d of the event.", asked.Quantity, strings.Join(of, ", "), left.EventLeft)
}

// hasAddress refuses an order of a customer without an e-mail address: it is where the tickets go.
func hasAddress(order booking.NewTicket) error {
	if order.CustomerEmail == nil {
		return fault.New(fault.InvalidParameter, "customer_email: this field is required and must not be empty.")
	}
	return nil
}

// price gives each tier of an order the price of one ticket by the business's rules, and the order their total. The party is all tickets
// of the order; whether it is the customer's first says nothing of tickets (semantics.md §5).
func (t *Tickets) price(ctx context.Context, offer *catalog.Offer, ticket *store.NewTicket) error {
	ask := pricing.QuotesRequest{Slug: offer.Slug, OfferVersion: offer.Version, PurchaseAt: ticket.CreatedAt, OmitSteps: len(offer.Rules) == 0}
	for _, tier := range ticket.Tiers {
		ask.Items = append(ask.Items, pricing.Item{
			Kind: pricing.KindEvent, ID: ticket.EventID, TierID: &tier.ID, Date: offer.Event(ticket.EventID).Date, PartySize: &ticket.Quantity,
		})
	}
	answer, err := t.Pricing.Quotes(ctx, ask)
	switch {
	case err != nil:
		return Unverified(err)
	case answer.OfferVersion != offer.Version || len(answer.Quotes) != len(ask.Items):
		return errAgain
	}
	ticket.PriceChanges = pricelabel.Changes(offer, ticket.Locale, answer.Quotes...)
	ticket.Total = new(int64)
	for i, quote := range answer.Quotes {
		ticket.Tiers[i].Price = &quote.Price
		*ticket.Total += quote.Price * int64(ticket.Tiers[i].Quantity)
	}
	return nil
}

// offered finds what an order names in the offer, on the booking page of what customers may buy. Tiers come as the event lists them.
func offered(offer *catalog.Offer, order booking.NewTicket, onPage bool, now time.Time) (store.NewTicket, error) {
	event := offer.Event(order.EventID)
	if event == nil || !offer.Modules.Events || onPage && !event.Public {
		return store.NewTicket{}, fault.Newf(fault.NotFound, "Event not found: %s", order.EventID)
	}
	ticket := store.NewTicket{
		Ticket: store.Ticket{
			ID: uuid.New(), Status: booking.StatusSold, EventID: event.ID, EventName: event.Name,
			LocalStart: wallClock(event.Date, event.Start),
			StartsAt:   time.Unix(timespan.Instant(event.Date, event.Start, offer.Location()), 0).UTC(),
			EndsAt:     time.Unix(endOf(event, offer.Location()), 0).UTC(), Timezone: offer.Timezone,
			Quantity: order.Quantity, Currency: offer.Money(),
			CustomerName: order.CustomerName, CustomerEmail: order.CustomerEmail, CustomerPhone: order.CustomerPhone,
			Locale: locale.Or(order.Locale, offer.Languages, offer.DefaultLanguage), CreatedAt: now,
		},
		BusinessID: offer.ID, EventCapacity: event.TotalCapacity, OfferVersion: offer.Version,
	}
	for _, tier := range event.Tiers {
		at := slices.IndexFunc(order.Tiers, func(o booking.OrderedTier) bool { return o.TierID == tier.ID })
		if at < 0 {
			continue
		}
		ticket.Tiers = append(ticket.Tiers, store.SoldTier{ID: tier.ID, Name: tier.Name, Quantity: order.Tiers[at].Quantity})
		ticket.TierCapacities = append(ticket.TierCapacities, tier.Capacity)
		order.Tiers = slices.Delete(slices.Clone(order.Tiers), at, at+1)
	}
	if len(order.Tiers) > 0 {
		return store.NewTicket{}, fault.Newf(fault.NotFound, "Tier not found: %s", order.Tiers[0].TierID)
	}
	return ticket, forSale(event, offer.Location(), onPage, now)
}

// forSale refuses tickets of an event that are not sold now.
func forSale(event *catalog.Event, zone *time.Location, onPage bool, now time.Time) error {
	switch {
	case !event.Active:
		return fault.New(fault.Conflict, "The event is not active, so no tickets are sold for it.")
	case now.Unix() >= endOf(event, zone):
		return fault.New(fault.Conflict, "The event is over, so no tickets are sold for it.")
	case onPage && now.Unix() >= timespan.Instant(event.Date, event.Start, zone):
		return fault.New(fault.Conflict, "The event has begun, so no tickets are sold online any more.")
	}
	return nil
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

// Ahead counts the tickets, not cancelled, of events that begin today or later in business time. Faults: those of [Offers];
// invalid_parameter where the slug names another business.
func (t *Tickets) Ahead(ctx context.Context, businessID uuid.UUID, slug string) (int, error) {
	offer, err := offerOf(ctx, t.Offers, businessID, slug)
	if err != nil {
		return 0, err
	}
	return t.records.TicketsAhead(ctx, businessID, offer.Today(t.Clock.Now()))
}
