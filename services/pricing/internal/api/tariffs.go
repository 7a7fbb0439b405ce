package api

import (
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/lru"
	"github.com/slotmesh/slotmesh/services/pricing/internal/tariff"
)

// tariffs caches the tariff of each business. Building a tariff from thousands of rules for each booking would be slow.
type tariffs struct {
	cache *lru.Cache[string, cachedTariff]
}

// cachedTariff is a tariff and the offer from which it was built. An offer never
// changes, so the tariff is valid until catalog returns another offer of the business.
type cachedTariff struct {
	offer  *catalog.Snapshot
	tariff *tariff.Tariff
}

const maxCachedTariffs = 4096 // maximum number of tariffs in the cache

func newTariffs() *tariffs {
	return &tariffs{cache: lru.New[string](maxCachedTariffs, func(cachedTariff) int { return 1 })}
}

func (t *tariffs) findTariff(offer *catalog.Snapshot) (*tariff.Tariff, error) {
	if cached, ok := t.cache.Get(offer.Slug); ok && cached.offer == offer {
		return cached.tariff, nil
	}
	cached, err := newTariff(offer)
	if err != nil {
		return nil, err
	}
	t.cache.Put(offer.Slug, cachedTariff{offer: offer, tariff: cached})
	return cached, nil
}
