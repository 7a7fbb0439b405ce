package view

import (
	"encoding/json"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/locale"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

// readAbout returns the business's description of itself, in the language of the business that is nearest to the
// reader's language. It sanitizes the HTML of the description, so that the page is safe even if the catalog service
// fails to sanitize the HTML.
func (p *Page) readAbout() string {
	page := p.Business.Snapshot.Page
	text := page.AboutHTML
	if translated := page.AboutTranslations[p.readerLanguage()]; translated != "" {
		text = translated
	}
	return locale.Sanitize(text)
}

// These types are the structured data of a business for search engines, in the vocabulary of schema.org.
type (
	businessData struct {
		Context string             `json:"@context"`
		Type    string             `json:"@type"`
		Name    string             `json:"name"`
		URL     string             `json:"url"`
		Image   string             `json:"image,omitempty"`
		Phone   string             `json:"telephone,omitempty"`
		Email   string             `json:"email,omitempty"`
		Address *addressData       `json:"address,omitempty"`
		Geo     *geoData           `json:"geo,omitempty"`
		SameAs  []string           `json:"sameAs,omitempty"`
		Hours   []hoursData        `json:"openingHoursSpecification,omitempty"`
		Offers  []serviceOfferData `json:"makesOffer,omitempty"`
	}
	hoursData struct {
		Type   string `json:"@type"`
		Day    string `json:"dayOfWeek"`
		Opens  string `json:"opens"`
		Closes string `json:"closes"`
		From   string `json:"validFrom"`
		Until  string `json:"validThrough"`
	}
	addressData struct {
		Type       string `json:"@type"`
		Street     string `json:"streetAddress,omitempty"`
		PostalCode string `json:"postalCode,omitempty"`
		City       string `json:"addressLocality,omitempty"`
		Country    string `json:"addressCountry,omitempty"`
	}
	geoData struct {
		Type      string  `json:"@type"`
		Latitude  float64 `json:"latitude"`
		Longitude float64 `json:"longitude"`
	}
	serviceOfferData struct {
		Type     string      `json:"@type"`
		Price    json.Number `json:"price"`
		Currency string      `json:"priceCurrency"`
		Item     serviceData `json:"itemOffered"`
	}
	serviceData struct {
		Type        string `json:"@type"`
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
	}
)

// describeBusiness returns the structured data of the business and its services.
func (p *Page) describeBusiness(groups []usecase.Group) any {
	b := businessData{
		Context: "https://schema.org", Type: "LocalBusiness", Name: p.businessName(), URL: p.Base + p.stepPath(""),
		Image: p.shareImage(), Phone: p.Business.Snapshot.Phone(), Email: p.Business.Snapshot.Contact.Email,
		Address: newAddressData(p.Business.Snapshot.Place()), Hours: p.hoursData(),
	}
	for _, l := range p.socialLinks() {
		b.SameAs = append(b.SameAs, string(l.url))
	}
	if place := p.Business.Snapshot.Place(); place != nil && place.Geo != nil {
		b.Geo = &geoData{"GeoCoordinates", place.Geo.Lat, place.Geo.Lon}
	}
	for _, g := range groups {
		for _, s := range g.Services {
			b.Offers = append(b.Offers, serviceOfferData{
				Type: "Offer", Price: currentPrice(s.Price, s.QuotedPrice), Currency: p.Business.Snapshot.Currency,
				Item: serviceData{"Service", s.Name, s.Description},
			})
		}
	}
	return b
}

// hoursData returns the structured data of the opening hours of today and the next six dates. The hours of one date are
// valid for this date alone, because an override can change them. Hours that end after midnight close at the time on the
// next date, as schema.org defines.
func (p *Page) hoursData() []hoursData {
	var all []hoursData
	for _, d := range p.Business.Week(p.Business.Snapshot.Place(), time.Monday) {
		for _, w := range d.Windows {
			closes := w.To % timespan.MinutesPerDay
			if w.To == timespan.MinutesPerDay { // open until the end of the day
				closes = timespan.MinutesPerDay - 1
			}
			all = append(all, hoursData{"OpeningHoursSpecification", "https://schema.org/" + d.Date.Weekday().String(),
				w.From.String(), closes.String(), d.Date.String(), d.Date.String()})
		}
	}
	return all
}

// newAddressData returns the structured data of the address of a location. It returns
// nil if the location has no address. The argument `l` may be nil.
func newAddressData(l *catalog.Location) *addressData {
	if l == nil || len(l.Address.Lines("")) == 0 {
		return nil
	}
	a := l.Address
	return &addressData{"PostalAddress", a.Street, a.PostalCode, a.City, a.Country}
}
