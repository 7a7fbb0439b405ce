package api

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/pricing"
	"github.com/slotmesh/slotmesh/libs/platform/revalidate"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/catalog/internal/ready"
	"github.com/slotmesh/slotmesh/services/catalog/internal/rendered"
)

// prices holds prices by the id of a service, variant, tier or rental. Free items are omitted.
type prices struct {
	byID map[uuid.UUID]json.Number // nil if the prices are unknown
	// isOfVersion reports whether pricing computed the prices with the same version
	// of the snapshot as the answer shows. Pricing may already use a newer version.
	isOfVersion bool
	// The field `from` is the time at which the prices were requested. The field
	// `until` is the time until which they may be shown without a new request.
	from, until time.Time
}

// requestPricesAndCounts returns the prices and the counts (tickets sold, or bookable units). It requests prices and
// counts at the same time.
//
// requestPricesAndCounts calls the function `quote` only if the cached prices are no longer valid.
// Concurrent requests share one call of `quote`. Each request calls the function
// `count` itself, because its answer must contain all sales before the request began.
func (p *Public) requestPricesAndCounts(
	ctx context.Context, key rendered.Key, v *ready.Version, now time.Time,
	quote func(context.Context) prices, count func() map[uuid.UUID]int,
) (prices, map[uuid.UUID]int) {
	if cached := p.findCachedPrices(key, v, now); cached.byID != nil {
		return cached, count()
	}
	var (
		quotes   prices
		requests sync.WaitGroup
	)
	requests.Go(func() {
		// After an error, the prices are unknown.
		quotes, _ = p.quotes.Do(ctx, fmt.Sprint(key, v.Snapshot.Version), func(ctx context.Context) (prices, error) {
			// Another call may have stored the prices while this call waited.
			if cached := p.findCachedPrices(key, v, now); cached.byID != nil {
				return cached, nil
			}
			return quote(ctx), nil
		})
	})
	counts := count()
	requests.Wait()
	return quotes, counts
}

// findCachedPrices returns the prices of the cached answer if these
// prices are still valid. Otherwise it returns the zero value.
func (p *Public) findCachedPrices(key rendered.Key, v *ready.Version, now time.Time) prices {
	cached := p.findCached(key, v, now)
	if cached == nil {
		return prices{}
	}
	return prices{byID: cached.Numbers.Prices, isOfVersion: true, from: cached.From, until: cached.Until}
}

// requestPrices asks pricing for the prices of all listed services and variants on the booking date.
func (p *Public) requestPrices(ctx context.Context, v *ready.Version, date timespan.Date, now time.Time) prices {
	refs := v.Public().PricedServices()
	items, ids := make([]pricing.Item, 0, len(refs)), make([]uuid.UUID, 0, len(refs))
	for _, price := range refs {
		items = append(items, pricing.Item{Kind: pricing.KindService, ID: price.ServiceID, VariantID: price.VariantID,
			Date: date})
		ids = append(ids, price.ID())
	}
	return p.requestQuotes(ctx, v, now, items, ids)
}

// requestQuotes requests the prices of all items from pricing, with at most [pricing.MaxItems] items per
// call. The argument `ids` holds the keys of the returned prices, in the order of `items`. The prices
// are valid for [revalidate.TrustFor], or until ValidUntil in the answer of pricing if that is earlier.
//
// Only a few requests of one business run at the same time ([Public.Places]), so that one business cannot
// slow down the others. A request waits for its turn first; the timeout QuoteTimeout begins after this wait.
func (p *Public) requestQuotes(ctx context.Context, v *ready.Version, now time.Time, items []pricing.Item,
	ids []uuid.UUID) prices {
	if len(items) == 0 {
		return prices{byID: map[uuid.UUID]json.Number{}, isOfVersion: true, from: now,
			until: now.Add(revalidate.TrustFor)}
	}
	release, err := p.Places.Enter(ctx, v.Snapshot.Slug)
	if err != nil {
		return prices{}
	}
	defer release()
	ctx, cancel := context.WithTimeout(ctx, p.QuoteTimeout)
	defer cancel()
	quotes := prices{byID: make(map[uuid.UUID]json.Number, len(items)), isOfVersion: true, from: now,
		until: now.Add(revalidate.TrustFor)}
	request := pricing.QuotesRequest{Slug: v.Snapshot.Slug, OfferVersion: v.Snapshot.Version, PurchaseAt: now,
		OmitSteps: true}
	for part := range slices.Chunk(items, pricing.MaxItems) {
		request.Items = part
		answer, err := p.Quoter.Quotes(ctx, request)
		// If pricing already uses a newer version in another currency, its prices do not fit this list.
		if err != nil || len(answer.Quotes) != len(part) || answer.Currency != v.Snapshot.Currency {
			return prices{}
		}
		quotes.isOfVersion = quotes.isOfVersion && answer.OfferVersion == v.Snapshot.Version
		if at := answer.ValidUntil; at != nil && at.Before(quotes.until) {
			quotes.until = *at
		}
		for i, quote := range answer.Quotes {
			if quote.Priced {
				quotes.byID[ids[i]] = v.Snapshot.Money().JSON(quote.Price)
			}
		}
		ids = ids[len(part):]
	}
	return quotes
}
