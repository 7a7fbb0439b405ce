package catalog

import (
	"slices"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/values/money"
)

// Package is a set of services that the business sells together for one price. Exactly one of Price and Percent is set.
type Package struct {
	ID          uuid.UUID `json:"id"`
	Key         string    `json:"key"`
	Name        Label     `json:"name"`
	Description Label     `json:"description"` // plain text; may be empty
	// ServiceIDs holds the ids of two or more different services, in the order of their performance.
	ServiceIDs []uuid.UUID      `json:"service_ids"`
	Price      *int64           `json:"price,omitempty"`   // in minor units
	Percent    *decimal.Decimal `json:"percent,omitempty"` // reduction, above 0 and at most 100
}

// ComputePrice returns the price of the package, in minor units. The argument `separately` is the sum
// of the prices of the services after the pricing rules. Percent reduces this sum, and the
// result is rounded half up. Price replaces the sum. The result never exceeds the sum.
func (p *Package) ComputePrice(separately int64, currency money.Currency) int64 {
	if p.Price != nil {
		return min(*p.Price, separately)
	}
	part := decimal.NewFromInt(100).Sub(*p.Percent).Shift(-2)
	return min(separately, currency.Round(currency.Decimal(separately).Mul(part)))
}

// PackageOf returns the package that consists of exactly the given services, in any
// order, or nil. The argument `varied` reports that one of the services is booked
// with a variant. The result is then nil, because packages contain no variants.
func (o *Snapshot) PackageOf(services []uuid.UUID, varied bool) *Package {
	if varied {
		return nil
	}
	for i := range o.Packages {
		p := &o.Packages[i]
		lacks := func(id uuid.UUID) bool { return !slices.Contains(services, id) }
		if len(p.ServiceIDs) == len(services) && !slices.ContainsFunc(p.ServiceIDs, lacks) { // no id occurs twice
			return p
		}
	}
	return nil
}
