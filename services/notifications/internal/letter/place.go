package letter

import (
	"fmt"
	"net/url"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/slotmesh/slotmesh/libs/values/locale"
	"github.com/slotmesh/slotmesh/libs/values/postal"
)

// Place is where a booking takes place: an address that customers visit, a telephone call or an online meeting.
type Place struct {
	Name           Note // "" if the place has the name of the business
	Address        postal.Address
	Geo            *Geo // nil if the position is not known
	DirectionsHTML Note // how customers find the place, as sanitized HTML; may be empty
	Phone          string
	IsCall         bool   // the booking is a telephone call; the customer calls Phone, if it is set
	IsAtCustomer   bool   // Address is the customer's address
	AddressNote    string // how to find the customer; may be empty
	Link           string // the link to the online meeting; "" if there is none
	// AwaitsLink means that the customer gets the link to the online meeting with a later message.
	AwaitsLink bool
}

// Geo is a position in degrees (WGS 84).
type Geo struct{ Lat, Lon float64 }

// addPlace adds a row with the place: the name, the address, the owner's directions, a link to a map, the telephone
// number and the link to the online meeting. Owners know their place, so they get only the name, the address and
// the link.
func (p *page) addPlace(kind Kind, w *words, f *Facts) {
	place := f.findPlace()
	if place == nil {
		return
	}
	var lines []line
	if name := w.formatPlaceName(place); name != p.Business {
		lines = append(lines, line{Text: name})
	}
	if address := w.formatAddress(place); address != "" || len(lines) == 0 {
		lines = append(lines, line{Text: address})
	}
	if note := w.sanitize(place.AddressNote, maxAddress); note != "" {
		lines = append(lines, line{Text: note})
	}
	switch {
	case place.Link != "":
		lines = append(lines, newLink(w.isolateLTR(clean(place.Link, maxURL)), place.Link))
	case place.AwaitsLink:
		lines = append(lines, line{Text: w.Say("link_pending")})
	}
	if kind == OwnerNotice {
		p.addLines(w.Say("where"), lines...)
		return
	}
	for _, text := range w.sanitizeLines(locale.VisibleText(w.translate(place.DirectionsHTML.Text,
		place.DirectionsHTML.Translations))) {
		lines = append(lines, line{Text: text})
	}
	if address := buildDirectionsURL(place); address != "" && !place.IsAtCustomer {
		lines = append(lines, newLink(w.Say("directions"), address))
	}
	if place.Phone != "" {
		lines = append(lines, w.newPhoneLine(place.Phone))
	}
	p.addLines(w.Say("where"), lines...)
}

// findPlace returns the place of the subject or, if the subject has no own place, the place of the business.
func (f *Facts) findPlace() *Place {
	if f.Subject.Place != nil {
		return f.Subject.Place
	}
	return f.Business.Place
}

func (w *words) formatPlaceName(place *Place) string {
	return w.sanitize(w.translate(place.Name.Text, place.Name.Translations), maxName)
}

// formatAddress returns the address of the given place on one line, with the country in the language of the letter.
func (w *words) formatAddress(place *Place) string {
	return w.sanitize(w.joinAddress(place), maxAddress)
}

// maxAddress is the maximum length of an address on one line, in characters.
const maxAddress = 500

func (w *words) joinAddress(place *Place) string {
	country := place.Address.Country
	if region, err := language.ParseRegion(country); err == nil {
		if name := display.Regions(language.Make(w.Code)).Name(region); name != "" {
			country = name
		}
	}
	return place.Address.OneLine(country)
}

// buildDirectionsURL returns the URL of a map with the way to the given place. A mail program opens the map only after
// a click. The URL is an https URL of OpenStreetMap, because mail programs remove geo: URLs.
func buildDirectionsURL(place *Place) string {
	const site = "https://www.openstreetmap.org/"
	if g := place.Geo; g != nil {
		return site + "directions?to=" + url.QueryEscape(fmt.Sprintf("%v,%v", g.Lat, g.Lon))
	}
	if place.Address.Street == "" && place.Address.City == "" {
		return ""
	}
	return site + "search?query=" + url.QueryEscape(clean(place.Address.OneLine(place.Address.Country), maxAddress))
}
