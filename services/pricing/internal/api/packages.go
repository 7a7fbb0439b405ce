package api

import (
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/pricing"
	"github.com/slotmesh/slotmesh/services/pricing/internal/tariff"
)

// bundle sets the price of each item to the item's share of the package's price, and adds that change as a step
// of the quote. It returns the package. If the items are not a package, it returns nil and changes nothing.
func bundle(offer *catalog.Offer, request *pricing.QuotesRequest, quotes []pricing.Quote) *pricing.Package {
	ids, varied := make([]uuid.UUID, len(request.Items)), false
	for i, item := range request.Items {
		if item.Kind != pricing.KindService {
			return nil
		}
		ids[i], varied = item.ID, varied || item.VariantID != nil
	}
	sold := offer.PackageOf(ids, varied)
	if sold == nil {
		return nil
	}
	prices, separately := make([]int64, len(quotes)), int64(0)
	for i, q := range quotes {
		prices[i] = q.Price
		separately += q.Price
	}
	currency := offer.Money()
	for i, share := range tariff.Shares(prices, sold.Of(separately, currency)) {
		q := &quotes[i]
		if q.Priced && !request.OmitSteps {
			q.Steps = append(q.Steps, pricing.Step{
				Rule: sold.Key, Kind: pricing.KindPackage,
				Before: currency.Exact(currency.Decimal(q.Price)), After: currency.Exact(currency.Decimal(share)),
			})
		}
		q.Price = share
	}
	return &pricing.Package{ID: sold.ID, Separately: separately}
}
