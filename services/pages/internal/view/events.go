package view

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

// fewLeft is the largest number of remaining tickets or units that
// the lists show. If more are left, the lists show no number.
const fewLeft = 10

// eventStep returns the path of an event's page, relative to the business's first page.
func eventStep(e *usecase.Event) string { return "events/" + e.ID.String() }

// Unsold returns a sentence that explains why the page sells no
// tickets of the event. It returns "" if the page sells tickets.
func Unsold(p *Page, e *usecase.Event) string {
	switch {
	case p.Business.Begun(e):
		return p.Words.Say("tickets_over")
	case e.SoldOut():
		return p.Words.Say("sold_out")
	case !p.Business.SellsOnline(e):
		return p.Words.Say("ask_business")
	}
	return ""
}

// happens returns the start and the end of an event as local times of the business.
func (p *Page) happens(e *usecase.Event) string {
	return p.clock(e.Starts()) + " – " + p.clock(e.Ends())
}

// instantOf returns a local time of the business in the format of RFC 3339, with the offset from UTC.
func (p *Page) instantOf(d timespan.Date, t timespan.TimeOfDay) string {
	zone := p.Business.Offer.Location()
	return time.Unix(timespan.Instant(d, t, zone), 0).In(zone).Format(time.RFC3339)
}

// ends returns the end of an event in the format of RFC 3339. If the
// time of the end is not after the start, the end is on the next day.
func (p *Page) ends(e *usecase.Event) string {
	date := e.Date
	if e.Ends() <= e.Starts() {
		date++
	}
	return p.instantOf(date, e.Ends())
}

// ticketsFrom returns the text for the price of the cheapest ticket of an event. If tickets have
// different prices, the text begins with "from". The text is "" if the event has no tickets.
func (p *Page) ticketsFrom(e *usecase.Event) string {
	if len(e.Tiers) == 0 {
		return ""
	}
	least, differ := shown(e.Tiers[0].Price, e.Tiers[0].QuotedPrice), false
	for _, t := range e.Tiers[1:] {
		price := shown(t.Price, t.QuotedPrice)
		differ = differ || !money.Number(price).Equal(money.Number(least))
		if money.Number(price).LessThan(money.Number(least)) {
			least = price
		}
	}
	if differ && money.Number(least).IsZero() {
		return p.Words.With("from", "Price", p.money(least))
	}
	return p.priced(least, differ)
}

// fewOf returns the text for the number of tickets or seats that are
// left. It returns "" if the number is unknown or larger than [fewLeft].
func (p *Page) fewOf(left *int) string {
	switch {
	case left == nil || *left > fewLeft:
		return ""
	case *left == 0:
		return p.Words.Say("sold_out")
	}
	return p.left(*left)
}

func (p *Page) left(n int) string { return p.Words.With("left", "Count", p.Words.Number(n)) }

// numbers returns the whole numbers from 0 to `most`.
func numbers(most int) []int {
	all := make([]int, most+1)
	for i := range all {
		all[i] = i
	}
	return all
}

// times formats a quantity, such as "3 × Adult".
func (p *Page) times(n int, what string) string { return p.Words.Number(n) + " × " + what }

// These types are the structured data of events for search engines, in the vocabulary of schema.org.
type (
	anEvent struct {
		Context     string        `json:"@context"`
		Type        string        `json:"@type"`
		Name        string        `json:"name"`
		Description string        `json:"description,omitempty"`
		URL         string        `json:"url"`
		Image       string        `json:"image,omitempty"`
		Starts      string        `json:"startDate"`
		Ends        string        `json:"endDate"`
		Status      string        `json:"eventStatus"`
		Mode        string        `json:"eventAttendanceMode"`
		Location    aPlace        `json:"location"`
		Organizer   aPlace        `json:"organizer"`
		Offers      []ticketOffer `json:"offers,omitempty"`
	}
	aPlace struct {
		Type string `json:"@type"`
		Name string `json:"name"`
		URL  string `json:"url"`
	}
	ticketOffer struct {
		Type         string      `json:"@type"`
		Name         string      `json:"name"`
		Price        json.Number `json:"price"`
		Currency     string      `json:"priceCurrency"`
		URL          string      `json:"url"`
		Availability string      `json:"availability,omitempty"` // "" if unknown
	}
)

const schema = "https://schema.org/"

// describedEvent returns the structured data of an event.
func (p *Page) describedEvent(e *usecase.Event) any {
	at, home := p.Base+p.path(eventStep(e)), p.Base+p.path("")
	described := anEvent{
		Context: "https://schema.org", Type: "Event", Name: e.Name, Description: e.Description, URL: at,
		Image:  e.ImageURL,
		Starts: p.instantOf(e.Date, e.Starts()), Ends: p.ends(e), Status: schema + "EventScheduled",
		Mode:     schema + "OfflineEventAttendanceMode",
		Location: aPlace{"Place", p.called(), home}, Organizer: aPlace{"Organization", p.called(), home},
	}
	for _, t := range e.Tiers {
		described.Offers = append(described.Offers, ticketOffer{
			Type: "Offer", Name: t.Name, Price: shown(t.Price, t.QuotedPrice), Currency: p.Business.Offer.Currency,
			URL: at, Availability: available(t.SpotsRemaining),
		})
	}
	return described
}

// available returns the schema.org availability for the number of
// tickets that are left. It returns "" if the number is unknown.
func available(left *int) string {
	switch {
	case left == nil:
		return ""
	case *left == 0:
		return schema + "SoldOut"
	case *left <= fewLeft:
		return schema + "LimitedAvailability"
	}
	return schema + "InStock"
}

// describedEvents returns the structured data of a list of events.
func (p *Page) describedEvents(events []*usecase.Event) any {
	all := make([]any, len(events))
	for i, e := range events {
		all[i] = p.describedEvent(e)
	}
	return all
}

// preset returns the number of tickets of a tier that the page shows at first. The result is the number in the basket.
// If the event has only one tier and the basket is empty, the result is 1.
func (p *Page) preset(b *usecase.Basket, t *usecase.Tier) int {
	if b.Tickets() == 0 && len(b.Event.Tiers) == 1 {
		return 1
	}
	return b.Of(t)
}

// basket returns the chosen tickets as a text, such as "3 × Adult + 1 × Child".
func (p *Page) basket(b *usecase.Basket) string {
	var lines []string
	for _, t := range b.Lines() {
		lines = append(lines, p.times(b.Of(t), t.Name))
	}
	return strings.Join(lines, " + ")
}
