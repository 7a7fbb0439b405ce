package catalog

import (
	"slices"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/money"
)

// Package is a set of services that the owner sells together. Exactly one of Price and Percent is set.
type Package struct {
	ID          uuid.UUID `json:"id"`
	Key         string    `json:"key"`
	Name        Label     `json:"name"`
	Description Label     `json:"description"` // plain text, may be empty
	// ServiceIDs holds two or more distinct services, in the order of their performance.
	ServiceIDs []uuid.UUID      `json:"service_ids"`
	Price      *int64           `json:"price,omitempty"`   // minor units
	Percent    *decimal.Decimal `json:"percent,omitempty"` // above 0, at most 100
}

// Of returns the price of the package, in minor units. separately is the sum of its services' prices after the pricing
// rules. Percent is deducted from it, rounded half up; Price replaces it. The result never exceeds separately.
func (p *Package) Of(separately int64, currency money.Currency) int64 {
	if p.Price != nil {
		return min(*p.Price, separately)
	}
	part := decimal.NewFromInt(100).Sub(*p.Percent).Shift(-2)
	return min(separately, currency.Round(currency.Decimal(separately).Mul(part)))
}

// PackageOf returns the package of exactly these services in any order, or nil. varied reports that a service
// is booked with a variant; packages consist of services without variants, so the result is then nil.
func (o *Offer) PackageOf(services []uuid.UUID, varied bool) *Package {
	if varied {
		return nil
	}
	for i := range o.Packages {
		p := &o.Packages[i]
		lacks := func(id uuid.UUID) bool { return !slices.Contains(services, id) }
		if len(p.ServiceIDs) == len(services) && !slices.ContainsFunc(p.ServiceIDs, lacks) { // ServiceIDs are distinct
			return p
		}
	}
	return nil
}
