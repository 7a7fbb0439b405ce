// Package view is how the owner's pages look: one templ file for each page, and what their texts are made of. Views take what use cases
// return and decide nothing but what of it a person may see, which internal/access says.
package view

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/slotmesh/slotmesh/libs/message/words"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/libs/web"
	"github.com/slotmesh/slotmesh/services/console/internal/access"
)

//go:generate go run github.com/a-h/templ/cmd/templ@v0.3.977 generate -log-level error

// Page is what every page knows.
type Page struct {
	Words    *words.Words
	Business *catalog.Offer           // nil outside of one
	Person   string                   // who is signed in
	Seal     func(path string) string // hides customers' data in the query of a path
	Searches bool                     // the person may look for customers
	Switches bool                     // the person may open another business
	May      func(access.Action) bool
	Now      time.Time
	Place    Place  // which entry of the menu it belongs to
	Query    string // what is searched for
	Notice   string // what was done; ""
	Wrong    string // what was not done, and why; ""
	Undo     *Undo  // of what was done; nil for nothing to undo
	Nonce    string // of the one inline style; "" for none
	Style    string
	Script   string
}

// Content is the inside of a page.
type Content struct {
	Title string
	Body  templ.Component
}

// Place is an entry of the menu.
type Place string

// The places.
const (
	PlaceNone      Place = ""
	PlaceToday     Place = "today"
	PlaceCalendar  Place = "calendar"
	PlaceBookings  Place = "bookings"
	PlaceNew       Place = "new"
	PlaceSettings  Place = "settings"
	PlaceMore      Place = "more"
	PlaceEvents    Place = "events"
	PlaceRentals   Place = "rentals"
	PlaceClasses   Place = "classes"
	PlaceCustomers Place = "customers"
	PlaceMessages  Place = "messages"
	PlaceReports   Place = "reports"
)

// entry is a page that the menu leads to.
type entry struct {
	place Place
	path  string        // below the business's
	needs access.Action // what somebody must be allowed to see it
	tab   bool          // a phone shows it at the thumb, and what is no tab below More
}

// entries are the menu, in its order.
var entries = []entry{
	{PlaceToday, "/today", access.SeeBookings, true},
	{PlaceCalendar, "/calendar", access.SeeBookings, true},
	{PlaceBookings, "/bookings", access.SeeBookings, true},
	{PlaceNew, "/bookings/new", access.Serve, true},
	{PlaceCustomers, "/customers", access.SeeCustomers, false},
	{PlaceClasses, "/classes", access.SeeBookings, false},
	{PlaceEvents, "/events", access.SeeSales, false},
	{PlaceRentals, "/rentals", access.SeeSales, false},
	{PlaceOffer, "/offer", access.ChangeOffer, false},
	{PlaceMessages, "/messages", access.SeeCustomers, false},
	{PlaceReports, "/reports", access.SeeSales, false},
	{PlaceSettings, "/settings", access.SignedIn, false},
	{PlaceMore, "/more", access.SignedIn, true},
}

// rail are the places that the person may go to, as a desk shows them: all beside each other, so that nothing is below More.
func (p *Page) rail() []entry { return p.menu(func(e entry) bool { return e.place != PlaceMore }) }

// tabs are those that a phone shows.
func (p *Page) tabs() []entry { return p.menu(func(e entry) bool { return e.tab }) }

// rest are those that a phone shows below More.
func (p *Page) rest() []entry { return p.menu(func(e entry) bool { return !e.tab }) }

// in reports whether the page belongs to an entry; on a phone, what is no tab belongs to More.
func (p *Page) in(e entry) bool {
	return e.place == p.Place || e.place == PlaceMore && slices.ContainsFunc(p.rest(), func(r entry) bool { return r.place == p.Place })
}

func (p *Page) menu(shown func(entry) bool) []entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e entry) bool {
		return !p.May(e.needs) || !p.offers(e.place) || !shown(e) || e.place == PlaceSettings && !p.hasSettings()
	})
}

// at is an address below the business's.
func (p *Page) at(rest string) templ.SafeURL {
	if p.Seal != nil {
		rest = p.Seal(rest)
	}
	return templ.SafeURL(Path(p.Business.Slug) + rest)
}

// Path is where a business's pages are.
func Path(slug string) string { return "/business/" + slug }

func (p *Page) frame(title string) web.Frame {
	if p.Business != nil {
		title += " · " + p.Business.Name
	}
	return web.Frame{Words: p.Words, Title: title, Style: p.Style, Script: p.Script}
}

// say is a sentence.
func (p *Page) say(id string) string { return p.Words.Say(id) }

// money writes an amount.
func (p *Page) money(amount json.Number, currency string) string {
	return p.Words.Amount(amount.String(), currency)
}

// nothing reports whether an amount is 0.
func nothing(n json.Number) bool { return strings.Trim(n.String(), "0.-") == "" }

// wall is a date and a time of the day as a time that words are made of, whatever the zone; the zero time where they cannot be read.
func wall(date, clock string) time.Time {
	t, err := time.Parse(time.DateTime, date+" "+clock)
	if err != nil {
		return time.Time{}
	}
	return t
}

// day is a date as a time at noon, which dates are written from.
func day(d timespan.Date) time.Time {
	year, month, number := d.YMD()
	return time.Date(year, month, number, 12, 0, 0, 0, time.UTC)
}

// local is an instant on the business's wall clock.
func (p *Page) local(t time.Time) time.Time {
	if p.Business == nil {
		return t.UTC()
	}
	return t.In(p.Business.Location())
}

// moment is a date with a time of the day, on the business's wall clock.
func (p *Page) moment(t time.Time) string {
	l := p.local(t)
	return p.Words.ShortDate(l) + " · " + p.Words.Clock(l)
}

// hours is from when to when a booking is, the end with its date where that is another one.
func (p *Page) hours(b booking.Booking) string {
	start, end := p.local(b.StartsAt), p.local(b.EndsAt)
	_, before := start.Zone()
	if _, after := end.Zone(); after < before { // the clock shows an hour of it twice
		from, to := p.Words.Clocks(start, end)
		return from + " – " + to + p.otherZone(b.Timezone)
	}
	return p.Words.Clock(wall(b.Date, b.StartTime)) + " – " + p.Words.Clock(wall(b.Date, b.EndTime)) + p.otherZone(b.Timezone)
}

// otherZone names the time zone in which something was sold after its time, where that is not the business's of today.
func (p *Page) otherZone(sold string) string {
	if sold == "" || p.Business == nil || sold == p.Business.Timezone {
		return ""
	}
	return " (" + sold + ")"
}

// canFinish reports whether the day of a booking allows that its customer has arrived or did not come.
func (p *Page) canFinish(b booking.Booking) bool {
	date, err := timespan.ParseDate(b.Date)
	return err == nil && booking.CanFinish(date, p.todayOf(b))
}

// canReopen reports whether completed or no-show of a booking can still be taken back.
func (p *Page) canReopen(b booking.Booking) bool {
	date, err := timespan.ParseDate(b.Date)
	isFinished := b.Status == booking.StatusCompleted || b.Status == booking.StatusNoShow
	return err == nil && isFinished && booking.CanReopen(date, p.todayOf(b))
}

// todayOf is the date of now in the zone in which a booking was sold.
func (p *Page) todayOf(b booking.Booking) timespan.Date {
	return timespan.DateOf(p.Now, timespan.Zone(b.Timezone, p.Business.Location()))
}

// date is a booking's date, whole.
func (p *Page) date(b booking.Booking) string { return p.Words.Date(wall(b.Date, b.StartTime)) }

// start is when a booking begins, short.
func (p *Page) start(b booking.Booking) string {
	at := wall(b.Date, b.StartTime)
	return p.Words.ShortDate(at) + " · " + p.Words.Clock(at) + p.otherZone(b.Timezone)
}

// services names what was booked: its package, and the services of it.
func (p *Page) services(b booking.Booking) string {
	var names []string
	for _, s := range b.Services {
		name := s.Name
		if s.VariantName != "" {
			name += " (" + s.VariantName + ")"
		}
		names = append(names, name)
	}
	what := strings.Join(names, " + ")
	if sold := booking.PackageName(p.Business, b.Services, p.Words.Code); sold != "" {
		return sold + " (" + what + ")"
	}
	return what
}

// who is the customer's name; a customer that was forgotten has none.
func (p *Page) who(b booking.Booking) string {
	if b.CustomerName == "" {
		return p.say("forgotten")
	}
	return b.CustomerName
}

// with are the member and the number of people, as far as there is something to say.
func (p *Page) with(b booking.Booking) string {
	var parts []string
	if b.StaffName != nil {
		parts = append(parts, *b.StaffName)
	}
	if b.PartySize > 1 {
		parts = append(parts, p.Words.Count("people_count", b.PartySize))
	}
	return strings.Join(parts, " · ")
}

// status names a booking's status. Who has come is there until the booking is over.
func (p *Page) status(b booking.Booking) string {
	if b.Status == booking.StatusCompleted && p.Now.Before(b.EndsAt) {
		return p.say("status_arrived")
	}
	if waitsPaid(b) {
		return p.say("status_pending_paid")
	}
	return p.say("status_" + b.Status)
}

// waitsPaid reports whether a booking is paid online and waits for the business's confirmation.
func waitsPaid(b booking.Booking) bool {
	return b.Status == booking.StatusPending && b.Payment != nil && b.Payment.Status == booking.PaymentPaid
}

// unpaid is what is still to be paid online of a booking that is not cancelled.
func unpaid(b booking.Booking) bool {
	return b.Payment != nil && b.Payment.Status == booking.PaymentOpen && b.Status != booking.StatusCancelled
}

// atDoor is what of a booking is paid when the customer comes.
func atDoor(b booking.Booking) bool { return b.Payment == nil && !nothing(b.Total) }

// ahead reports whether the customer is still expected.
func ahead(b booking.Booking) bool {
	return b.Status == booking.StatusPending || b.Status == booking.StatusConfirmed
}

// query writes parameters behind a path.
func query(values url.Values) string {
	if len(values) == 0 {
		return ""
	}
	return "?" + values.Encode()
}

// withCursor is the address of another page of a list.
func withCursor(at, cursor string) string {
	join := "?"
	if strings.Contains(at, "?") {
		join = "&"
	}
	return at + join + "cursor=" + url.QueryEscape(cursor)
}
