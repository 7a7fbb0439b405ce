package api

import (
	"context"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/pricing"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/catalog/internal/public"
	"github.com/slotmesh/slotmesh/services/catalog/internal/ready"
	"github.com/slotmesh/slotmesh/services/catalog/internal/rendered"
)

// Ceilings returns max_bookable_online of all rentals of a business. The client of
// the rental service implements Ceilings. After an error, the numbers are unknown.
type Ceilings interface {
	Ceilings(ctx context.Context, slug string, offerVersion int64) (*rental.Ceilings, error)
}

// rentals serves /rentals. It requests max_bookable_online from the rental service
// and, at the same time, the prices from pricing unless the cached prices are still
// valid. If a service does not answer, the list lacks the numbers of that service.
func (p *Public) rentals(c *fiber.Ctx) error {
	version, err := p.version(c)
	if err != nil {
		return err
	}
	now := p.Clock.Now()
	today := version.Offer.Today(now)
	date, err := dateParam(c, today)
	if err != nil {
		return err
	}
	ctx, unbookable := c.UserContext(), !bookable(version.Offer, today, date)
	key := rendered.Key{Slug: version.Offer.Slug, Path: "rentals", Language: language(c, version.Offer), Date: date,
		Today: today}
	quoted, ceilings := p.withCounts(ctx, key, version, now, func(ctx context.Context) prices {
		if unbookable {
			return prices{}
		}
		return p.rates(ctx, version, date, now)
	}, func() map[uuid.UUID]int { return p.ceilings(ctx, version) })
	complete := ceilings != nil || !version.Public().HasRentals()
	return p.sendNumbered(c, key, version, numbered{prices: quoted, counts: ceilings, complete: complete}, func() any {
		return version.Public().Rentals(key.Language, public.Quotes{Date: date, Unbookable: unbookable,
			Prices: quoted.of}, ceilings)
	})
}

// rates asks pricing for the rates, per hour or per day, of all listed rentals on the booking date.
func (p *Public) rates(ctx context.Context, v *ready.Version, date timespan.Date, now time.Time) prices {
	ids := v.Public().PricedRentals()
	items := make([]pricing.Item, 0, len(ids))
	for _, id := range ids {
		items = append(items, pricing.Item{Kind: pricing.KindRental, ID: id, Date: date})
	}
	return p.quote(ctx, v, now, items, ids)
}

// ceilings returns max_bookable_online by rental id. It returns nil
// if the rental service does not answer or if there are no rentals.
func (p *Public) ceilings(ctx context.Context, v *ready.Version) map[uuid.UUID]int {
	if !v.Public().HasRentals() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, p.CeilingsTimeout)
	defer cancel()
	answer, err := p.Ceilings.Ceilings(ctx, v.Offer.Slug, v.Offer.Version)
	if err != nil {
		return nil
	}
	return answer.Ceilings
}
