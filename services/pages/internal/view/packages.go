package view

import (
	"strings"

	"github.com/slotmesh/slotmesh/libs/money"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

// packageCosts is what a package costs of what is shown of its services, from where that begins, and what it saves; "" for nothing.
func (p *Page) packageCosts(k usecase.Package) (string, string) {
	currency, separately, rises := p.Business.Offer.Money(), int64(0), false
	for _, s := range k.Services {
		price, moves := p.priceOf(s.ID, s.Price, s.QuotedPrice)
		minor, err := currency.Minor(money.Number(price))
		if err != nil {
			return "", "" // never: the list comes from the same offer
		}
		separately, rises = separately+minor, rises || moves
	}
	costs := k.Of(separately, currency)
	if k.Price != nil {
		rises = rises && costs < *k.Price // more than its price it never costs
	}
	saves := ""
	if costs < separately {
		saves = p.Words.With("saves", "Price", p.money(currency.JSON(separately-costs)))
	}
	return p.priced(currency.JSON(costs), rises), saves
}

// contents are the services of a package.
func contents(k usecase.Package) string {
	names := make([]string, len(k.Services))
	for i, s := range k.Services {
		names[i] = s.Name
	}
	return strings.Join(names, " + ")
}

// chosenPackage is the package that an appointment is; nil where it is none.
func chosenPackage(a *usecase.Appointment, n *usecase.Names) *usecase.Package {
	if a.Package == nil {
		return nil
	}
	return usecase.PackageWith(a.Package, n.Services)
}

// saves says what the package saves that a price is of; "" for nothing.
func (p *Page) saves(price *usecase.Price) string {
	if price.Saves == "" {
		return ""
	}
	return p.Words.With("saves", "Price", p.money(price.Saves))
}
