package api

import (
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/pricing"
	"github.com/slotmesh/slotmesh/services/pricing/internal/tariff"
)

// applyPackage returns the package that the requested items form, or nil if they form none. In a
// package, each item's price becomes its share of the package price. applyPackage sets these prices
// in quotes, and adds a step to each quote for the change. Without a package, it changes nothing.
func applyPackage(offer *catalog.Snapshot, request *pricing.QuotesRequest, quotes []pricing.Quote) *pricing.Package {
	ids, hasVariant := make([]uuid.UUID, len(request.Items)), false
	for i, item := range request.Items {
		if item.Kind != pricing.KindService {
			return nil
		}
		ids[i], hasVariant = item.ID, hasVariant || item.VariantID != nil
	}
	pack := offer.PackageOf(ids, hasVariant)
	if pack == nil {
		return nil
	}
	prices, sum := make([]int64, len(quotes)), int64(0)
	for i, q := range quotes {
		prices[i] = q.Price
		sum += q.Price
	}
	currency := offer.Money()
	for i, share := range tariff.DivideTotal(prices, pack.ComputePrice(sum, currency)) {
		q := &quotes[i]
		if q.Priced && !request.OmitSteps {
			q.Steps = append(q.Steps, pricing.Step{
				Rule: pack.Key, Kind: pricing.KindPackage,
				Before: currency.Exact(currency.Decimal(q.Price)), After: currency.Exact(currency.Decimal(share)),
			})
		}
		q.Price = share
	}
	return &pricing.Package{ID: pack.ID, Separately: sum}
}
