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
	of map[uuid.UUID]json.Number // nil if the prices are unknown
	// ofVersion reports whether pricing computed the prices with the same version
	// of the offer as the answer shows. Pricing may already use a newer version.
	ofVersion bool
	// The field `from` is the time at which the prices were requested. The field
	// `until` is the time until which they may be shown without a new request.
	from, until time.Time
}

// withCounts returns the prices and the counts (tickets sold, or bookable units). It requests prices and counts at the
// same time.
//
// withCounts calls the function `quote` only if the cached prices are no longer valid.
// Concurrent requests share one call of `quote`. Each request calls the function
// `count` itself, because its answer must contain all sales before the request began.
func (p *Public) withCounts(
	ctx context.Context, key rendered.Key, v *ready.Version, now time.Time,
	quote func(context.Context) prices, count func() map[uuid.UUID]int,
) (prices, map[uuid.UUID]int) {
	if held := p.heldPrices(key, v, now); held.of != nil {
		return held, count()
	}
	var (
		quoted prices
		both   sync.WaitGroup
	)
	both.Go(func() {
		// After an error, the prices are unknown.
		quoted, _ = p.quotes.Do(ctx, fmt.Sprint(key, v.Offer.Version), func(ctx context.Context) (prices, error) {
			// Another call may have stored the prices while this call waited.
			if held := p.heldPrices(key, v, now); held.of != nil {
				return held, nil
			}
			return quote(ctx), nil
		})
	})
	counts := count()
	both.Wait()
	return quoted, counts
}

// heldPrices returns the prices of the cached answer if these
// prices are still valid. Otherwise it returns the zero value.
func (p *Public) heldPrices(key rendered.Key, v *ready.Version, now time.Time) prices {
	held := p.held(key, v, now)
	if held == nil {
		return prices{}
	}
	return prices{of: held.Numbers.Prices, ofVersion: true, from: held.From, until: held.Until}
}

// prices asks pricing for the prices of all listed services and variants on the booking date.
func (p *Public) prices(ctx context.Context, v *ready.Version, date timespan.Date, now time.Time) prices {
	priced := v.Public().Priced()
	items, ids := make([]pricing.Item, 0, len(priced)), make([]uuid.UUID, 0, len(priced))
	for _, price := range priced {
		items = append(items, pricing.Item{Kind: pricing.KindService, ID: price.ServiceID, VariantID: price.VariantID,
			Date: date})
		ids = append(ids, price.ID())
	}
	return p.quote(ctx, v, now, items, ids)
}

// quote requests the prices of all items from pricing, with at most [pricing.MaxItems] items per call.
// The argument `ids` holds the keys of the returned prices, in the order of items. The prices are
// valid for [revalidate.TrustFor], or until ValidUntil in the answer of pricing if that is earlier.
//
// Only a few requests of one business run at the same time ([Public.Places]), so that one business cannot
// slow down the others. A request waits for its turn first; the timeout QuoteTimeout begins after this wait.
func (p *Public) quote(ctx context.Context, v *ready.Version, now time.Time, items []pricing.Item,
	ids []uuid.UUID) prices {
	if len(items) == 0 {
		return prices{of: map[uuid.UUID]json.Number{}, ofVersion: true, from: now, until: now.Add(revalidate.TrustFor)}
	}
	leave, err := p.Places.Enter(ctx, v.Offer.Slug)
	if err != nil {
		return prices{}
	}
	defer leave()
	ctx, cancel := context.WithTimeout(ctx, p.QuoteTimeout)
	defer cancel()
	quoted := prices{of: make(map[uuid.UUID]json.Number, len(items)), ofVersion: true, from: now,
		until: now.Add(revalidate.TrustFor)}
	request := pricing.QuotesRequest{Slug: v.Offer.Slug, OfferVersion: v.Offer.Version, PurchaseAt: now,
		OmitSteps: true}
	for part := range slices.Chunk(items, pricing.MaxItems) {
		request.Items = part
		answer, err := p.Quoter.Quotes(ctx, request)
		// If pricing already uses a newer version in another currency, its prices do not fit this list.
		if err != nil || len(answer.Quotes) != len(part) || answer.Currency != v.Offer.Currency {
			return prices{}
		}
		quoted.ofVersion = quoted.ofVersion && answer.OfferVersion == v.Offer.Version
		if at := answer.ValidUntil; at != nil && at.Before(quoted.until) {
			quoted.until = *at
		}
		for i, quote := range answer.Quotes {
			if quote.Priced {
				quoted.of[ids[i]] = v.Offer.Money().JSON(quote.Price)
			}
		}
		ids = ids[len(part):]
	}
	return quoted
}
