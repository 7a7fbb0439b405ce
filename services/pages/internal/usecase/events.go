package usecase

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/pricing"
	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// Event is an event as GET /events describes it, in one language. The field `Tiers` has the same JSON name as the field
// Inventory of the embedded type. Therefore the tickets are decoded into `Tiers`, and Inventory stays empty.
type Event struct {
	publicapi.Event
	Tiers []Tier `json:"inventory"`
}

// Tier is a kind of ticket of an event.
type Tier struct{ publicapi.TicketTier }

// IsSoldOut reports whether no ticket of the tier is left. If the
// number of remaining tickets is unknown, IsSoldOut returns false.
func (t *Tier) IsSoldOut() bool { return t.SpotsRemaining != nil && *t.SpotsRemaining == 0 }

// MaxTickets is the maximum number of tickets of one tier in one order that a customer can make on the page.
const MaxTickets = 20

// MaxTickets returns the maximum number of tickets of the tier that a visitor can choose.
func (t *Tier) MaxTickets() int {
	if t.SpotsRemaining == nil {
		return MaxTickets
	}
	return min(MaxTickets, *t.SpotsRemaining)
}

// IsSoldOut reports whether all tiers of the event are sold out.
func (e *Event) IsSoldOut() bool {
	return !slices.ContainsFunc(e.Tiers, func(t Tier) bool { return !t.IsSoldOut() })
}

// StartClock returns the time of day at which the event begins.
func (e *Event) StartClock() timespan.TimeOfDay { return parseClock(e.StartTime) }

// EndClock returns the time of day at which the event ends. If the result is not after the time of [Event.StartClock],
// the event ends on the next day.
func (e *Event) EndClock() timespan.TimeOfDay { return parseClock(e.EndTime) }

// parseClock parses a time in the form HH:MM:SS and ignores the seconds. It returns midnight for an invalid text.
func parseClock(clock string) timespan.TimeOfDay {
	t, err := timespan.ParseTimeOfDay(clock[:min(len(clock), len("15:04"))])
	if err != nil {
		return 0
	}
	return t
}

// HasBegun reports whether the event `e` has begun, so that the page no longer sells tickets for the event.
func (b *Business) HasBegun(e *Event) bool {
	return b.Now.Unix() >= timespan.Instant(e.Date, e.StartClock(), b.Snapshot.Location())
}

// Events returns the public events from today on, sorted by date and start. The
// texts are in the given language. Faults: business_not_found; service_unavailable.
func (s *Shop) Events(ctx context.Context, slug, language string) ([]*Event, error) {
	list, err := read[struct {
		Events []*Event `json:"events"`
	}](ctx, s.Catalog, slug, "events", url.Values{"locale": {language}})
	if err != nil {
		return nil, err
	}
	return list.Events, nil
}

// Event returns one of the events of [Shop.Events] by its id. Faults: not_found; the faults of [Shop.Events].
func (s *Shop) Event(ctx context.Context, slug, language string, id uuid.UUID) (*Event, error) {
	events, err := s.Events(ctx, slug, language)
	if err != nil {
		return nil, err
	}
	for _, e := range events {
		if e.ID == id {
			return e, nil
		}
	}
	return nil, fault.New(fault.NotFound, "There is no such event.")
}

// Basket contains the number of tickets of each tier that the visitor wants to buy for one event.
type Basket struct {
	Event      *Event
	quantities map[uuid.UUID]int
}

// tierField returns the name of the form field for the number of tickets of the tier with the given id.
func tierField(id uuid.UUID) string { return "n-" + id.String() }

// Field returns the name of the form field for the number of tickets of the tier `t`.
func (t *Tier) Field() string { return tierField(t.ID) }

// ReadBasket reads the number of tickets of each tier from the fields of a form
// or query. A value that is not a number from 0 to [MaxTickets] counts as 0.
func ReadBasket(e *Event, query url.Values) *Basket {
	b := &Basket{e, map[uuid.UUID]int{}}
	for _, t := range e.Tiers {
		if n, err := strconv.Atoi(query.Get(t.Field())); err == nil && n > 0 && n <= MaxTickets {
			b.quantities[t.ID] = n
		}
	}
	return b
}

// Quantity returns the number of tickets of the tier `t` in the basket.
func (b *Basket) Quantity(t *Tier) int { return b.quantities[t.ID] }

// Lines returns the tiers of which the basket contains at least one ticket.
func (b *Basket) Lines() []*Tier {
	var lines []*Tier
	for i := range b.Event.Tiers {
		if t := &b.Event.Tiers[i]; b.quantities[t.ID] > 0 {
			lines = append(lines, t)
		}
	}
	return lines
}

// Tickets returns the number of tickets of all tiers together.
func (b *Basket) Tickets() int {
	sum := 0
	for _, n := range b.quantities {
		sum += n
	}
	return sum
}

// Fit reduces the numbers of tickets in the basket to the numbers that are still left, and reports whether it reduced a
// number. It also limits the sum over all tiers, because the tiers share the seats of the event.
func (b *Basket) Fit() bool {
	isReduced, spots := false, b.Event.SpotsRemaining
	for i := range b.Event.Tiers {
		t := &b.Event.Tiers[i]
		n := min(b.quantities[t.ID], t.MaxTickets())
		if spots != nil {
			n = min(n, *spots)
			rest := *spots - n
			spots = &rest
		}
		if n < b.quantities[t.ID] {
			b.quantities[t.ID], isReduced = n, true
		}
	}
	return isReduced
}

// Values returns the basket as query parameters, which [ReadBasket] can read.
func (b *Basket) Values() url.Values {
	v := url.Values{}
	for _, t := range b.Lines() {
		v.Set(t.Field(), strconv.Itoa(b.quantities[t.ID]))
	}
	return v
}

// PriceTickets returns the price of a basket. The pricing service computes it in the same way as the prices in the list
// of events. Each line is the price of all tickets of one tier. Faults: not_found if a tier no longer exists;
// service_unavailable.
func (s *Shop) PriceTickets(ctx context.Context, b *Business, basket *Basket) (*Price, error) {
	request := pricing.QuotesRequest{Slug: b.Snapshot.Slug, OfferVersion: b.Snapshot.Version, PurchaseAt: b.Now,
		OmitSteps: len(b.Snapshot.Rules) == 0}
	party := basket.Tickets()
	for _, t := range basket.Lines() {
		request.Items = append(request.Items, pricing.Item{Kind: pricing.KindEvent, ID: basket.Event.ID, TierID: &t.ID,
			Date: basket.Event.Date, PartySize: &party})
	}
	price, total, due, money := &Price{}, int64(0), int64(0), b.Snapshot.Money()
	price.setTotal(b, "", 0, 0)
	if published := b.Snapshot.Event(basket.Event.ID); published != nil {
		price.StartsAt = time.Unix(timespan.Instant(published.Date, published.Start, b.Snapshot.Location()), 0)
	}
	if len(request.Items) == 0 {
		return price, nil
	}
	answer, err := s.Prices.Quotes(ctx, request)
	if err != nil {
		return nil, err
	}
	for i, t := range basket.Lines() {
		quote, n := answer.Quotes[i].Price, int64(basket.Quantity(t))
		price.Lines = append(price.Lines, money.JSON(quote*n))
		price.Details = append(price.Details, b.explainPrice(&answer.Quotes[i]))
		total += quote * n
		due += b.computeTicketDue(basket.Event, quote) * n
	}
	price.setTotal(b, b.Snapshot.Payments.Modes.Events, total, due)
	return price, nil
}

// computeTicketDue returns the part of the price of a ticket that must be
// paid when the ticket is bought. Both amounts are in minor units.
func (b *Business) computeTicketDue(e *Event, price int64) int64 {
	published := b.Snapshot.Event(e.ID)
	if published == nil {
		return 0
	}
	return catalog.Due(published.PaymentRequirement, published.DepositValue, price, b.Snapshot.Money())
}

// SellsOnline reports whether customers can buy tickets of the event on the page. It
// returns false if a ticket must be paid online although no payment provider is connected.
func (b *Business) SellsOnline(e *Event) bool {
	published := b.Snapshot.Event(e.ID)
	return published == nil || b.hasConnectedProvider() || !slices.ContainsFunc(published.Tiers,
		func(t catalog.Tier) bool {
			return b.PayMode(b.Snapshot.Payments.Modes.Events, b.computeTicketDue(e, t.Price)) == PayOnline
		})
}

// Buy buys the tickets in a basket, with the booking page as the actor, at most once for each key. If one of the
// tickets cannot be bought, Buy buys none. Faults: not_found if the event or a tier no longer exists; conflict if too
// few tickets are left or the sale has ended; payment_unavailable; the faults of the business's account, such as
// subscription_inactive.
func (s *Shop) Buy(ctx context.Context, b *Business, basket *Basket, d Details, key string) (Confirmation, error) {
	order := booking.NewTicket{
		Slug: b.Snapshot.Slug, EventID: basket.Event.ID, CustomerName: d.Name, CustomerEmail: &d.Email,
		Locale: d.Language,
	}
	if b.Snapshot.Payments.Modes.Events == catalog.ModeCustomerChoice {
		order.PaymentChoice = d.Pay
	}
	for _, t := range basket.Lines() {
		order.Tiers = append(order.Tiers, booking.OrderedTier{TierID: t.ID, Quantity: basket.Quantity(t)})
	}
	var err error
	if order.CustomerPhone, order.FormData, err = d.encode(); err != nil {
		return Confirmation{}, err
	}
	ticket, err := callIdempotent(ctx, key, func(ctx context.Context) (*booking.Ticket, error) {
		return s.Bookings.SellTicket(ctx, b.Snapshot.ID, order)
	})
	if err != nil {
		return Confirmation{}, err
	}
	return Confirmation{ticket.ManageURL, ticket.CheckoutURL}, nil
}
