// Package view renders the pages. It has one templ file for each page, and functions that return
// the texts of the pages. The use cases make all decisions; the views only show the results.
package view

import (
	"cmp"
	"encoding/json"
	"html"
	"maps"
	"net/url"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/locale"
	"github.com/slotmesh/slotmesh/libs/values/message/words"
	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

//go:generate go run github.com/a-h/templ/cmd/templ@v0.3.977 generate -log-level error

// detailsFormID is the id of the element with the form for the customer's details.
const detailsFormID = "details"

// Page contains the data that every page has.
type Page struct {
	Words       *words.Words
	Language    string // the language that the URL names; "" if the URL names none
	Business    *usecase.Business
	Base        string // public base URL of the pages
	IsIndexable bool   // true if search engines may index the page
	Path        string // path of the request
	Query       url.Values
	Subpath     string        // path of a page for events or rentals, relative to the first page; "" on other pages
	About       string        // description for search engines; if "", the default text is used
	Image       string        // URL of the picture that other sites show beside a link to the page; "": that of the business
	HasForm     bool          // true on pages with the form for the customer's details; a language change sends this form
	HasCart     bool          // true on the list of services if services can be booked together
	Cart        *usecase.Cart // the services that the visitor has added; nil if there are none
	IsFront     bool          // true on pages that present the business, such as the lists of services, events and rentals
	LinkPath    string        // path of the customer's link; "" on other pages
	Sale        Sale          // time zone and currency of the sale, on pages behind a customer's link
	Nonce       string        // nonce of the style with the colours of the business; "" without such a style
	IsPrivate   bool          // true on pages with the bookings of a signed-in customer; other sites cannot embed them
	Notice      string        // sentence for the visitor at the top of the page; "" for no notice
	HasErrors   bool          // true if the page shows a form again because a field has an error
	Style       string
	Script      string

	// At is the location of the sale; nil on pages that show the place of the business. MeetingLink
	// is the link to the online meeting of the booking; "" if there is none.
	At          *catalog.Location
	MeetingLink string
	AddressNote string // how to find the customer, if the business comes to the customer
}

// Sale contains the time zone and the currency of a sale. If a
// field is empty, the current value of the business applies.
type Sale struct{ Timezone, Currency string }

// timezone returns the time zone in which the page shows times.
func (p *Page) timezone() string { return cmp.Or(p.Sale.Timezone, p.Business.Snapshot.Timezone) }

// Content is the inner part of a page, inside the frame that all pages have.
type Content struct {
	Title string
	Body  templ.Component
}

// frame returns the outer part of a page with the metadata of the page.
func (p *Page) frame(title string) web.Frame {
	if p.HasErrors {
		title = p.Words.With("error_title", "Title", title)
	}
	f := web.Frame{Words: p.Words, Title: title, Style: p.Style, Script: p.Script, Nonce: p.Nonce}
	if p.Business == nil {
		f.Icon = web.MarkIcon
		if p.IsIndexable {
			f.Site, f.Description, f.Canonical = "Slotmesh", p.Words.Say("host_text"), p.Base+"/"
		}
		return f
	}
	if accent := p.Business.Snapshot.Page.Accent; accent != "" {
		// White text is readable on the accent colour, because the validation of the manifest refuses colours that are
		// too light.
		f.Accent, f.OnAccent = accent, "#ffffff"
	}
	f.Colours = p.pictureColours()
	f.Site, f.Image, f.Icon = p.businessName(), p.shareImage(), p.icon()
	f.Title = title
	if !p.IsFront {
		f.Title = title + " · " + p.businessName()
	}
	if !p.IsIndexable {
		return f
	}
	f.Description = p.Words.With("about", "Business", p.businessName())
	if p.About != "" {
		f.Description = p.About
	}
	f.Canonical = p.Base + p.stepPath(p.Subpath)
	languages := p.Business.Snapshot.Languages
	if len(languages) < 2 {
		return f
	}
	f.Alternates = []web.Alternate{{Language: "x-default", URL: f.Canonical}} // for readers of all other languages
	for _, language := range languages {
		at := f.Alternates[0].URL + "?lang=" + url.QueryEscape(language)
		f.Alternates = append(f.Alternates, web.Alternate{Language: language, URL: at})
		if p.Language == language {
			f.Canonical = at
		}
	}
	return f
}

// icon returns the URL of the icon of the business. The icon is the logo of the business. If the business has no logo,
// it is the first letter of the name on the accent colour.
func (p *Page) icon() string {
	if p.Business.LogoURL != "" {
		return thumbnailSource(p.Business.LogoURL, "webp")
	}
	svg := `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" rx="14" fill="` +
		cmp.Or(p.Business.Snapshot.Page.Accent, "#1f4fd8") +
		`"/><text x="32" y="45" font-size="38" font-weight="700" ` +
		`font-family="system-ui,sans-serif" text-anchor="middle" fill="#fff">` +
		html.EscapeString(initial(p.businessName())) + `</text></svg>`
	return "data:image/svg+xml," + url.PathEscape(svg)
}

// Embedders returns the origins of the sites that may show the page in a frame, as set by the business. No site may
// embed a private page.
func (p *Page) Embedders() []string {
	if p.Business == nil || p.IsPrivate {
		return nil
	}
	return p.Business.Snapshot.Page.EmbedOrigins
}

// stepPath returns the path of a step of the booking page. The argument `step` is "" for the first step.
func (p *Page) stepPath(step string) string {
	return strings.TrimSuffix("/b/"+p.Business.Snapshot.Slug+"/"+step, "/")
}

// queryURL returns the URL of a step of the booking page, with a query. If the reader chose a language, the query also
// names this language.
func (p *Page) queryURL(step string, query url.Values) templ.SafeURL {
	if p.Language != "" {
		if query == nil {
			query = url.Values{}
		}
		query.Set("lang", p.Language)
	}
	if len(query) == 0 {
		return templ.SafeURL(p.stepPath(step))
	}
	return templ.SafeURL(p.stepPath(step) + "?" + query.Encode())
}

// StepURL returns the URL of a page of the business. The argument `step` is the path of the page, relative to the
// business's first page.
func (p *Page) StepURL(step string) templ.SafeURL { return p.queryURL(step, nil) }

// languages returns links to the same page in each language of the business, with the query of the page. It returns no
// links if the business has only one language, or if the page is private or behind a customer's link.
func (p *Page) languages() []web.Alternate {
	if p.Business == nil || p.LinkPath != "" || p.IsPrivate || len(p.Business.Snapshot.Languages) < 2 {
		return nil
	}
	var all []web.Alternate
	for _, language := range p.Business.Snapshot.Languages {
		query := maps.Clone(p.Query)
		if query == nil {
			query = url.Values{}
		}
		query.Set("lang", language)
		all = append(all, web.Alternate{Language: language, Name: words.NameOf(language),
			URL: cmp.Or(p.Path, p.stepPath(p.Subpath)) + "?" + query.Encode()})
	}
	return all
}

// isReaderLanguage reports whether the argument `language` is the language of the business that is nearest to the
// reader's language.
func (p *Page) isReaderLanguage(language string) bool {
	nearest, isOffered := locale.Match(p.Words.Requested, p.Business.Snapshot.Languages)
	return isOffered && nearest == language
}

// money formats an amount in the currency of the page.
func (p *Page) money(amount json.Number) string {
	return p.Words.Amount(amount.String(), cmp.Or(p.Sale.Currency, p.Business.Snapshot.Currency))
}

// priceText returns the text for the price of a service. The text begins with "from" if the price can be higher at
// another time, or if a variant of the service has another price.
func (p *Page) priceText(s *usecase.Service) string {
	cheapest, canRise := p.findPrice(s.ID, s.Price, s.QuotedPrice)
	for _, v := range s.Variants {
		price, variantCanRise := p.findPrice(s.ID, v.Price, v.QuotedPrice)
		canRise = canRise || variantCanRise || !money.Number(price).Equal(money.Number(cheapest))
		if money.Number(price).LessThan(money.Number(cheapest)) {
			cheapest = price
		}
	}
	return p.formatPrice(cheapest, canRise)
}

// findPrice returns the price to show, and whether the price can be higher at another time. The price can be higher if
// a pricing rule can raise the price, or if today's price is below the list price.
func (p *Page) findPrice(service uuid.UUID, list json.Number, quoted *json.Number) (json.Number, bool) {
	price := currentPrice(list, quoted)
	minor, err := p.Business.Snapshot.Money().Minor(money.Number(price))
	return price, money.Number(price).LessThan(money.Number(list)) || err == nil &&
		usecase.CanServicePriceRise(p.Business.Snapshot,
			service, minor)
}

// ownPriceText returns the text for one price: the price of a variant, or the price of a service if no variant is
// chosen. It ignores the prices of the other variants.
func (p *Page) ownPriceText(service uuid.UUID, list json.Number, quoted *json.Number) string {
	price, canRise := p.findPrice(service, list, quoted)
	return p.formatPrice(price, canRise)
}

func (p *Page) formatPrice(amount json.Number, isMinimum bool) string {
	switch {
	case money.Number(amount).IsZero():
		return p.Words.Say("free")
	case isMinimum:
		return p.Words.With("from", "Price", p.money(amount))
	}
	return p.money(amount)
}

// currentPrice returns the price to show: the price that the pricing rules give today (`quoted`) if it is known,
// otherwise the list price.
func currentPrice(list json.Number, quoted *json.Number) json.Number {
	if quoted != nil {
		return *quoted
	}
	return list
}

// formatDuration formats a number of minutes as hours and minutes.
func (p *Page) formatDuration(minutes int) string {
	h, m := minutes/60, minutes%60
	hours, rest := p.Words.Count("hours", h), p.Words.Count("minutes", m)
	switch {
	case h == 0:
		return rest
	case m == 0:
		return hours
	}
	return hours + " " + rest
}

// noonUTC returns noon of the given date in UTC, for functions that format the date of a time.
func noonUTC(d timespan.Date) time.Time {
	year, month, number := d.YMD()
	return time.Date(year, month, number, 12, 0, 0, 0, time.UTC)
}
