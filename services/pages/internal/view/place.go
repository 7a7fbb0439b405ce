package view

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/locale"
	"github.com/slotmesh/slotmesh/libs/values/phone"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

// place returns the location that the page shows: the location of the booking or, on other pages, the place of the
// business. It returns nil if there is none.
func (p *Page) place() *catalog.Location {
	if p.At != nil {
		return p.At
	}
	return p.Business.Snapshot.Place()
}

// setPlace makes the page show the location of a sale. For a booking at a location that the
// business has removed, the page shows only the name at the time of the sale.
func (p *Page) setPlace(m *usecase.CustomerView) {
	switch {
	case m.Ticket != nil:
		p.At = p.findLocation(m.Ticket.EventID)
		if p.At != nil && p.At.Kind == catalog.KindLink && m.Ticket.Status == booking.StatusSold &&
			!strings.Contains(p.At.Link, "{") { // a link with a placeholder is for one booking
			p.MeetingLink = p.At.Link
		}
		return
	case m.Reservation != nil:
		p.At = p.findLocation(m.Reservation.RentalID)
		return
	case m.Booking.Location == nil:
		return
	}
	at := m.Booking.Location
	if p.At = p.Business.Snapshot.FindLocation(at.ID); p.At == nil {
		p.At = &catalog.Location{ID: at.ID, Kind: at.Kind, Name: catalog.Label{Text: at.Name}}
	}
	p.MeetingLink = at.Link
	if address := m.Booking.CustomerAddress; address != nil { // the business comes to the customer
		shown := *p.At
		shown.Address = address.Address
		p.At, p.AddressNote = &shown, address.Note
	}
}

// findLocation returns the location of the event or the rental with this id. It returns nil if all customers
// of the business come to one place, which the page then shows without a name. If the business no longer
// offers the event or the rental, the page shows only the name of the business.
func (p *Page) findLocation(id uuid.UUID) *catalog.Location {
	if !p.Business.Snapshot.HasLocations() {
		return nil
	}
	if l := p.Business.Snapshot.SoldLocation(id); l != nil {
		return l
	}
	return &catalog.Location{Name: catalog.Label{Text: p.businessName()}}
}

// placePages returns a copy of the page for each place of the business, which shows this place. If the business
// has only one place, the result contains the page itself. The result is empty if there is nothing to show.
func (p *Page) placePages() []*Page {
	var all []*Page
	for i := range p.Business.Snapshot.Locations {
		if l := &p.Business.Snapshot.Locations[i]; l.Kind == catalog.KindPlace {
			at := *p
			at.At = l
			all = append(all, &at)
		}
	}
	switch {
	case len(all) > 1:
		return all
	case len(p.addressLines()) > 0:
		return []*Page{p}
	}
	return nil
}

// maxPlaceLinks is the maximum number of places that the head of the front page names.
const maxPlaceLinks = 3

// placeLinks returns the links in the head of the front page to the place of the business: the address with a link
// to the reader's maps. If the business has several places, the links have the names and lead to the list of places.
func (p *Page) placeLinks() []contactLink {
	places := p.placePages()
	if len(places) == 1 {
		return []contactLink{{p.address(), p.directionsURL()}}
	}
	var links []contactLink
	for _, at := range places {
		links = append(links, contactLink{at.placeName(), "#places"})
	}
	if len(links) > maxPlaceLinks {
		links = append(links[:maxPlaceLinks], contactLink{"…", "#places"})
	}
	return links
}

// opening returns whether the business is open now. It returns nil if its places have different hours.
func (p *Page) opening() *usecase.Opening {
	if p.Business.HasOwnHours() {
		return nil
	}
	return p.Business.Opening(p.place())
}

// hasWeek reports whether the place that the page shows has opening hours in the next seven days.
func (p *Page) hasWeek() bool { return p.Business.Week(p.place(), time.Monday) != nil }

// eventPlaceText returns the place of an event on one line.
func (p *Page) eventPlaceText(id uuid.UUID) string {
	if l := p.findLocation(id); l != nil {
		return p.placeText(l)
	}
	return joinDots(p.businessName(), p.address())
}

// placeName returns the name of the location of a sale. It returns "" on pages that show the place of the business.
func (p *Page) placeName() string {
	if p.At == nil {
		return ""
	}
	return p.At.Name.In(p.readerLanguage())
}

// placeText returns the name and the address of a location on one line.
func (p *Page) placeText(l *catalog.Location) string {
	return joinDots(l.Name.In(p.readerLanguage()), l.Address.OneLine(""))
}

// placePhone returns the number that customers call at the time of the booking, or "".
func (p *Page) placePhone() string {
	if p.At == nil || p.At.Kind != catalog.KindPhone || p.At.Calls != catalog.CallsCustomer {
		return ""
	}
	return cmp.Or(p.At.Phone, p.Business.Snapshot.Contact.Phone)
}

// awaitsLink reports whether the customer gets the link to the online meeting with the confirmation.
func (p *Page) awaitsLink(status string) bool {
	return p.At != nil && p.At.Kind == catalog.KindLink && p.MeetingLink == "" && status == booking.StatusPending
}

// addressLines returns the address of the location that the page shows, one text for each line. It returns nil if the
// location has no address.
func (p *Page) addressLines() []string {
	if place := p.place(); place != nil {
		return place.Address.Lines("")
	}
	return nil
}

// address returns the address of the business on one line. It returns "" if the business has no address.
func (p *Page) address() string { return strings.Join(p.addressLines(), ", ") }

// city returns the city in the address of the business, or "" if the business has no address.
func (p *Page) city() string {
	if place := p.Business.Snapshot.Place(); place != nil {
		return place.Address.City
	}
	return ""
}

// directionsURL returns a URL that opens the place of the business in the reader's maps. It returns "" if the business
// has neither an address nor a position.
func (p *Page) directionsURL() templ.SafeURL {
	place := p.place()
	switch {
	case place == nil, place.Kind == catalog.KindCustomerAddress:
		return ""
	case place.Geo != nil:
		at := strconv.FormatFloat(place.Geo.Lat, 'f', -1, 64) + "," + strconv.FormatFloat(place.Geo.Lon, 'f', -1, 64)
		return templ.SafeURL("geo:" + at + "?q=" + url.QueryEscape(at+"("+p.businessName()+")"))
	case p.address() != "":
		return templ.SafeURL("geo:0,0?q=" + url.QueryEscape(p.address()))
	}
	return ""
}

// directionsText returns the business's text about how customers find the place, as sanitized HTML. It returns "" if
// the business has no such text.
func (p *Page) directionsText() string {
	if place := p.place(); place != nil {
		return locale.Sanitize(place.DirectionsHTML.In(p.readerLanguage()))
	}
	return ""
}

// phoneURL returns a URL that calls the business, or "" if the business has no telephone number.
func (p *Page) phoneURL() templ.SafeURL {
	return templ.SafeURL(phone.URI(p.Business.Snapshot.Phone()))
}

// callText returns the text of a link that calls the business. The number keeps its direction in a text that runs from
// right to left.
func (p *Page) callText() string {
	number := p.Business.Snapshot.Phone()
	if p.Words.Direction() == "rtl" {
		number = "\u2066" + number + "\u2069"
	}
	return p.Words.With("call", "Phone", number)
}

// contactLink is a link with its text, for example a link that calls the business.
type contactLink struct {
	text string
	url  templ.SafeURL
}

// contactLinks returns the links with which customers can contact the business. The telephone number comes first.
func (p *Page) contactLinks() []contactLink {
	var all []contactLink
	contact := p.Business.Snapshot.Contact
	if u := p.phoneURL(); u != "" {
		all = append(all, contactLink{p.Business.Snapshot.Phone(), u})
	}
	if contact.Email != "" {
		all = append(all, contactLink{contact.Email, templ.SafeURL("mailto:" + contact.Email)})
	}
	if contact.Messenger != "" {
		all = append(all, contactLink{p.Words.Say("message_us"), templ.URL(contact.Messenger)})
	}
	if contact.Website != "" {
		all = append(all, contactLink{hostOf(contact.Website), templ.URL(contact.Website)})
	}
	return all
}

// networkNames contains the names of social networks whose spelling differs from the key in the manifest by more than a
// capital letter at the beginning.
var networkNames = map[string]string{"github": "GitHub", "linkedin": "LinkedIn", "tiktok": "TikTok",
	"tripadvisor": "Tripadvisor", "whatsapp": "WhatsApp", "youtube": "YouTube"}

// socialLinks returns links to the business on social networks, sorted by the key of the network.
func (p *Page) socialLinks() []contactLink {
	if p.Business.Info == nil {
		return nil
	}
	links := p.Business.Info.SocialLinks
	var all []contactLink
	for _, network := range slices.Sorted(maps.Keys(links)) {
		name := networkNames[strings.ToLower(network)]
		if name == "" {
			name = initial(network) + strings.TrimPrefix(network, firstLetter(network))
		}
		all = append(all, contactLink{name, templ.URL(links[network])})
	}
	return all
}

// actionButtons returns the buttons of the business that link to a URL, in the order that the business chose.
func (p *Page) actionButtons() []contactLink {
	if p.Business.Info == nil {
		return nil
	}
	var all []contactLink
	for _, b := range p.Business.Info.ActionButtons {
		if b.Content != "" {
			all = append(all, contactLink{b.Label, templ.URL(b.Content)})
		}
	}
	return all
}

// hostOf returns the host in a URL, without a leading "www."
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	return strings.TrimPrefix(u.Host, "www.")
}

// The kinds of legal texts of a business. Each value is the last part of the path of the page with the text, and also
// the id of the title of this page.
const (
	legalImprint = "imprint"
	legalPrivacy = "privacy"
	legalTerms   = "terms"
)

// legalText returns a legal text in the reader's language: the URL of a page, or the text itself. The argument `part`
// is the kind of text, such as legalImprint. legalText returns "" if the business has no such text.
func (p *Page) legalText(part string) string {
	legal := p.Business.Snapshot.Legal
	text, ok := map[string]catalog.Label{legalImprint: legal.Imprint, legalPrivacy: legal.Privacy,
		legalTerms: legal.Terms}[part]
	if !ok {
		return ""
	}
	return strings.TrimSpace(text.In(p.readerLanguage()))
}

// legalLinks returns links to legal texts. The argument `parts` contains the kinds of texts. legalLinks leaves out
// texts that the business does not have.
func (p *Page) legalLinks(parts ...string) []contactLink {
	var all []contactLink
	for _, part := range parts {
		text := p.legalText(part)
		switch address := catalog.LegalURL(text); {
		case text == "":
		case address != "":
			all = append(all, contactLink{p.Words.Say(part), templ.URL(address)})
		default:
			all = append(all, contactLink{p.Words.Say(part), p.StepURL("legal/" + part)})
		}
	}
	return all
}

// LegalPage shows a legal text that the business wrote itself. The argument `part` is the kind of text, such as
// legalImprint. The second result is false if the business has no such text, or has only the URL of another page with
// the text.
func LegalPage(p *Page, part string) (Content, bool) {
	text := p.legalText(part)
	if text == "" || catalog.LegalURL(text) != "" {
		return Content{}, false
	}
	return Content{p.Words.Say(part), legalPage(p.Words.Say(part), strings.Split(text, "\n"))}, true
}

// policyText returns the business's own rules for customers, or "" if the business has no such rules.
func (p *Page) policyText() string { return p.Business.Snapshot.PolicyText.In(p.readerLanguage()) }
