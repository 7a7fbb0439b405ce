package catalog

import (
	"slices"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/money"
)

// Package is services that the owner sells together. Of Price and Percent it has exactly one.
type Package struct {
	ID          uuid.UUID        `json:"id"`
	Key         string           `json:"key"`
	Name        Label            `json:"name"`
	Description Label            `json:"description"`       // plain text; "" says nothing
	ServiceIDs  []uuid.UUID      `json:"service_ids"`       // two or more, each once, in the order in which they are performed
	Price       *int64           `json:"price,omitempty"`   // minor units
	Percent     *decimal.Decimal `json:"percent,omitempty"` // above 0, at most 100
}

// Of is what the package costs, in minor units, where its services cost so much one by one, after the pricing rules: the percentage is
// taken off that and rounded half up, and a price holds whatever it is. The package never costs more than its services.
func (p *Package) Of(separately int64, currency money.Currency) int64 {
	if p.Price != nil {
		return min(*p.Price, separately)
	}
	part := decimal.NewFromInt(100).Sub(*p.Percent).Shift(-2)
	return min(separately, currency.Round(currency.Decimal(separately).Mul(part)))
}

// PackageOf returns the package of exactly these services, in whatever order, or nil. What takes a variant is none: a package is of services
// as they are themselves.
func (o *Offer) PackageOf(services []uuid.UUID, varied bool) *Package {
	if varied {
		return nil
	}
	for i := range o.Packages {
		p := &o.Packages[i]
		lacks := func(id uuid.UUID) bool { return !slices.Contains(services, id) }
		if len(p.ServiceIDs) == len(services) && !slices.ContainsFunc(p.ServiceIDs, lacks) { // it has each once
			return p
		}
	}
	return nil
}
