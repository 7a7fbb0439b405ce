// Package view renders the owner's pages. It has one templ file for each page, and the functions that prepare the texts
// of the page. A view shows the result of a use case. It hides the parts that the signed-in person may not see
// according to the permissions in the `access` package.
package view

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/message/words"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

//go:generate go run github.com/a-h/templ/cmd/templ@v0.3.977 generate -log-level error

// Page has the data that every page needs.
type Page struct {
	Words     *words.Words
	Business  *catalog.Snapshot        // nil on pages that belong to no business
	Person    string                   // name of the signed-in person
	Seal      func(path string) string // encrypts customers' data in the query of a path
	CanSearch bool                     // whether the person may search for customers
	CanSwitch bool                     // whether the person may switch to another business
	May       func(access.Action) bool
	MayUse    func(location uuid.UUID) bool // whether the person may see and change bookings at a location
	Now       time.Time
	Place     Place  // menu entry of the page
	Query     string // text of the present search
	Notice    string // text about a completed action; "" for no text
	ErrorText string // text about a refused action and the reason; "" for no text
	Undo      *Undo  // data of the undo button; nil for no button
	Nonce     string // nonce of the one inline style sheet; "" for none
	Style     string
	Script    string
}

// Content is the title of a page, and the part of the page below the menu.
type Content struct {
	Title string
	Body  templ.Component
}

// Place is an entry of the menu. Each page has a place, and the menu marks the entry of this place as current.
type Place string

// The entries of the menu, and the pages that a button of the menu opens.
const (
	PlaceNone      Place = ""
	PlaceToday     Place = "today"
	PlaceCalendar  Place = "calendar"
	PlaceBookings  Place = "bookings"
	PlaceNew       Place = "new"
	PlaceSettings  Place = "settings"
	PlaceMore      Place = "more"
	PlaceSearch    Place = "search"
	PlaceEvents    Place = "events"
	PlaceRentals   Place = "rentals"
	PlaceClasses   Place = "classes"
	PlaceCustomers Place = "customers"
	PlaceReports   Place = "reports"
)

// entry is an entry of the menu, with the page that it links to.
type entry struct {
	place Place
	path  string        // path of the page, relative to the path of the business
	needs access.Action // permission that the page needs
	tab   bool          // a phone shows the entry at the bottom of the screen, not on the page More
}

// entries has the entries of the menu in their order.
var entries = []entry{
	{PlaceToday, "/today", access.SeeBookings, true},
	{PlaceCalendar, "/calendar", access.SeeBookings, true},
	{PlaceBookings, "/bookings", access.SeeBookings, false},
	{PlaceCustomers, "/customers", access.SeeCustomers, true},
	{PlaceClasses, "/classes", access.SeeBookings, false},
	{PlaceEvents, "/events", access.SeeSales, false},
	{PlaceRentals, "/rentals", access.SeeSales, false},
	{PlaceOffer, "/offer", access.ChangeOffer, false},
	{PlaceReports, "/reports", access.SeeSales, false},
	{PlaceSettings, "/settings", access.SignedIn, false},
	{PlaceMore, "/more", access.SignedIn, true},
}

// sideEntries returns the entries of the menu on a wide screen. These are all entries that the person may open, except
// More. On a phone, More links to the entries without a tab.
func (p *Page) sideEntries() []entry {
	return p.filterEntries(func(e entry) bool { return e.place != PlaceMore })
}

// tabEntries returns the menu entries that a phone shows at the bottom of its screen.
func (p *Page) tabEntries() []entry { return p.filterEntries(p.hasTab) }

// moreEntries returns the menu entries that a phone shows only on the page More.
func (p *Page) moreEntries() []entry {
	return p.filterEntries(func(e entry) bool { return !p.hasTab(e) })
}

// hasTab reports whether a phone shows an entry at the bottom of its screen. A person who may not see the customers has
// the tab Bookings instead.
func (p *Page) hasTab(e entry) bool {
	return e.tab || e.place == PlaceBookings && !p.May(access.SeeCustomers)
}

// isCurrent reports whether the menu marks an entry as current. An entry is current if it is the place of the page. The
// entry More is current if the place of the page has no tab.
func (p *Page) isCurrent(e entry) bool {
	return e.place == p.Place || e.place == PlaceMore && slices.ContainsFunc(p.moreEntries(), func(r entry) bool {
		return r.place == p.Place
	})
}

func (p *Page) filterEntries(shown func(entry) bool) []entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e entry) bool {
		return !p.May(e.needs) || !p.offersPlace(e.place) || !shown(e) || e.place == PlaceSettings && !p.hasSettings()
	})
}

// newEntry is an entry of the menu New.
type newEntry struct {
	name  string // the id of the text is new_ and this name
	path  string
	needs access.Action
	has   func(*catalog.Snapshot) bool // whether the business offers this
}

// newEntries has the entries of the menu New in their order.
var newEntries = []newEntry{
	{"booking", "/bookings/new", access.Serve, hasServices},
	{"walk_in", "/bookings/new?walk_in=yes", access.Serve, hasServices},
	{"block", "/time-off", access.EditOffer, func(b *catalog.Snapshot) bool { return len(b.Staff) > 0 }},
	{"rental", "/rentals/new", access.Sell, func(b *catalog.Snapshot) bool { return b.Modules.Rentals }},
	{"tickets", "/events", access.Sell, func(b *catalog.Snapshot) bool { return b.Modules.Events }},
}

func hasServices(b *catalog.Snapshot) bool { return b.Modules.Services }

// listNew returns the entries of the menu New that the business offers and that the person may use.
func (p *Page) listNew() []newEntry {
	return slices.DeleteFunc(slices.Clone(newEntries), func(e newEntry) bool {
		return !p.May(e.needs) || !e.has(p.Business)
	})
}

// initial returns the first letter of the business's name, which the menu shows without a logo.
func (p *Page) initial() string {
	for _, letter := range p.Business.Name {
		return strings.ToUpper(string(letter))
	}
	return ""
}

// at returns the URL of a page of the business. The argument `rest` is the path and the query of the page, relative to
// the path of the business. The function encrypts customers' data in the query.
func (p *Page) at(rest string) templ.SafeURL {
	if p.Seal != nil {
		rest = p.Seal(rest)
	}
	return templ.SafeURL(Path(p.Business.Slug) + rest)
}

// Path returns the path of a business's pages.
func Path(slug string) string { return "/business/" + slug }

func (p *Page) frame(title string) web.Frame {
	if p.Business != nil {
		title += " · " + p.Business.Name
	}
	return web.Frame{Words: p.Words, Title: title, Style: p.Style, Script: p.Script, Icon: web.MarkIcon}
}

// say returns the message text with the given id, in the language of the page.
func (p *Page) say(id string) string { return p.Words.Say(id) }

// money formats an amount in a currency for the reader's region.
func (p *Page) money(amount json.Number, currency string) string {
	return p.Words.Amount(amount.String(), currency)
}

// isZero reports whether an amount is 0.
func isZero(n json.Number) bool { return strings.Trim(n.String(), "0.-") == "" }

// toWallTime returns a date and a time of day as a [time.Time], for formatting only. The time zone of the result has no
// meaning. toWallTime returns the zero time if the date or the time is invalid.
func toWallTime(date, clock string) time.Time {
	t, err := time.Parse(time.DateTime, date+" "+clock)
	if err != nil {
		return time.Time{}
	}
	return t
}

// toNoon returns a date as a [time.Time] at noon UTC, for formatting only.
func toNoon(d timespan.Date) time.Time {
	year, month, number := d.YMD()
	return time.Date(year, month, number, 12, 0, 0, 0, time.UTC)
}

// toLocal converts an instant to the time zone of the business. On a page of no business, it converts the instant to
// UTC.
func (p *Page) toLocal(t time.Time) time.Time {
	if p.Business == nil {
		return t.UTC()
	}
	return t.In(p.Business.Location())
}

// formatInstant formats an instant as a date and a time of day in the time zone of the business.
func (p *Page) formatInstant(t time.Time) string {
	l := p.toLocal(t)
	return p.Words.ShortDate(l) + " · " + p.Words.Clock(l)
}

// formatHours formats the start and the end of a booking as times of day.
func (p *Page) formatHours(b booking.Booking) string {
	start, end := p.toLocal(b.StartsAt), p.toLocal(b.EndsAt)
	_, before := start.Zone()
	if _, after := end.Zone(); after < before { // the clock was set back during the booking, so one hour occurs twice
		from, to := p.Words.Clocks(start, end)
		return from + " – " + to + p.formatOtherZone(b.Timezone)
	}
	return p.Words.Clock(toWallTime(b.Date, b.StartTime)) + " – " + p.Words.Clock(toWallTime(b.Date, b.EndTime)) +
		p.formatOtherZone(b.Timezone)
}

// formatOtherZone returns the time zone in which a booking was sold, in brackets. It returns "" if this is the present
// time zone of the business.
func (p *Page) formatOtherZone(sold string) string {
	if sold == "" || p.Business == nil || sold == p.Business.Timezone {
		return ""
	}
	return " (" + sold + ")"
}

// canFinish reports whether the date of a booking allows the person to mark the booking as completed or as no-show.
func (p *Page) canFinish(b booking.Booking) bool {
	date, err := timespan.ParseDate(b.Date)
	return err == nil && booking.CanFinish(date, p.findToday(b))
}

// canReopen reports whether the person can set a completed or no-show booking back to confirmed.
func (p *Page) canReopen(b booking.Booking) bool {
	date, err := timespan.ParseDate(b.Date)
	isFinished := b.Status == booking.StatusCompleted || b.Status == booking.StatusNoShow
	return err == nil && isFinished && booking.CanReopen(date, p.findToday(b))
}

// findToday returns the present date in the time zone in which a booking was sold.
func (p *Page) findToday(b booking.Booking) timespan.Date {
	return timespan.DateOf(p.Now, timespan.Zone(b.Timezone, p.Business.Location()))
}

// date formats the date of a booking in long form.
func (p *Page) date(b booking.Booking) string { return p.Words.Date(toWallTime(b.Date, b.StartTime)) }

// start formats the date and the start time of a booking in short form.
func (p *Page) start(b booking.Booking) string {
	at := toWallTime(b.Date, b.StartTime)
	return p.Words.ShortDate(at) + " · " + p.Words.Clock(at) + p.formatOtherZone(b.Timezone)
}

// services returns the name of the booked package, if there is one, and the names of the booked services.
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

// customerOfBooking returns the name of a booking's customer. If the customer's data was erased, customerOfBooking
// returns a word that states this.
func (p *Page) customerOfBooking(b booking.Booking) string {
	if b.CustomerName == "" {
		return p.say("forgotten")
	}
	return b.CustomerName
}

// memberAndPeople returns the name of the member who serves the booking. If the booking is for several people,
// memberAndPeople adds the number of people.
func (p *Page) memberAndPeople(b booking.Booking) string {
	var parts []string
	if b.StaffName != nil {
		parts = append(parts, *b.StaffName)
	}
	if b.PartySize > 1 {
		parts = append(parts, p.Words.Count("people_count", b.PartySize))
	}
	return strings.Join(parts, " · ")
}

// status returns the word for the status of a booking. The word for a completed booking is "arrived" until the booking
// ends.
func (p *Page) status(b booking.Booking) string {
	if b.Status == booking.StatusCompleted && p.Now.Before(b.EndsAt) {
		return p.say("status_arrived")
	}
	if isPaidAndPending(b) {
		return p.say("status_pending_paid")
	}
	return p.say("status_" + b.Status)
}

// isPaidAndPending reports whether a booking is paid online and waits for the confirmation by the business.
func isPaidAndPending(b booking.Booking) bool {
	return b.Status == booking.StatusPending && b.Payment != nil && b.Payment.Status == booking.PaymentPaid
}

// isUnpaid reports whether a booking waits for its online payment. It returns false for a cancelled booking.
func isUnpaid(b booking.Booking) bool {
	return b.Payment != nil && b.Payment.Status == booking.PaymentOpen && b.Status != booking.StatusCancelled
}

// isPaidOnSite reports whether the customer pays for a booking on site.
func isPaidOnSite(b booking.Booking) bool { return b.Payment == nil && !isZero(b.Total) }

// isExpected reports whether a booking is pending or confirmed, so that the business still expects the customer.
func isExpected(b booking.Booking) bool {
	return b.Status == booking.StatusPending || b.Status == booking.StatusConfirmed
}

// formatQuery returns the parameters as a query string that begins with "?", or "" if there are no parameters.
func formatQuery(values url.Values) string {
	if len(values) == 0 {
		return ""
	}
	return "?" + values.Encode()
}

// withCursor adds the query parameter `cursor` to the URL of a list.
func withCursor(at, cursor string) string {
	join := "?"
	if strings.Contains(at, "?") {
		join = "&"
	}
	return at + join + "cursor=" + url.QueryEscape(cursor)
}
