package view

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/a-h/templ"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

// RentalTimes contains the times at which a rental is free: the free dates of a month, and the free starts on the shown
// day. `Known` is true if the starts are known. The zero value is for a rental that customers cannot reserve on the
// page.
type RentalTimes struct {
	Calendar *usecase.Calendar
	Starts   []rental.Start
	Known    bool
}

// rentalStep returns the path of a rental's page, relative to the business's first page.
func rentalStep(r *usecase.Rental) string { return "rentals/" + r.ID.String() }

// Unrented returns a sentence that explains why customers cannot reserve the rental on the page. Unrented returns "" if
// customers can reserve the rental.
func Unrented(p *Page, r *usecase.Rental) string {
	switch {
	case !p.Business.RentsOnline(r):
		return p.Words.Say("ask_business")
	case r.Most() == 0:
		return p.Words.Say("nothing")
	}
	return ""
}

// rate returns the text for the price of a rental per hour or day. The
// text begins with "from" if the price can be higher at another time.
func (p *Page) rate(r *usecase.Rental) string {
	price := shown(r.Price, r.QuotedPrice)
	if money.Number(price).IsZero() {
		return p.Words.Say("free")
	}
	per := p.Words.With(map[bool]string{true: "per_hour", false: "per_day"}[r.Hourly()], "Price", p.money(price))
	minor, err := p.Business.Offer.Money().Minor(money.Number(price))
	if money.Number(price).LessThan(money.Number(r.Price)) || err == nil && usecase.RentalRises(p.Business.Offer, r.ID,
		minor) {
		return p.Words.With("from", "Price", per)
	}
	return per
}

// deposit returns the deposit of a payment requirement as a text. It returns "" if the requirement is not a deposit.
func (p *Page) deposit(requirement string, amount *json.Number) string {
	switch {
	case amount == nil:
		return ""
	case requirement == catalog.RequirementDepositPercent:
		return amount.String() + " %"
	case requirement == catalog.RequirementDepositFixed:
		return p.money(*amount)
	}
	return ""
}

// rentalDeposit returns the deposit of a rental as a text. It
// returns "" if there is no deposit, or if customers pay on site.
func (p *Page) rentalDeposit(r *usecase.Rental) string {
	if p.Business.Offer.Payments.Modes.Rentals == catalog.ModeAtDoor {
		return ""
	}
	return p.deposit(r.PaymentRequirement, r.DepositValue)
}

// rentable returns the data for the month of a rental: the free days, and the links to days and to other months.
func (p *Page) rentable(w *usecase.Reservation, c *usecase.Calendar) free {
	at := rentalStep(w.Rental)
	return free{
		Calendar: c,
		on:       func(d timespan.Date) templ.SafeURL { return p.link(at, w.On(d).Values()) },
		month: func(first timespan.Date) templ.SafeURL {
			q := w.Values()
			q.Set("month", first.String()[:len("2006-01")])
			return p.link(at, q)
		},
		says: func(n int) string {
			if w.Rental.Hourly() {
				return ""
			}
			return p.left(n)
		},
	}
}

// lengthOf returns the length `n` of a reservation as a text: hours, or days with their dates.
func (p *Page) lengthOf(w *usecase.Reservation, n int) string {
	if w.Rental.Hourly() {
		return p.duration(n * 60)
	}
	days := p.Words.Count("days", n)
	if n == 1 {
		return days
	}
	return p.dates(*w.From, *w.From+timespan.Date(n-1)) + " (" + days + ")"
}

// dates returns a range of dates as a text. The arguments `from` and `until` are the first and the last date.
func (p *Page) dates(from, until timespan.Date) string {
	return p.Words.ShortDate(day(from)) + " – " + p.Words.ShortDate(day(until))
}

// stretch returns the time of a reservation, from start to end, as one line of text.
func (p *Page) stretch(w *usecase.Reservation) string {
	until, ends := w.Until()
	switch {
	case !w.Rental.Hourly() && until == *w.From:
		return p.Words.Date(day(*w.From))
	case !w.Rental.Hourly():
		return p.dates(*w.From, until)
	case until == *w.From:
		return p.Words.ShortDate(day(*w.From)) + ", " + p.clock(*w.Start) + " – " + p.clock(ends)
	}
	return p.Words.ShortDate(day(*w.From)) + ", " + p.clock(*w.Start) + " – " + p.Words.ShortDate(day(until)) + ", " +
		p.clock(ends)
}

// startsAt returns the start that the form shows as selected. The result is the chosen start, if there is one.
// Otherwise the result is the first start in `all` that is not before the opening time. If there is no such start, the
// result is the opening time.
func (p *Page) startsAt(w *usecase.Reservation, all []timespan.TimeOfDay) timespan.TimeOfDay {
	if w.Start != nil {
		return *w.Start
	}
	opens := p.Business.Opens(*w.From)
	for _, at := range all {
		if at >= opens {
			return at
		}
	}
	return opens
}

// clockOn converts a local time on a date to a time in UTC, which the
// formatting functions expect. The time 24:00 is midnight of the next date.
func clockOn(d timespan.Date, t timespan.TimeOfDay) time.Time {
	year, month, number := d.YMD()
	return time.Date(year, month, number, 0, int(t), 0, 0, time.UTC)
}

// lineName returns the text for one line of a reservation, such as "2 × Tent".
func (p *Page) lineName(l usecase.RentalLine) string {
	if l.Units == 1 {
		return l.Name
	}
	return p.times(l.Units, l.Name)
}

// These types are the structured data of rentals for search engines, in the vocabulary of schema.org.
type (
	aProduct struct {
		Context     string      `json:"@context"`
		Type        string      `json:"@type"`
		Name        string      `json:"name"`
		Description string      `json:"description,omitempty"`
		Category    string      `json:"category,omitempty"`
		URL         string      `json:"url"`
		Image       string      `json:"image,omitempty"`
		Offers      rentalOffer `json:"offers"`
	}
	rentalOffer struct {
		Type     string      `json:"@type"`
		Function string      `json:"businessFunction"`
		Price    json.Number `json:"price"`
		Currency string      `json:"priceCurrency"`
		Rate     aRate       `json:"priceSpecification"`
		URL      string      `json:"url"`
	}
	aRate struct {
		Type     string      `json:"@type"`
		Price    json.Number `json:"price"`
		Currency string      `json:"priceCurrency"`
		Unit     string      `json:"unitCode"` // UN/CEFACT code of the unit: HUR (hour) or DAY
	}
)

// describedRental returns the structured data of a rental.
func (p *Page) describedRental(r *usecase.Rental) any {
	at, price, unit := p.Base+p.path(rentalStep(r)), shown(r.Price, r.QuotedPrice), "DAY"
	if r.Hourly() {
		unit = "HUR"
	}
	return aProduct{
		Context: "https://schema.org", Type: "Product", Name: r.Name, Description: r.Description, Category: r.Category,
		URL: at, Image: r.ImageURL,
		Offers: rentalOffer{
			Type: "Offer", Function: "http://purl.org/goodrelations/v1#LeaseOut", Price: price,
			Currency: p.Business.Offer.Currency, URL: at,
			Rate: aRate{"UnitPriceSpecification", price, p.Business.Offer.Currency, unit},
		},
	}
}

// describedRentals returns the structured data of a list of rentals.
func (p *Page) describedRentals(rentals []*usecase.Rental) any {
	all := make([]any, len(rentals))
	for i, r := range rentals {
		all[i] = p.describedRental(r)
	}
	return all
}

// rentalGroup holds the rentals of one category.
type rentalGroup struct {
	category string
	rentals  []*usecase.Rental
}

// rentalGroups groups rentals by category. The categories are in the order of their first rentals.
func rentalGroups(rentals []*usecase.Rental) []rentalGroup {
	var groups []rentalGroup
	for _, r := range rentals {
		at := 0
		for at < len(groups) && groups[at].category != r.Category {
			at++
		}
		if at == len(groups) {
			groups = append(groups, rentalGroup{category: r.Category})
		}
		groups[at].rentals = append(groups[at].rentals, r)
	}
	return groups
}

// startField returns the form field for the start time. The options are the times in `starts`. If `starts` is nil, the
// options are the half hours of the date. If an option allows only a length below the maximum, the option also shows
// this length.
func (p *Page) startField(w *usecase.Reservation, starts []rental.Start) web.Field {
	if starts == nil {
		for _, at := range p.Business.Starts(*w.From) {
			starts = append(starts, rental.Start{Time: &at, Longest: mostLength(w)})
		}
	}
	var all []timespan.TimeOfDay
	field := web.Field{Name: "start", Label: p.Words.Say("start_at"), Required: true}
	for _, s := range starts {
		label := p.clock(*s.Time)
		if s.Longest < mostLength(w) {
			label += " (≤ " + p.lengthOf(w, s.Longest) + ")"
		}
		option := web.Option{Value: s.Time.String(), Label: label}
		if n := len(all); n > 0 && all[n-1] == *s.Time { // a later range replaces the option of a start
			field.Options[n-1] = option
			continue
		}
		all = append(all, *s.Time)
		field.Options = append(field.Options, option)
	}
	field.Value = p.startsAt(w, all).String()
	return field
}

// mostLength returns the maximum length of a reservation of the rental, in hours or days.
func mostLength(w *usecase.Reservation) int {
	all := w.AllLengths()
	return all[len(all)-1]
}

// lengthField returns the form field for the number of hours or days. The options are the lengths that are possible
// from at least one time in `starts`. If `starts` is nil, the options are all lengths.
func (p *Page) lengthField(w *usecase.Reservation, starts []rental.Start) web.Field {
	lengths := w.AllLengths()
	if starts != nil {
		lengths = w.Lengths(starts)
	}
	field := web.Field{Name: "for", Label: p.Words.Say("how_long"), Value: strconv.Itoa(w.For), Required: true}
	for _, n := range lengths {
		field.Options = append(field.Options, web.Option{Value: strconv.Itoa(n), Label: p.lengthOf(w, n)})
	}
	return field
}

// unitsField returns the form field for the number of units.
func (p *Page) unitsField(w *usecase.Reservation) web.Field {
	field := web.Field{Name: "units", Label: p.Words.Say("manage_quantity"), Value: strconv.Itoa(w.Units),
		Required: true}
	for n := 1; n <= w.Rental.Most(); n++ {
		field.Options = append(field.Options, web.Option{Value: strconv.Itoa(n), Label: p.Words.Number(n)})
	}
	return field
}

// dayField returns the form field for the first date of the reservation.
func (p *Page) dayField(w *usecase.Reservation) web.Field {
	return web.Field{Name: "from", Label: p.Words.Say("when"), Type: "date", Value: w.From.String(), Required: true}
}
