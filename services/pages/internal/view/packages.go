package view

import (
	"strings"

	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

// packageTexts returns two texts for a package. The first text is the price. The second text states how much less the
// package costs than its services cost if each is booked alone. The price is computed from the prices of the services
// that the page shows. The first text begins with "from" if the price can be higher at another time. The second text is
// "" if the package does not cost less.
func (p *Page) packageTexts(k usecase.Package) (string, string) {
	currency, sum, isMinimum := p.Business.Snapshot.Money(), int64(0), false
	for _, s := range k.Services {
		servicePrice, canRise := p.findPrice(s.ID, s.Price, s.QuotedPrice)
		minor, err := currency.Minor(money.Number(servicePrice))
		if err != nil {
			return "", "" // cannot happen, because the prices are those of the snapshot
		}
		sum, isMinimum = sum+minor, isMinimum || canRise
	}
	price := k.ComputePrice(sum, currency)
	if k.Price != nil {
		isMinimum = isMinimum && price < *k.Price // a package never costs more than its fixed price
	}
	savings := ""
	if price < sum {
		savings = p.Words.With("saves", "Price", p.money(currency.JSON(sum-price)))
	}
	return p.formatPrice(currency.JSON(price), isMinimum), savings
}

// packageContents returns the names of the services of a package as a text.
func packageContents(k usecase.Package) string {
	names := make([]string, len(k.Services))
	for i, s := range k.Services {
		names[i] = s.Name
	}
	return strings.Join(names, " + ")
}

// findPackage returns the package that consists of the services
// of the appointment. It returns nil if there is no such package.
func findPackage(a *usecase.Appointment, n *usecase.Names) *usecase.Package {
	if a.Package == nil {
		return nil
	}
	return usecase.NewPackage(a.Package, n.Services)
}

// savingsText returns the text that states how much the package saves. It returns "" if nothing is saved.
func (p *Page) savingsText(price *usecase.Price) string {
	if price.Savings == "" {
		return ""
	}
	return p.Words.With("saves", "Price", p.money(price.Savings))
}
