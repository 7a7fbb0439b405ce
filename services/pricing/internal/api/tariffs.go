package api

import (
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/services/pricing/internal/tariff"
)

// tariffs caches the tariff of each business. Without the cache,
// each booking would build up to thousands of rules again.
type tariffs struct {
	cache *lru.Cache[string, madeTariff]
}

// madeTariff is a tariff and the offer that it was built from. The tariff
// is valid as long as the offer is current, because an offer is immutable.
type madeTariff struct {
	offer  *catalog.Offer
	tariff *tariff.Tariff
}

const cachedTariffs = 4096 // the number of cached offers

func newTariffs() *tariffs {
	cache, err := lru.New[string, madeTariff](cachedTariffs)
	if err != nil {
		panic(err) // only for a size below 1
	}
	return &tariffs{cache: cache}
}

func (t *tariffs) of(offer *catalog.Offer) (*tariff.Tariff, error) {
	if made, ok := t.cache.Get(offer.Slug); ok && made.offer == offer {
		return made.tariff, nil
	}
	made, err := newTariff(offer)
	if err != nil {
		return nil, err
	}
	t.cache.Add(offer.Slug, madeTariff{offer: offer, tariff: made})
	return made, nil
}
