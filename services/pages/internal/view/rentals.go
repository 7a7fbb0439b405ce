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

// RentalTimes contains the times at which a rental is free: the free dates of a month, and the free starts on one day.
// IsKnown is true if the starts are known. The zero value is for a rental that customers cannot reserve on the page.
type RentalTimes struct {
	Calendar *usecase.Calendar
	Starts   []rental.Start
	IsKnown  bool
}

// rentalStep returns the path of a rental's page, relative to the business's first page.
func rentalStep(r *usecase.Rental) string { return "rentals/" + r.ID.String() }

// UnrentedReason returns a sentence that explains why customers cannot reserve the rental on the page. UnrentedReason
// returns "" if customers can reserve the rental.
func UnrentedReason(p *Page, r *usecase.Rental) string {
	switch {
	case !p.Business.RentsOnline(r):
		return p.Words.Say("ask_business")
	case r.MaxUnits() == 0:
		return p.Words.Say("nothing")
	}
	return ""
}

// rateText returns the text for the price of a rental per hour or day. The
// text begins with "from" if the price can be higher at another time.
func (p *Page) rateText(r *usecase.Rental) string {
	price := currentPrice(r.Price, r.QuotedPrice)
	if money.Number(price).IsZero() {
		return p.Words.Say("free")
	}
	text := p.Words.With(map[bool]string{true: "per_hour", false: "per_day"}[r.IsHourly()], "Price", p.money(price))
	minor, err := p.Business.Snapshot.Money().Minor(money.Number(price))
	if money.Number(price).LessThan(money.Number(r.Price)) || err == nil &&
		usecase.CanRentalPriceRise(p.Business.Snapshot, r.ID,
			minor) {
		return p.Words.With("from", "Price", text)
	}
	return text
}

// depositText returns a text with the deposit `amount`. It returns "" if the payment requirement `requirement` is not a
// deposit.
func (p *Page) depositText(requirement string, amount *json.Number) string {
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

// rentalDepositText returns the deposit of a rental as a text. It
// returns "" if there is no deposit, or if customers pay on site.
func (p *Page) rentalDepositText(r *usecase.Rental) string {
	if p.Business.Snapshot.Payments.Modes.Rentals == catalog.ModeAtDoor {
		return ""
	}
	return p.depositText(r.PaymentRequirement, r.DepositValue)
}

// rentalMonth returns the data for the month of a rental: the free days, and the links to days and to other months.
func (p *Page) rentalMonth(w *usecase.Reservation, c *usecase.Calendar) freeMonth {
	at := rentalStep(w.Rental)
	return freeMonth{
		Calendar: c,
		dayURL:   func(d timespan.Date) templ.SafeURL { return p.queryURL(at, w.OnDate(d).Values()) },
		monthURL: func(first timespan.Date) templ.SafeURL {
			q := w.Values()
			q.Set("month", first.String()[:len("2006-01")])
			return p.queryURL(at, q)
		},
		countText: func(n int) string {
			if w.Rental.IsHourly() {
				return ""
			}
			return p.leftText(n)
		},
	}
}

// lengthText returns a text for the length `n` of a reservation: the hours, or the days with their dates.
func (p *Page) lengthText(w *usecase.Reservation, n int) string {
	if w.Rental.IsHourly() {
		return p.formatDuration(n * 60)
	}
	days := p.Words.Count("days", n)
	if n == 1 {
		return days
	}
	return p.formatDates(*w.From, *w.From+timespan.Date(n-1)) + " (" + days + ")"
}

// formatDates returns a range of dates as a text. The arguments `from` and `until` are the first and the last date.
func (p *Page) formatDates(from, until timespan.Date) string {
	return p.Words.ShortDate(noonUTC(from)) + " – " + p.Words.ShortDate(noonUTC(until))
}

// reservationTime returns the start and the end of a reservation, as one line of text.
func (p *Page) reservationTime(w *usecase.Reservation) string {
	lastDate, endTime := w.End()
	switch {
	case !w.Rental.IsHourly() && lastDate == *w.From:
		return p.Words.Date(noonUTC(*w.From))
	case !w.Rental.IsHourly():
		return p.formatDates(*w.From, lastDate)
	case lastDate == *w.From:
		return p.Words.JoinTime(p.Words.ShortDay(noonUTC(*w.From)), p.clockSpan(*w.Start, endTime))
	}
	return p.startText(*w.From, *w.Start) + " – " + p.startText(lastDate, endTime)
}

// findSelectedStart returns the start that the form shows as selected. The result is the chosen start, if there is one.
// Otherwise the result is the first start in `starts` that is not before the opening time. If there is no such start,
// the result is the opening time.
func (p *Page) findSelectedStart(w *usecase.Reservation, starts []timespan.TimeOfDay) timespan.TimeOfDay {
	if w.Start != nil {
		return *w.Start
	}
	opening := p.Business.OpeningTime(w.Rental.ID, *w.From)
	for _, at := range starts {
		if at >= opening {
			return at
		}
	}
	return opening
}

// wallTime returns a time in UTC with the given date and time of day, for functions that format a time without its
// zone. The time 24:00 is midnight of the next date.
func wallTime(d timespan.Date, t timespan.TimeOfDay) time.Time {
	year, month, number := d.YMD()
	return time.Date(year, month, number, 0, int(t), 0, 0, time.UTC)
}

// lineName returns the text for one rental of a reservation with the number of units, such as "2 × Tent".
func (p *Page) lineName(l usecase.RentalLine) string {
	if l.Units == 1 {
		return l.Name
	}
	return p.quantityText(l.Units, l.Name)
}

// These types are the structured data of rentals for search engines, in the vocabulary of schema.org.
type (
	productData struct {
		Context     string          `json:"@context"`
		Type        string          `json:"@type"`
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Category    string          `json:"category,omitempty"`
		URL         string          `json:"url"`
		Image       string          `json:"image,omitempty"`
		Offers      rentalOfferData `json:"offers"`
	}
	rentalOfferData struct {
		Type     string      `json:"@type"`
		Function string      `json:"businessFunction"`
		Price    json.Number `json:"price"`
		Currency string      `json:"priceCurrency"`
		Rate     rateData    `json:"priceSpecification"`
		URL      string      `json:"url"`
	}
	rateData struct {
		Type     string      `json:"@type"`
		Price    json.Number `json:"price"`
		Currency string      `json:"priceCurrency"`
		Unit     string      `json:"unitCode"` // UN/CEFACT code of the unit: HUR (hour) or DAY
	}
)

// describeRental returns the structured data of a rental.
func (p *Page) describeRental(r *usecase.Rental) any {
	at, price, unit := p.Base+p.stepPath(rentalStep(r)), currentPrice(r.Price, r.QuotedPrice), "DAY"
	if r.IsHourly() {
		unit = "HUR"
	}
	return productData{
		Context: "https://schema.org", Type: "Product", Name: r.Name, Description: r.Description, Category: r.Category,
		URL: at, Image: r.ImageURL,
		Offers: rentalOfferData{
			Type: "Offer", Function: "http://purl.org/goodrelations/v1#LeaseOut", Price: price,
			Currency: p.Business.Snapshot.Currency, URL: at,
			Rate: rateData{"UnitPriceSpecification", price, p.Business.Snapshot.Currency, unit},
		},
	}
}

// describeRentals returns the structured data of a list of rentals.
func (p *Page) describeRentals(rentals []*usecase.Rental) any {
	all := make([]any, len(rentals))
	for i, r := range rentals {
		all[i] = p.describeRental(r)
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

// startField returns the form field for the start time of a reservation. The options are the times in `starts`. If
// `starts` is nil, the options are the half hours of the date. If the longest length that is possible from a start is
// below the maximum, the option for this start also shows this length.
func (p *Page) startField(w *usecase.Reservation, starts []rental.Start) web.Field {
	if starts == nil {
		for _, at := range p.Business.HourlyStarts(*w.From) {
			starts = append(starts, rental.Start{Time: &at, Longest: maxLength(w)})
		}
	}
	var all []timespan.TimeOfDay
	field := web.Field{Name: "start", Label: p.Words.Say("start_at"), Required: true}
	for _, s := range starts {
		label := p.clock(*s.Time)
		if s.Longest < maxLength(w) {
			label += " (≤ " + p.lengthText(w, s.Longest) + ")"
		}
		option := web.Option{Value: s.Time.String(), Label: label}
		if n := len(all); n > 0 && all[n-1] == *s.Time { // longer lengths replace the option for the same start
			field.Options[n-1] = option
			continue
		}
		all = append(all, *s.Time)
		field.Options = append(field.Options, option)
	}
	field.Value = p.findSelectedStart(w, all).String()
	return field
}

// maxLength returns the maximum length of a reservation of the rental, in hours or days.
func maxLength(w *usecase.Reservation) int {
	all := w.AllLengths()
	return all[len(all)-1]
}

// lengthField returns the form field for the number of hours or days of a reservation. The options are the lengths that
// are possible from at least one time in `starts`. If `starts` is nil, the options are all lengths.
func (p *Page) lengthField(w *usecase.Reservation, starts []rental.Start) web.Field {
	lengths := w.AllLengths()
	if starts != nil {
		lengths = w.FreeLengths(starts)
	}
	field := web.Field{Name: "for", Label: p.Words.Say("how_long"), Value: strconv.Itoa(w.Length), Required: true}
	for _, n := range lengths {
		field.Options = append(field.Options, web.Option{Value: strconv.Itoa(n), Label: p.lengthText(w, n)})
	}
	return field
}

// unitsField returns the form field for the number of units.
func (p *Page) unitsField(w *usecase.Reservation) web.Field {
	field := web.Field{Name: "units", Label: p.Words.Say("manage_quantity"), Value: strconv.Itoa(w.Units),
		Required: true}
	for n := 1; n <= w.Rental.MaxUnits(); n++ {
		field.Options = append(field.Options, web.Option{Value: strconv.Itoa(n), Label: p.Words.Number(n)})
	}
	return field
}

// dayField returns the form field for the first date of the reservation.
func (p *Page) dayField(w *usecase.Reservation) web.Field {
	return web.Field{Name: "from", Label: p.Words.Say("manage_when"), Type: "date", Value: w.From.String(),
		Required: true}
}
