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

// Event is an event as /events describes it, in one language. The field `Tiers` contains the tiers, and the embedded
// field `Inventory` is empty.
type Event struct {
	publicapi.Event
	Tiers []Tier `json:"inventory"`
}

// Tier is a kind of ticket of an event.
type Tier struct{ publicapi.TicketTier }

// SoldOut reports whether no ticket of the tier is left. If the
// number of remaining tickets is unknown, SoldOut returns false.
func (t *Tier) SoldOut() bool { return t.SpotsRemaining != nil && *t.SpotsRemaining == 0 }

// MostTickets is the maximum number of tickets of one tier in one order on the page.
const MostTickets = 20

// Most returns the maximum number of tickets of the tier that a visitor can choose.
func (t *Tier) Most() int {
	if t.SpotsRemaining == nil {
		return MostTickets
	}
	return min(MostTickets, *t.SpotsRemaining)
}

// SoldOut reports whether all tiers of the event are sold out.
func (e *Event) SoldOut() bool {
	return !slices.ContainsFunc(e.Tiers, func(t Tier) bool { return !t.SoldOut() })
}

// Starts returns the time of day at which the event begins.
func (e *Event) Starts() timespan.TimeOfDay { return minute(e.StartTime) }

// Ends returns the time of day at which the event ends. If this
// time is not after the start, the event ends on the next day.
func (e *Event) Ends() timespan.TimeOfDay { return minute(e.EndTime) }

// minute parses a time in the form HH:MM:SS and ignores the seconds. It returns midnight for an invalid text.
func minute(clock string) timespan.TimeOfDay {
	t, err := timespan.ParseTimeOfDay(clock[:min(len(clock), len("15:04"))])
	if err != nil {
		return 0
	}
	return t
}

// Begun reports whether the event `e` has begun. After the beginning, the page no longer sells tickets for the event.
func (b *Business) Begun(e *Event) bool {
	return b.Now.Unix() >= timespan.Instant(e.Date, e.Starts(), b.Offer.Location())
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
	Event *Event
	count map[uuid.UUID]int
}

// tierField returns the name of the form field for the number of tickets of the tier with the given id.
func tierField(id uuid.UUID) string { return "n-" + id.String() }

// Field returns the name of the form field for the number of tickets of the tier `t`.
func (t *Tier) Field() string { return tierField(t.ID) }

// ReadBasket reads the number of tickets of each tier from the fields of a form
// or query. A value that is not a number from 0 to [MostTickets] counts as 0.
func ReadBasket(e *Event, query url.Values) *Basket {
	b := &Basket{e, map[uuid.UUID]int{}}
	for _, t := range e.Tiers {
		if n, err := strconv.Atoi(query.Get(t.Field())); err == nil && n > 0 && n <= MostTickets {
			b.count[t.ID] = n
		}
	}
	return b
}

// Of returns the number of tickets of the tier `t` in the basket.
func (b *Basket) Of(t *Tier) int { return b.count[t.ID] }

// Lines returns the tiers of which the basket contains at least one ticket.
func (b *Basket) Lines() []*Tier {
	var lines []*Tier
	for i := range b.Event.Tiers {
		if t := &b.Event.Tiers[i]; b.count[t.ID] > 0 {
			lines = append(lines, t)
		}
	}
	return lines
}

// Tickets returns the number of tickets of all tiers together.
func (b *Basket) Tickets() int {
	all := 0
	for _, n := range b.count {
		all += n
	}
	return all
}

// Fit reduces the numbers of tickets in the basket to the numbers that are still left. Fit reports whether it reduced a
// number. The sum over all tiers is limited too, because the tiers share the seats of the event.
func (b *Basket) Fit() bool {
	less, left := false, b.Event.SpotsRemaining
	for i := range b.Event.Tiers {
		t := &b.Event.Tiers[i]
		n := min(b.count[t.ID], t.Most())
		if left != nil {
			n = min(n, *left)
			rest := *left - n
			left = &rest
		}
		if n < b.count[t.ID] {
			b.count[t.ID], less = n, true
		}
	}
	return less
}

// Values returns the basket as query parameters, which [ReadBasket] can read.
func (b *Basket) Values() url.Values {
	v := url.Values{}
	for _, t := range b.Lines() {
		v.Set(t.Field(), strconv.Itoa(b.count[t.ID]))
	}
	return v
}

// PriceTickets returns the price of a basket, computed by the same pricing engine as the prices in the list of events.
// Each line is the price of all tickets of one tier. Faults: not_found if a tier no longer exists; service_unavailable.
func (s *Shop) PriceTickets(ctx context.Context, b *Business, basket *Basket) (*Price, error) {
	ask := pricing.QuotesRequest{Slug: b.Offer.Slug, OfferVersion: b.Offer.Version, PurchaseAt: b.Now,
		OmitSteps: len(b.Offer.Rules) == 0}
	party := basket.Tickets()
	for _, t := range basket.Lines() {
		ask.Items = append(ask.Items, pricing.Item{Kind: pricing.KindEvent, ID: basket.Event.ID, TierID: &t.ID,
			Date: basket.Event.Date, PartySize: &party})
	}
	price, total, due, money := &Price{}, int64(0), int64(0), b.Offer.Money()
	price.total(b, "", 0, 0)
	if offered := b.Offer.Event(basket.Event.ID); offered != nil {
		price.StartsAt = time.Unix(timespan.Instant(offered.Date, offered.Start, b.Offer.Location()), 0)
	}
	if len(ask.Items) == 0 {
		return price, nil
	}
	answer, err := s.Prices.Quotes(ctx, ask)
	if err != nil {
		return nil, err
	}
	for i, t := range basket.Lines() {
		quote, n := answer.Quotes[i].Price, int64(basket.Of(t))
		price.Lines = append(price.Lines, money.JSON(quote*n))
		price.Details = append(price.Details, b.detailOf(&answer.Quotes[i]))
		total += quote * n
		due += b.dueOf(basket.Event, quote) * n
	}
	price.total(b, b.Offer.Payments.Modes.Events, total, due)
	return price, nil
}

// dueOf returns the part of the price of a ticket that must be
// paid when the ticket is bought. Both amounts are in minor units.
func (b *Business) dueOf(e *Event, price int64) int64 {
	offered := b.Offer.Event(e.ID)
	if offered == nil {
		return 0
	}
	return catalog.Due(offered.PaymentRequirement, offered.DepositValue, price, b.Offer.Money())
}

// SellsOnline reports whether customers can buy tickets of the event on the page. It
// returns false if a ticket must be paid online although no payment provider is connected.
func (b *Business) SellsOnline(e *Event) bool {
	offered := b.Offer.Event(e.ID)
	return offered == nil || b.isPaidOnline() || !slices.ContainsFunc(offered.Tiers, func(t catalog.Tier) bool {
		return b.Paying(b.Offer.Payments.Modes.Events, b.dueOf(e, t.Price)) == PayOnline
	})
}

// Buy buys the tickets in a basket, with the booking page as the actor, at most once for each key. It buys either all
// tickets or no ticket. Faults: not_found if the event or a tier no longer exists; conflict if too few tickets are left
// or the sale has ended; the faults of the business's account; payment_unavailable.
func (s *Shop) Buy(ctx context.Context, b *Business, basket *Basket, d Details, key string) (Booked, error) {
	order := booking.NewTicket{
		Slug: b.Offer.Slug, EventID: basket.Event.ID, CustomerName: d.Name, CustomerEmail: &d.Email, Locale: d.Language,
	}
	if b.Offer.Payments.Modes.Events == catalog.ModeCustomerChoice {
		order.PaymentChoice = d.Pay
	}
	for _, t := range basket.Lines() {
		order.Tiers = append(order.Tiers, booking.OrderedTier{TierID: t.ID, Quantity: basket.Of(t)})
	}
	var err error
	if order.CustomerPhone, order.FormData, err = d.told(); err != nil {
		return Booked{}, err
	}
	sold, err := once(ctx, key, func(ctx context.Context) (*booking.Ticket, error) {
		return s.Bookings.SellTicket(ctx, b.Offer.ID, order)
	})
	if err != nil {
		return Booked{}, err
	}
	return Booked{sold.ManageURL, sold.CheckoutURL}, nil
}
