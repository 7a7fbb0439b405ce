package api

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/peer/pricing"
	"github.com/slotmesh/slotmesh/libs/revalidate"
	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/services/catalog/internal/ready"
	"github.com/slotmesh/slotmesh/services/catalog/internal/rendered"
)

// prices are what things cost by their id, free ones left out.
type prices struct {
	of map[uuid.UUID]json.Number // nil: they could not be had
	// ofVersion says that they were quoted by the very version that is shown: pricing may already know a newer one.
	ofVersion bool
	// They were asked for at from, and may be shown until until without asking again.
	from, until time.Time
}

// withCounts asks for prices by quote, where those of the answer in memory do not hold any more, and for counts at the same time. Prices are
// asked for once by all who want them at once, as they hold for a while; counts by each, as they are to show what was sold before it asked.
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
		quoted, _ = p.quotes.Do(ctx, fmt.Sprint(key, v.Offer.Version), func(ctx context.Context) (prices, error) { // an error is no prices
			if held := p.heldPrices(key, v, now); held.of != nil { // asked for since, by those who came just before
				return held, nil
			}
			return quote(ctx), nil
		})
	})
	counts := count()
	both.Wait()
	return quoted, counts
}

// heldPrices are those of the answer in memory while they hold, or none.
func (p *Public) heldPrices(key rendered.Key, v *ready.Version, now time.Time) prices {
	held := p.held(key, v, now)
	if held == nil {
		return prices{}
	}
	return prices{of: held.Numbers.Prices, ofVersion: true, from: held.From, until: held.Until}
}

// prices asks pricing for the prices of all services and variants on a date.
func (p *Public) prices(ctx context.Context, v *ready.Version, date timespan.Date, now time.Time) prices {
	priced := v.Public().Priced()
	items, ids := make([]pricing.Item, 0, len(priced)), make([]uuid.UUID, 0, len(priced))
	for _, price := range priced {
		items = append(items, pricing.Item{Kind: pricing.KindService, ID: price.ServiceID, VariantID: price.VariantID, Date: date})
		ids = append(ids, price.ID())
	}
	return p.quote(ctx, v, now, items, ids)
}

// quote asks pricing for all items, in one call where they are not more than one may hold; ids are what each price is
// kept by. Prices may be shown for as long as a version is trusted, so that a pricing service that is away shows as soon,
// but not beyond what pricing says.
//
// It asks in one of the business's places: what waits there does not use up the time that pricing has, and no business
// has more than a few questions there at once, so that none of them can take long for what others ask.
func (p *Public) quote(ctx context.Context, v *ready.Version, now time.Time, items []pricing.Item, ids []uuid.UUID) prices {
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
	quoted := prices{of: make(map[uuid.UUID]json.Number, len(items)), ofVersion: true, from: now, until: now.Add(revalidate.TrustFor)}
	request := pricing.QuotesRequest{Slug: v.Offer.Slug, OfferVersion: v.Offer.Version, PurchaseAt: now, OmitSteps: true}
	for part := range slices.Chunk(items, pricing.MaxItems) {
		request.Items = part
		answer, err := p.Quoter.Quotes(ctx, request)
		// Prices of a newer version in another currency do not fit this list.
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
