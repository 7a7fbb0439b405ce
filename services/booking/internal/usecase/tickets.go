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

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/pricing"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/sale"
	"github.com/slotmesh/slotmesh/libs/sale/formdata"
	"github.com/slotmesh/slotmesh/libs/sale/pricelabel"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/locale"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	bookingrequest "github.com/slotmesh/slotmesh/services/booking/internal/request"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// The maximum lengths of the customer's name and telephone number in an order, in characters.
const (
	maxCustomerName  = 200
	maxCustomerPhone = 50
)

// Tickets sells orders of tickets. It is safe for concurrent use.
type Tickets struct {
	records *store.Store
	*Booker // for pricing and the payment providers
}

// NewTickets returns a Tickets. It uses the pricing client and the payment providers of the booker.
func NewTickets(records *store.Store, booker *Booker) *Tickets {
	return &Tickets{records: records, Booker: booker}
}

// Order is an order of tickets as its customer receives it. CheckoutURL is the URL of the provider's page on
// which the customer pays. It is "" if no online payment is due now. Only the customer may receive the URL.
type Order struct {
	store.Ticket
	CheckoutURL string
}

// now returns the current time in UTC. It truncates the time to microseconds, which is the precision of the database.
func (t *Tickets) now() time.Time { return t.Clock.Now().UTC().Truncate(time.Microsecond) }

// Sell sells tickets of one event. It sells all tickets of the order,
// or none if the order exceeds a capacity in the newest offer.
//
// The owner may sell tickets of an active event until the event ends, even if the event is
// not public. On the booking page, customers may buy tickets of public events until the
// event begins. These customers pay the current price and must give an e-mail address.
//
// Faults: invalid_parameter; not_found if the offer does not contain the event or a
// tier; conflict if too few tickets are left or the sale has ended; source_forbidden
// for an actor other than the owner and the booking page; the faults of [Offers].
//
// Further faults on the booking page: the faults of the business's account; too_many_open_bookings;
// availability_unverified if pricing is unavailable; payment_not_offered; payment_unavailable.
func (t *Tickets) Sell(ctx context.Context, by actor.Actor, businessID uuid.UUID,
	order booking.NewTicket) (Order, error) {
	if by.Kind != actor.Page && by.Kind != actor.Owner {
		return Order{}, fault.New(fault.SourceForbidden, "Tickets are sold on the booking page or by the owner.")
	}
	ctx = actor.With(ctx, by)
	order, err := normalizeOrder(order)
	if err != nil {
		return Order{}, err
	}
	read := func() (*catalog.Snapshot, error) { return findOffer(ctx, t.Offers, businessID, order.Slug) }
	return sale.RetryChanged(nil, read, func(offer *catalog.Snapshot) (Order, error) {
		return t.attemptSell(ctx, by, offer, order)
	})
}

// normalizeOrder checks and normalizes the fields of an order that do not depend on the offer. A request may have
// a list of tiers, or one tier and its quantity; the result always has the list. Fault: invalid_parameter.
func normalizeOrder(order booking.NewTicket) (booking.NewTicket, error) {
	order.CustomerName = strings.TrimSpace(order.CustomerName)
	if len(order.Tiers) == 0 {
		order.Tiers = []booking.OrderedTier{{TierID: order.TierID, Quantity: order.Quantity}}
	}
	order.Quantity = 0
	for i, tier := range order.Tiers {
		if tier.Quantity < 1 || tier.Quantity > booking.MaxTicketQuantity {
			return order, fault.Newf(fault.InvalidParameter, "quantity: send a whole number from 1 to %d.",
				booking.MaxTicketQuantity)
		}
		if slices.ContainsFunc(order.Tiers[:i],
			func(other booking.OrderedTier) bool { return other.TierID == tier.TierID }) {
			return order, fault.New(fault.InvalidParameter, "tiers: send each tier once, with all its tickets.")
		}
		order.Quantity += tier.Quantity
	}
	switch {
	case order.PaymentChoice != "" && order.PaymentChoice != bookingrequest.PayOnline &&
		order.PaymentChoice != bookingrequest.PayAtDoor:
		return order, fault.New(fault.InvalidParameter, "payment_choice: send online or at_door, or leave it out.")
	case len(order.Tiers) > booking.MaxTicketTiers:
		return order, fault.Newf(fault.InvalidParameter, "tiers: send at most %d.", booking.MaxTicketTiers)
	case order.Quantity > booking.MaxTicketQuantity:
		return order, fault.Newf(fault.InvalidParameter, "quantity: one order takes at most %d tickets.",
			booking.MaxTicketQuantity)
	case !isLine(order.CustomerName, maxCustomerName):
		return order, fault.Newf(fault.InvalidParameter, "customer_name: send 1 to %d characters on one line.",
			maxCustomerName)
	}
	var err error
	if order.CustomerEmail, err = request.OptionalEmail("customer_email", order.CustomerEmail); err != nil {
		return order, err
	}
	order.CustomerPhone, err = request.OptionalLine("customer_phone", order.CustomerPhone, maxCustomerPhone)
	return order, err
}

// attemptSell makes one attempt to sell tickets. Errors: [sale.ErrChanged] if the offer has changed.
func (t *Tickets) attemptSell(ctx context.Context, by actor.Actor, offer *catalog.Snapshot,
	order booking.NewTicket) (Order, error) {
	now, onPage := t.now(), by.Kind == actor.Page
	if onPage {
		if err := cmp.Or(offer.CheckAccount(false, now), checkAddress(order)); err != nil {
			return Order{}, err
		}
	}
	ticket, err := newTicket(offer, order, onPage, now)
	if err == nil {
		ticket.FormData, err = validateTicketAnswers(offer, by, order)
	}
	if err == nil && onPage {
		err = t.price(ctx, offer, &ticket)
	}
	if err == nil && onPage {
		err = t.addPayment(offer, order.PaymentChoice, &ticket)
	}
	if err != nil {
		return Order{}, err
	}
	ticket.LinkHash = t.Links.Hash(event.Ticket, ticket.ID)
	if onPage {
		ticket.MaxOpen = &offer.Bookings.MaxOpenPerCustomer
	}
	stored, err := t.records.SellTicket(ctx, ticket)
	var soldOut *store.SoldOutError
	switch {
	case errors.As(err, &soldOut):
		return Order{}, newSoldOutFault(ticket, soldOut)
	case errors.Is(err, store.ErrTooManyOpen):
		return Order{}, newTooManyOpenFault(*ticket.MaxOpen)
	case errors.Is(err, store.ErrOfferChanged):
		return Order{}, sale.ErrChanged
	case err != nil || stored.Status != booking.StatusPending:
		return Order{Ticket: stored}, err
	case stored.ID != ticket.ID:
		return t.answerPaidRetry(ctx, offer.ID, stored)
	}
	return t.pay(ctx, ticket)
}

// validateTicketAnswers returns the customer's answers to the questions of the business, as
// JSON for the order. Faults: invalid_parameter; the faults of [catalog.Snapshot.CheckAnswers].
func validateTicketAnswers(offer *catalog.Snapshot, by actor.Actor, order booking.NewTicket) (json.RawMessage, error) {
	given, err := formdata.Read("form_data", order.FormData, by)
	if err != nil {
		return nil, err
	}
	answers, err := offer.CheckAnswers(by, given, order.EventID)
	if err != nil {
		return nil, err
	}
	return json.Marshal(answers)
}

// newSoldOutFault returns a fault with code conflict. The message contains the
// number of tickets that are left in each ordered tier and in the event.
func newSoldOutFault(req store.NewTicket, left *store.SoldOutError) error {
	of := make([]string, len(req.Tiers))
	for i, tier := range req.Tiers {
		of[i] = fmt.Sprintf("%d are left of %s", left.TiersLeft[i], tier.Name)
	}
	return fault.Newf(fault.Conflict, "Sold out: asked for %d, while %s and %d of the event.", req.Quantity,
		strings.Join(of, ", "), left.EventLeft)
}

// checkAddress refuses an order without the customer's e-mail address, because the tickets are sent to this address.
func checkAddress(order booking.NewTicket) error {
	if order.CustomerEmail == nil {
		return fault.New(fault.InvalidParameter, "customer_email: this field is required and must not be empty.")
	}
	return nil
}

// price sets the price of one ticket of each tier and the total of the order. The pricing rules of the
// business determine the prices. For the rules, the party size is the number of all tickets of the order.
//
// Rules for a customer's first booking do not apply to tickets (semantics.md
// §5). Errors: [sale.ErrChanged] if pricing used another version of the offer.
func (t *Tickets) price(ctx context.Context, offer *catalog.Snapshot, ticket *store.NewTicket) error {
	ask := pricing.QuotesRequest{
		Slug:         offer.Slug,
		OfferVersion: offer.Version,
		PurchaseAt:   ticket.CreatedAt,
		OmitSteps:    len(offer.Rules) == 0,
	}
	for _, tier := range ticket.Tiers {
		ask.Items = append(ask.Items, pricing.Item{
			Kind: pricing.KindEvent, ID: ticket.EventID, TierID: &tier.ID, Date: offer.Event(ticket.EventID).Date,
			PartySize: &ticket.Quantity,
		})
	}
	answer, err := t.Pricing.Quotes(ctx, ask)
	switch {
	case err != nil:
		return NewUnverifiedFault(err)
	case answer.OfferVersion != offer.Version || len(answer.Quotes) != len(ask.Items):
		return sale.ErrChanged
	}
	ticket.PriceChanges = pricelabel.ListChanges(offer, ticket.Locale, answer.Quotes...)
	ticket.Total = new(int64)
	for i, quote := range answer.Quotes {
		ticket.Tiers[i].Price = &quote.Price
		*ticket.Total += quote.Price * int64(ticket.Tiers[i].Quantity)
	}
	return nil
}

// newTicket returns the order to store, with the event and the tiers of the offer. The tiers have the
// same order as in the event. Faults: not_found if the offer does not contain the event or a tier, or
// if the event is not public and `onPage` is true; conflict if the tickets are not for sale now.
func newTicket(offer *catalog.Snapshot, order booking.NewTicket, onPage bool, now time.Time) (store.NewTicket, error) {
	event := offer.Event(order.EventID)
	if event == nil || !offer.Modules.Events || onPage && !event.Public {
		return store.NewTicket{}, fault.Newf(fault.NotFound, "Event not found: %s", order.EventID)
	}
	ticket := store.NewTicket{
		Ticket: store.Ticket{
			ID: uuid.New(), Status: booking.StatusSold, EventID: event.ID, EventName: event.Name,
			LocalStart: toWallClock(event.Date, event.Start),
			StartsAt:   time.Unix(timespan.Instant(event.Date, event.Start, offer.Location()), 0).UTC(),
			EndsAt:     time.Unix(computeEnd(event, offer.Location()), 0).UTC(), Timezone: offer.Timezone,
			Quantity: order.Quantity, Currency: offer.Money(),
			CustomerName: order.CustomerName, CustomerEmail: order.CustomerEmail, CustomerPhone: order.CustomerPhone,
			Locale: locale.MatchOr(order.Locale, offer.Languages, offer.DefaultLanguage), CreatedAt: now,
		},
		BusinessID: offer.ID, EventCapacity: event.TotalCapacity, OfferVersion: offer.Version,
	}
	for _, tier := range event.Tiers {
		at := slices.IndexFunc(order.Tiers, func(o booking.OrderedTier) bool { return o.TierID == tier.ID })
		if at < 0 {
			continue
		}
		ticket.Tiers = append(ticket.Tiers,
			store.SoldTier{ID: tier.ID, Name: tier.Name, Quantity: order.Tiers[at].Quantity})
		ticket.TierCapacities = append(ticket.TierCapacities, tier.Capacity)
		order.Tiers = slices.Delete(slices.Clone(order.Tiers), at, at+1)
	}
	if len(order.Tiers) > 0 {
		return store.NewTicket{}, fault.Newf(fault.NotFound, "Tier not found: %s", order.Tiers[0].TierID)
	}
	return ticket, checkForSale(event, offer.Location(), onPage, now)
}

// checkForSale returns a fault with code conflict if tickets of the event are not for sale now.
func checkForSale(event *catalog.Event, zone *time.Location, onPage bool, now time.Time) error {
	switch {
	case !event.Active:
		return fault.New(fault.Conflict, "The event is not active, so no tickets are sold for it.")
	case now.Unix() >= computeEnd(event, zone):
		return fault.New(fault.Conflict, "The event is over, so no tickets are sold for it.")
	case onPage && now.Unix() >= timespan.Instant(event.Date, event.Start, zone):
		return fault.New(fault.Conflict, "The event has begun, so no tickets are sold online any more.")
	}
	return nil
}

// computeEnd returns the instant at which an event ends, in Unix seconds. If the time
// of the end is not after the time of the start, the event ends on the next day.
func computeEnd(e *catalog.Event, loc *time.Location) int64 {
	end := e.End
	if end <= e.Start {
		end += timespan.MinutesPerDay
	}
	return timespan.Instant(e.Date, end, loc)
}

// toWallClock returns a local date and time as a [time.Time] in UTC, without
// a conversion. The store writes the value to a column without time zone.
func toWallClock(d timespan.Date, at timespan.TimeOfDay) time.Time {
	year, month, day := d.YMD()
	return time.Date(year, month, day, 0, int(at), 0, 0, time.UTC)
}

// CountAhead returns the number of tickets of events that begin today or later in the time zone of the business.
// Tickets of cancelled orders do not count. Faults: the faults of [Offers]; invalid_parameter if the slug belongs
// to another business.
func (t *Tickets) CountAhead(ctx context.Context, businessID uuid.UUID, slug string) (int, error) {
	offer, err := findOffer(ctx, t.Offers, businessID, slug)
	if err != nil {
		return 0, err
	}
	return t.records.CountTicketsAhead(ctx, businessID, offer.Today(t.Clock.Now()))
}
