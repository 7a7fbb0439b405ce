// Package view is how the pages look: one templ file for each page, and what their texts are made of. Views take what use cases return
// and decide nothing.
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

	"github.com/slotmesh/slotmesh/libs/locale"
	"github.com/slotmesh/slotmesh/libs/message/words"
	"github.com/slotmesh/slotmesh/libs/money"
	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/libs/web"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

//go:generate go run github.com/a-h/templ/cmd/templ@v0.3.977 generate -log-level error

// Page is what every page knows.
type Page struct {
	Words    *words.Words
	Chosen   string // the language that the address names; ""
	Business *usecase.Business
	Base     string // public address of the pages
	Found    bool   // search engines may show it
	Path     string // that was asked for
	Query    url.Values
	Step     string // its path below the business's first page; "" is that page, and those of the steps of a booking
	About    string // what it is about, for search engines; "": what the business's pages are
	Managed  string // path of the customer's link, of a page behind it
	Sold     Sale   // of such a page: what it was sold in
	Nonce    string // "" without a colour of the business's
	Notice   string // what went otherwise than expected; ""
	Style    string
	Script   string
}

// Sale is the time zone and the currency in which something was sold; empty ones are the business's of today.
type Sale struct{ Timezone, Currency string }

// timezone names the zone of what a page is about.
func (p *Page) timezone() string { return cmp.Or(p.Sold.Timezone, p.Business.Offer.Timezone) }

// Content is the inside of a page.
type Content struct {
	Title string
	Body  templ.Component
}

// frame is what stands around the page.
func (p *Page) frame(title string) web.Frame {
	f := web.Frame{Words: p.Words, Title: title, Style: p.Style, Script: p.Script, Nonce: p.Nonce}
	if p.Business == nil {
		return f
	}
	if p.Nonce != "" {
		f.Accent, f.OnAccent = p.Business.Offer.Page.Accent, "#ffffff" // which the manifest's check found readable
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
	f.Alternates = []web.Alternate{{Language: "x-default", URL: f.Canonical}} // in the reader's own
	for _, language := range languages {
		at := f.Alternates[0].URL + "?lang=" + url.QueryEscape(language)
		f.Alternates = append(f.Alternates, web.Alternate{Language: language, URL: at})
		if p.Chosen == language {
			f.Canonical = at
		}
	}
	return f
}

// Embedders are the origins that may show the page in a frame: what the business lists.
func (p *Page) Embedders() []string {
	if p.Business == nil {
		return nil
	}
	return p.Business.Offer.Page.EmbedOrigins
}

// path is the path of a step of the booking page; "" is the first.
func (p *Page) path(step string) string {
	return strings.TrimSuffix("/b/"+p.Business.Offer.Slug+"/"+step, "/")
}

// link is a step with its answers so far, in the language that was chosen.
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

// To is a page of the business by its path below the first.
func (p *Page) To(step string) templ.SafeURL { return p.link(step, nil) }

// languages are those that the business offers, where there are several: each leads to this page, with all that was chosen.
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
		all = append(all, web.Alternate{Language: language, Name: words.NameOf(language), URL: cmp.Or(p.Path, p.path(p.Step)) + "?" + query.Encode()})
	}
	return all
}

// speaks reports whether a language of the business is the one that the reader asked for.
func (p *Page) speaks(language string) bool {
	nearest, offered := locale.Match(p.Words.Asked, p.Business.Offer.Languages)
	return offered && nearest == language
}

// money writes an amount of the currency of what a page is about.
func (p *Page) money(amount json.Number) string {
	return p.Words.Amount(amount.String(), cmp.Or(p.Sold.Currency, p.Business.Offer.Currency))
}

// price is what a service costs: from where it begins, if rules may raise it, or variants cost another price.
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

// priceOf is what is shown of a price, and whether it may be higher at another time: by a rule that raises it, or as today's is lowered.
func (p *Page) priceOf(service uuid.UUID, list json.Number, quoted *json.Number) (json.Number, bool) {
	price := shown(list, quoted)
	minor, err := p.Business.Offer.Money().Minor(money.Number(price))
	return price, money.Number(price).LessThan(money.Number(list)) || err == nil && usecase.PriceRises(p.Business.Offer, service, minor)
}

// itself is the price of a service without its variants, or of one of those.
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

func shown(list json.Number, quoted *json.Number) json.Number {
	if quoted != nil {
		return *quoted
	}
	return list
}

// duration writes minutes as hours and minutes.
func (p *Page) duration(minutes int) string {
	h, m := minutes/60, minutes%60
	hours, rest := p.Words.With("hours", "Count", p.Words.Number(h)), p.Words.With("minutes", "Count", p.Words.Number(m))
	switch {
	case h == 0:
		return rest
	case m == 0:
		return hours
	}
	return hours + " " + rest
}

// day is a date of the business's as a time at noon, which dates are written from.
func day(d timespan.Date) time.Time {
	year, month, number := d.YMD()
	return time.Date(year, month, number, 12, 0, 0, 0, time.UTC)
}
