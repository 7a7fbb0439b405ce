package view

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

// maxShownLeft is the largest number of remaining tickets or seats that the page shows. If more are left, the page
// shows no number.
const maxShownLeft = 10

// eventStep returns the path of an event's page, relative to the business's first page.
func eventStep(e *usecase.Event) string { return "events/" + e.ID.String() }

// UnsoldReason returns a sentence that explains why customers cannot buy tickets of the event on the page. It returns
// "" if customers can buy tickets.
func UnsoldReason(p *Page, e *usecase.Event) string {
	switch {
	case p.Business.HasBegun(e):
		return p.Words.Say("tickets_over")
	case e.IsSoldOut():
		return p.Words.Say("sold_out")
	case !p.Business.SellsOnline(e):
		return p.Words.Say("ask_business")
	}
	return ""
}

// eventHours returns the start and the end of an event as local times of the business.
func (p *Page) eventHours(e *usecase.Event) string {
	return p.clockSpan(e.StartClock(), e.EndClock())
}

// formatInstant returns a local time of the business in the format of RFC 3339, with the offset from UTC.
func (p *Page) formatInstant(d timespan.Date, t timespan.TimeOfDay) string {
	return p.instant(d, t).Format(time.RFC3339)
}

// instant returns the time of a local date and time of day of the business.
func (p *Page) instant(d timespan.Date, t timespan.TimeOfDay) time.Time {
	zone := p.Business.Snapshot.Location()
	return time.Unix(timespan.Instant(d, t, zone), 0).In(zone)
}

// eventEnd returns the end of an event in the format of RFC 3339. If the end, as a time of day, is not after the start,
// the event ends on the next day.
func (p *Page) eventEnd(e *usecase.Event) string {
	date := e.Date
	if e.EndClock() <= e.StartClock() {
		date++
	}
	return p.formatInstant(date, e.EndClock())
}

// ticketPriceText returns the text for the price of the cheapest ticket of the given event. If tickets have different
// prices, the text begins with "from". The text is "" if the event has no tickets.
func (p *Page) ticketPriceText(e *usecase.Event) string {
	if len(e.Tiers) == 0 {
		return ""
	}
	cheapest, isVarying := currentPrice(e.Tiers[0].Price, e.Tiers[0].QuotedPrice), false
	for _, t := range e.Tiers[1:] {
		price := currentPrice(t.Price, t.QuotedPrice)
		isVarying = isVarying || !money.Number(price).Equal(money.Number(cheapest))
		if money.Number(price).LessThan(money.Number(cheapest)) {
			cheapest = price
		}
	}
	if isVarying && money.Number(cheapest).IsZero() {
		return p.Words.With("from", "Price", p.money(cheapest))
	}
	return p.formatPrice(cheapest, isVarying)
}

// fewLeftText returns the text for the number of tickets or seats that are
// left. It returns "" if the number is unknown or larger than [maxShownLeft].
func (p *Page) fewLeftText(left *int) string {
	switch {
	case left == nil || *left > maxShownLeft:
		return ""
	case *left == 0:
		return p.Words.Say("sold_out")
	}
	return p.leftText(*left)
}

func (p *Page) leftText(n int) string { return p.Words.With("left", "Count", p.Words.Number(n)) }

// countTo returns the numbers from 0 to `most`, for a list of quantities.
func countTo(most int) []int {
	all := make([]int, most+1)
	for i := range all {
		all[i] = i
	}
	return all
}

// quantityText formats a quantity, such as "3 × Adult".
func (p *Page) quantityText(n int, what string) string { return p.Words.Number(n) + " × " + what }

// These types are the structured data of events for search engines, in the vocabulary of schema.org.
type (
	eventData struct {
		Context     string            `json:"@context"`
		Type        string            `json:"@type"`
		Name        string            `json:"name"`
		Description string            `json:"description,omitempty"`
		URL         string            `json:"url"`
		Image       string            `json:"image,omitempty"`
		Starts      string            `json:"startDate"`
		Ends        string            `json:"endDate"`
		Status      string            `json:"eventStatus"`
		Mode        string            `json:"eventAttendanceMode"`
		Location    placeData         `json:"location"`
		Organizer   placeData         `json:"organizer"`
		Offers      []ticketOfferData `json:"offers,omitempty"`
	}
	placeData struct {
		Type    string       `json:"@type"`
		Name    string       `json:"name"`
		URL     string       `json:"url"`
		Address *addressData `json:"address,omitempty"`
	}
	ticketOfferData struct {
		Type         string      `json:"@type"`
		Name         string      `json:"name"`
		Price        json.Number `json:"price"`
		Currency     string      `json:"priceCurrency"`
		URL          string      `json:"url"`
		Availability string      `json:"availability,omitempty"` // "" if unknown
	}
)

const schema = "https://schema.org/"

// describeEvent returns the structured data of an event.
func (p *Page) describeEvent(e *usecase.Event) any {
	at, home := p.Base+p.stepPath(eventStep(e)), p.Base+p.stepPath("")
	data := eventData{
		Context: "https://schema.org", Type: "Event", Name: e.Name, Description: e.Description, URL: at,
		Image:  e.ImageURL,
		Starts: p.formatInstant(e.Date, e.StartClock()), Ends: p.eventEnd(e), Status: schema + "EventScheduled",
		Mode:      schema + "OfflineEventAttendanceMode",
		Location:  placeData{"Place", p.businessName(), home, newAddressData(p.place())},
		Organizer: placeData{"Organization", p.businessName(), home, nil},
	}
	if l := p.findLocation(e.ID); l != nil {
		data.Location.Name, data.Location.Address = l.Name.In(p.readerLanguage()), newAddressData(l)
		if l.Kind == catalog.KindLink {
			data.Location.Type, data.Location.URL, data.Mode = "VirtualLocation", at, schema+"OnlineEventAttendanceMode"
		}
	}
	for _, t := range e.Tiers {
		data.Offers = append(data.Offers, ticketOfferData{
			Type: "Offer", Name: t.Name, Price: currentPrice(t.Price, t.QuotedPrice),
			Currency: p.Business.Snapshot.Currency,
			URL:      at, Availability: availability(t.SpotsRemaining),
		})
	}
	return data
}

// availability returns the schema.org availability for the number of
// tickets that are left. It returns "" if the number is unknown.
func availability(left *int) string {
	switch {
	case left == nil:
		return ""
	case *left == 0:
		return schema + "SoldOut"
	case *left <= maxShownLeft:
		return schema + "LimitedAvailability"
	}
	return schema + "InStock"
}

// describeEvents returns the structured data of a list of events.
func (p *Page) describeEvents(events []*usecase.Event) any {
	all := make([]any, len(events))
	for i, e := range events {
		all[i] = p.describeEvent(e)
	}
	return all
}

// initialQuantity returns the number of tickets of the given tier that is selected when the page opens. The result is
// the number in the basket. If the event has only one tier and the basket is empty, the result is 1.
func (p *Page) initialQuantity(b *usecase.Basket, t *usecase.Tier) int {
	if b.Tickets() == 0 && len(b.Event.Tiers) == 1 {
		return 1
	}
	return b.Quantity(t)
}

// basketText returns the chosen tickets as a text, such as "3 × Adult + 1 × Child".
func (p *Page) basketText(b *usecase.Basket) string {
	var lines []string
	for _, t := range b.Lines() {
		lines = append(lines, p.quantityText(b.Quantity(t), t.Name))
	}
	return strings.Join(lines, " + ")
}
