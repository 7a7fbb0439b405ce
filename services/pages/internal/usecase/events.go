package usecase

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/peer/pricing"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// Event is an event as /events shows it in one language, with its clock in minutes.
type Event struct {
	ID                 uuid.UUID     `json:"id"`
	Name               string        `json:"name"`
	Description        string        `json:"description"`
	DescriptionHTML    string        `json:"description_html"`
	Date               timespan.Date `json:"date"`
	StartTime          string        `json:"start_time"` // HH:MM:SS, as end_time is
	EndTime            string        `json:"end_time"`   // on the next day where it is not after the start
	ImageURL           string        `json:"image_url"`
	SpotsRemaining     *int          `json:"spots_remaining"` // nil: cannot be told
	Tiers              []Tier        `json:"inventory"`
	PaymentRequirement string        `json:"payment_requirement"`
}

// Tier is a kind of ticket of an event.
type Tier struct {
	ID             uuid.UUID    `json:"id"`
	Name           string       `json:"name"`
	Price          json.Number  `json:"price"`
	QuotedPrice    *json.Number `json:"quoted_price"`
	SpotsRemaining *int         `json:"spots_remaining"` // nil: cannot be told
}

// SoldOut reports whether nothing is left; what cannot be told is not sold out.
func (t *Tier) SoldOut() bool { return t.SpotsRemaining != nil && *t.SpotsRemaining == 0 }

// MostTickets is how many tickets of a tier are sold at once on the page.
const MostTickets = 20

// Most is how many of the tier can be chosen.
func (t *Tier) Most() int {
	if t.SpotsRemaining == nil {
		return MostTickets
	}
	return min(MostTickets, *t.SpotsRemaining)
}

// SoldOut reports whether no tier has anything left.
func (e *Event) SoldOut() bool {
	return !slices.ContainsFunc(e.Tiers, func(t Tier) bool { return !t.SoldOut() })
}

// Starts is the minute of the day at which it begins, Ends that at which it ends.
func (e *Event) Starts() timespan.TimeOfDay { return minute(e.StartTime) }

// Ends is at or before the start where the event ends on the next day.
func (e *Event) Ends() timespan.TimeOfDay { return minute(e.EndTime) }

// minute reads HH:MM:SS, midnight where it cannot.
func minute(clock string) timespan.TimeOfDay {
	t, err := timespan.ParseTimeOfDay(clock[:min(len(clock), len("15:04"))])
	if err != nil {
		return 0
	}
	return t
}

// Begun reports whether an event has begun: tickets are not sold on the page any more.
func (b *Business) Begun(e *Event) bool {
	return b.Now.Unix() >= timespan.Instant(e.Date, e.Starts(), b.Offer.Location())
}

// Events are the public events of today and later, in the order in which they happen, with the texts in the language. Faults:
// business_not_found; service_unavailable.
func (s *Shop) Events(ctx context.Context, slug, language string) ([]*Event, error) {
	list, err := read[struct {
		Events []*Event `json:"events"`
	}](ctx, s.Catalog, slug, "events", url.Values{"locale": {language}})
	if err != nil {
		return nil, err
	}
	return list.Events, nil
}

// Event is one of [Shop.Events]. Faults: not_found.
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

// Basket is tickets of an event that are to be bought: how many of each tier.
type Basket struct {
	Event *Event
	count map[uuid.UUID]int
}

// tierField names the field of how many of a tier are wanted.
func tierField(id uuid.UUID) string { return "n-" + id.String() }

// Field names the field of how many of the tier are wanted.
func (t *Tier) Field() string { return tierField(t.ID) }

// ReadBasket reads how many of each tier are wanted; what is no number, or none from 0 to [MostTickets], is none.
func ReadBasket(e *Event, query url.Values) *Basket {
	b := &Basket{e, map[uuid.UUID]int{}}
	for _, t := range e.Tiers {
		if n, err := strconv.Atoi(query.Get(t.Field())); err == nil && n > 0 && n <= MostTickets {
			b.count[t.ID] = n
		}
	}
	return b
}

// Of is how many of a tier are wanted.
func (b *Basket) Of(t *Tier) int { return b.count[t.ID] }

// Lines are the tiers of which tickets are wanted.
func (b *Basket) Lines() []*Tier {
	var lines []*Tier
	for i := range b.Event.Tiers {
		if t := &b.Event.Tiers[i]; b.count[t.ID] > 0 {
			lines = append(lines, t)
		}
	}
	return lines
}

// Tickets is how many are wanted of all tiers.
func (b *Basket) Tickets() int {
	all := 0
	for _, n := range b.count {
		all += n
	}
	return all
}

// Fit takes out what is not left, and reports whether there was something: then of some tier fewer are wanted than before. Tiers
// share the seats of their event, which bound their sum.
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

// Values is the query of the basket.
func (b *Basket) Values() url.Values {
	v := url.Values{}
	for _, t := range b.Lines() {
		v.Set(t.Field(), strconv.Itoa(b.count[t.ID]))
	}
	return v
}

// PriceTickets quotes a basket, by the engine that priced the list: lines are of all tickets of a tier. Faults: not_found where a
// tier is gone; service_unavailable.
func (s *Shop) PriceTickets(ctx context.Context, b *Business, basket *Basket) (*Price, error) {
	ask := pricing.QuotesRequest{Slug: b.Offer.Slug, OfferVersion: b.Offer.Version, PurchaseAt: b.Now, OmitSteps: len(b.Offer.Rules) == 0}
	party := basket.Tickets()
	for _, t := range basket.Lines() {
		ask.Items = append(ask.Items, pricing.Item{Kind: pricing.KindEvent, ID: basket.Event.ID, TierID: &t.ID, Date: basket.Event.Date, PartySize: &party})
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

// dueOf is what of the price of a ticket is to be paid when it is bought, in minor units.
func (b *Business) dueOf(e *Event, price int64) int64 {
	offered := b.Offer.Event(e.ID)
	if offered == nil {
		return 0
	}
	return catalog.Due(offered.PaymentRequirement, offered.DepositValue, price, b.Offer.Money())
}

// SellsOnline reports whether the page may sell tickets of an event: not where something must be paid online and nobody can be paid through.
func (b *Business) SellsOnline(e *Event) bool {
	offered := b.Offer.Event(e.ID)
	return offered == nil || b.isPaidOnline() || !slices.ContainsFunc(offered.Tiers, func(t catalog.Tier) bool {
		return b.Paying(b.Offer.Payments.Modes.Events, b.dueOf(e, t.Price)) == PayOnline
	})
}

// Buy buys the tickets of a basket as the page, all or none, once for each key. Faults: not_found where the event or a tier is gone; conflict
// where not as many are left, or nothing is sold any more; what the business's account does not allow; payment_unavailable.
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
