package view

import (
	"github.com/a-h/templ"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

// isAddable reports whether the row of a service adds the service to the cart instead of booking it alone.
func (p *Page) isAddable(s *usecase.Service) bool { return p.HasCart && usecase.IsCombinable(s) }

// rowURL returns the URL of the row of a service. If the service is addable, the URL adds the service to the cart, or
// removes it from the cart. Otherwise it leads to the next step. The argument `variant` is the id of a variant, or "".
func (p *Page) rowURL(s *usecase.Service, variant string) templ.SafeURL {
	query := serviceQuery(s, variant)
	if !p.isAddable(s) {
		return p.queryURL("when", query)
	}
	selection := p.Cart.With(s.ID, query.Get("service"))
	if p.Cart.Has(s.ID, variant) {
		selection = p.Cart.Without(s.ID)
	}
	return p.SelectionURL("", selection) + templ.SafeURL("#"+rowID(s))
}

// rowID returns the id of the element with the row of a service. Without scripts, the browser shows this row again after
// the visitor has added the service.
func rowID(s *usecase.Service) string { return "s-" + s.ID.String() }

// rowWord returns the word of a row: book the service, or add it to the cart or remove it.
func (p *Page) rowWord(s *usecase.Service, variant string) string {
	switch {
	case !p.isAddable(s):
		return p.Words.Say("book_now")
	case p.Cart.Has(s.ID, variant):
		return p.Words.Say("basket_remove")
	}
	return p.Words.Say("basket_add")
}

// cartLine returns the name, the duration in minutes and the price text of a service in the cart.
func (p *Page) cartLine(s *usecase.Service) (string, int, string) {
	for _, v := range s.Variants {
		if p.Cart.Has(s.ID, v.ID.String()) {
			return s.Name + ", " + v.Name, v.DurationMinutes, p.ownPriceText(s.ID, v.Price, v.QuotedPrice)
		}
	}
	return s.Name, s.DurationMinutes, p.ownPriceText(s.ID, s.Price, s.QuotedPrice)
}

// cartMinutes returns the duration of all services in the cart, in minutes.
func (p *Page) cartMinutes() int {
	sum := 0
	for _, s := range p.Cart.Services {
		_, minutes, _ := p.cartLine(s)
		sum += minutes
	}
	return sum
}

// cartPackage returns the package that the services in the cart are, or nil.
func (p *Page) cartPackage() *catalog.Package {
	hasVariant := len(p.Cart.Selection.Variants) > 0
	return p.Business.Snapshot.PackageOf(p.Cart.Selection.Services, hasVariant)
}

// cartPrice returns the text for the price of the cart. If the services are a package, the price is that of the package.
// The text begins with "from" if the price can be higher at another time.
func (p *Page) cartPrice() string {
	if k := p.cartPackage(); k != nil {
		text, _ := p.packageTexts(usecase.Package{Package: k, Services: p.Cart.Services})
		return text
	}
	currency, sum, canRise := p.Business.Snapshot.Money(), int64(0), false
	for _, s := range p.Cart.Services {
		price, canServiceRise := p.findPrice(s.ID, s.Price, s.QuotedPrice)
		for _, v := range s.Variants {
			if p.Cart.Has(s.ID, v.ID.String()) {
				price, canServiceRise = p.findPrice(s.ID, v.Price, v.QuotedPrice)
			}
		}
		minor, err := currency.Minor(money.Number(price))
		if err != nil {
			return "" // cannot happen, because the prices are those of the snapshot
		}
		sum, canRise = sum+minor, canRise || canServiceRise
	}
	return p.formatPrice(currency.JSON(sum), canRise)
}

// changeServicesURL returns the URL of the first page on which the visitor can change the chosen services. If the
// services can be combined, they are in the cart.
func (p *Page) changeServicesURL(a *usecase.Appointment, n *usecase.Names) templ.SafeURL {
	for _, id := range a.Selection.Services {
		if s := n.Services[id]; s == nil || !usecase.IsCombinable(s) {
			return p.queryURL("", nil)
		}
	}
	return p.SelectionURL("", usecase.Selection{Services: a.Selection.Services, Variants: a.Variants})
}
