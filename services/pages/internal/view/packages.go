package view

import (
	"strings"

	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

// packageCosts returns two texts for a package: its price, and how much cheaper the package is than its services booked
// one by one. The price is computed from the prices of the services that the page shows. The first text begins with
// "from" if the price can be higher at another time. The second text is "" if the package is not cheaper.
func (p *Page) packageCosts(k usecase.Package) (string, string) {
	currency, separately, rises := p.Business.Offer.Money(), int64(0), false
	for _, s := range k.Services {
		price, moves := p.priceOf(s.ID, s.Price, s.QuotedPrice)
		minor, err := currency.Minor(money.Number(price))
		if err != nil {
			return "", "" // cannot happen, because the prices are those of the offer
		}
		separately, rises = separately+minor, rises || moves
	}
	costs := k.Of(separately, currency)
	if k.Price != nil {
		rises = rises && costs < *k.Price // a package never costs more than its fixed price
	}
	saves := ""
	if costs < separately {
		saves = p.Words.With("saves", "Price", p.money(currency.JSON(separately-costs)))
	}
	return p.priced(currency.JSON(costs), rises), saves
}

// contents returns the names of the services of a package as a text.
func contents(k usecase.Package) string {
	names := make([]string, len(k.Services))
	for i, s := range k.Services {
		names[i] = s.Name
	}
	return strings.Join(names, " + ")
}

// chosenPackage returns the package that consists of the services
// of the appointment. It returns nil if there is no such package.
func chosenPackage(a *usecase.Appointment, n *usecase.Names) *usecase.Package {
	if a.Package == nil {
		return nil
	}
	return usecase.PackageWith(a.Package, n.Services)
}

// saves returns the text that states how much the package saves. It returns "" if nothing is saved.
func (p *Page) saves(price *usecase.Price) string {
	if price.Saves == "" {
		return ""
	}
	return p.Words.With("saves", "Price", p.money(price.Saves))
}
