// Package view renders the pages. It has one templ file for each page, and functions that return
// the texts of the pages. The use cases make all decisions; the views only show the results.
package view

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/url"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/locale"
	"github.com/slotmesh/slotmesh/libs/values/message/words"
	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

//go:generate go run github.com/a-h/templ/cmd/templ@v0.3.977 generate -log-level error

// Page contains the data that every page has.
type Page struct {
	Words    *words.Words
	Chosen   string // the language that the address names; "" if the address names none
	Business *usecase.Business
	Base     string // public address of the pages
	Found    bool   // true if search engines may index the page
	Path     string // path of the request
	Query    url.Values
	Step     string // path below the business's first page; "" on that page and in the steps of a booking
	About    string // description for search engines; if "", the default text is used
	Managed  string // path of the customer's link; "" on other pages
	Sold     Sale   // time zone and currency of the sale, on pages behind a customer's link
	Nonce    string // nonce of the style with the accent colour; "" if there is none
	Notice   string // sentence for the visitor at the top of the page; "" for no notice
	Style    string
	Script   string
}

// Sale contains the time zone and the currency of a sale. If a
// field is empty, the current value of the business applies.
type Sale struct{ Timezone, Currency string }

// timezone returns the time zone in which the page shows times.
func (p *Page) timezone() string { return cmp.Or(p.Sold.Timezone, p.Business.Offer.Timezone) }

// Content is the inner part of a page, inside the frame that all pages have.
type Content struct {
	Title string
	Body  templ.Component
}

// frame returns the outer part of a page with the metadata of the page.
func (p *Page) frame(title string) web.Frame {
	f := web.Frame{Words: p.Words, Title: title, Style: p.Style, Script: p.Script, Nonce: p.Nonce}
	if p.Business == nil {
		return f
	}
	if p.Nonce != "" {
		// White text is readable on the accent colour, because the validation of the manifest checks this.
		f.Accent, f.OnAccent = p.Business.Offer.Page.Accent, "#ffffff"
	}
	f.Title = title + " · " + p.called()
	if !p.Found {
		return f
	}
	f.Title, f.Description = p.called()+" · "+title, p.Words.With("about", "Business", p.called())
	if p.About != "" {
		f.Description = p.About
	}
	f.Canonical = p.Base + p.path(p.Step)
	languages := p.Business.Offer.Languages
	if len(languages) < 2 {
		return f
	}
	f.Alternates = []web.Alternate{{Language: "x-default", URL: f.Canonical}} // for readers of all other languages
	for _, language := range languages {
		at := f.Alternates[0].URL + "?lang=" + url.QueryEscape(language)
		f.Alternates = append(f.Alternates, web.Alternate{Language: language, URL: at})
		if p.Chosen == language {
			f.Canonical = at
		}
	}
	return f
}

// Embedders returns the origins of the sites that may show the page in a frame. The business lists these origins.
func (p *Page) Embedders() []string {
	if p.Business == nil {
		return nil
	}
	return p.Business.Offer.Page.EmbedOrigins
}

// path returns the path of a step of the booking page. The argument `step` is "" for the first step.
func (p *Page) path(step string) string {
	return strings.TrimSuffix("/b/"+p.Business.Offer.Slug+"/"+step, "/")
}

// link returns the address of a step with a query. The query also names the language, if the reader chose one.
func (p *Page) link(step string, query url.Values) templ.SafeURL {
	if p.Chosen != "" {
		if query == nil {
			query = url.Values{}
		}
		query.Set("lang", p.Chosen)
	}
	if len(query) == 0 {
		return templ.SafeURL(p.path(step))
	}
	return templ.SafeURL(p.path(step) + "?" + query.Encode())
}

// To returns the address of a page of the business. The argument `step` is the path of the page, relative to the
// business's first page.
func (p *Page) To(step string) templ.SafeURL { return p.link(step, nil) }

// languages returns links to the same page in each language of the business, with the query of the page. It returns no
// links if the business has only one language, or if the page is behind a customer's link.
func (p *Page) languages() []web.Alternate {
	if p.Business == nil || p.Managed != "" || len(p.Business.Offer.Languages) < 2 {
		return nil
	}
	var all []web.Alternate
	for _, language := range p.Business.Offer.Languages {
		query := maps.Clone(p.Query)
		if query == nil {
			query = url.Values{}
		}
		query.Set("lang", language)
		all = append(all, web.Alternate{Language: language, Name: words.NameOf(language),
			URL: cmp.Or(p.Path, p.path(p.Step)) + "?" + query.Encode()})
	}
	return all
}

// speaks reports whether the argument `language` is the language of the business that is nearest to the reader's
// language.
func (p *Page) speaks(language string) bool {
	nearest, offered := locale.Match(p.Words.Requested, p.Business.Offer.Languages)
	return offered && nearest == language
}

// money formats an amount in the currency of the page.
func (p *Page) money(amount json.Number) string {
	return p.Words.Amount(amount.String(), cmp.Or(p.Sold.Currency, p.Business.Offer.Currency))
}

// price returns the text for the price of a service. The text begins with "from" if
// a rule can raise the price, or if the variants of the service have other prices.
func (p *Page) price(s *usecase.Service) string {
	least, moves := p.priceOf(s.ID, s.Price, s.QuotedPrice)
	for _, v := range s.Variants {
		price, alsoMoves := p.priceOf(s.ID, v.Price, v.QuotedPrice)
		moves = moves || alsoMoves || !money.Number(price).Equal(money.Number(least))
		if money.Number(price).LessThan(money.Number(least)) {
			least = price
		}
	}
	return p.priced(least, moves)
}

// priceOf returns the price to show, and whether the price can be higher at another time. The price can be higher if a
// pricing rule can raise the price, or if today's price is below the list price.
func (p *Page) priceOf(service uuid.UUID, list json.Number, quoted *json.Number) (json.Number, bool) {
	price := shown(list, quoted)
	minor, err := p.Business.Offer.Money().Minor(money.Number(price))
	return price, money.Number(price).LessThan(money.Number(list)) || err == nil && usecase.PriceRises(p.Business.Offer,
		service, minor)
}

// itself returns the text for the price of one variant, or for the own price of a service. It ignores the prices of the
// service's variants.
func (p *Page) itself(service uuid.UUID, list json.Number, quoted *json.Number) string {
	price, moves := p.priceOf(service, list, quoted)
	return p.priced(price, moves)
}

func (p *Page) priced(amount json.Number, moves bool) string {
	switch {
	case money.Number(amount).IsZero():
		return p.Words.Say("free")
	case moves:
		return p.Words.With("from", "Price", p.money(amount))
	}
	return p.money(amount)
}

// shown returns the price to show: the quoted price if there is one, otherwise the list price.
func shown(list json.Number, quoted *json.Number) json.Number {
	if quoted != nil {
		return *quoted
	}
	return list
}

// duration formats a number of minutes as hours and minutes.
func (p *Page) duration(minutes int) string {
	h, m := minutes/60, minutes%60
	hours, rest := p.Words.With("hours", "Count", p.Words.Number(h)),
		p.Words.With("minutes", "Count", p.Words.Number(m))
	switch {
	case h == 0:
		return rest
	case m == 0:
		return hours
	}
	return hours + " " + rest
}

// day converts a date to noon of this date in UTC, because the formatting functions expect a time.
func day(d timespan.Date) time.Time {
	year, month, number := d.YMD()
	return time.Date(year, month, number, 12, 0, 0, 0, time.UTC)
}
