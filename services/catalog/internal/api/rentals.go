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

// sendRentals serves /rentals. It requests max_bookable_online from the rental service
// and, at the same time, the prices from pricing unless the cached prices are still
// valid. If a service does not answer, the list lacks the numbers of that service.
func (p *Public) sendRentals(c *fiber.Ctx) error {
	version, err := p.findVersion(c)
	if err != nil {
		return err
	}
	now := p.Clock.Now()
	today := version.Snapshot.Today(now)
	date, err := dateParam(c, today)
	if err != nil {
		return err
	}
	ctx, unbookable := c.UserContext(), !isBookable(version.Snapshot, today, date)
	key := rendered.Key{Slug: version.Snapshot.Slug, Path: "rentals", Language: language(c, version.Snapshot),
		Date:  date,
		Today: today}
	quoted, ceilings := p.requestPricesAndCounts(ctx, key, version, now, func(ctx context.Context) prices {
		if unbookable {
			return prices{}
		}
		return p.requestRates(ctx, version, date, now)
	}, func() map[uuid.UUID]int { return p.requestCeilings(ctx, version) })
	isComplete := ceilings != nil || !version.Public().HasRentals()
	return p.sendNumbered(c, key, version, peerNumbers{prices: quoted, counts: ceilings, isComplete: isComplete},
		func() any {
			return version.Public().Rentals(key.Language, public.Quotes{Date: date, IsUnbookable: unbookable,
				Prices: quoted.byID}, ceilings)
		})
}

// requestRates asks pricing for the rates, per hour or per day, of all listed rentals on the booking date.
func (p *Public) requestRates(ctx context.Context, v *ready.Version, date timespan.Date, now time.Time) prices {
	ids := v.Public().PricedRentals()
	items := make([]pricing.Item, 0, len(ids))
	for _, id := range ids {
		items = append(items, pricing.Item{Kind: pricing.KindRental, ID: id, Date: date})
	}
	return p.requestQuotes(ctx, v, now, items, ids)
}

// requestCeilings returns max_bookable_online by rental id. It returns nil
// if the rental service does not answer or if there are no rentals.
func (p *Public) requestCeilings(ctx context.Context, v *ready.Version) map[uuid.UUID]int {
	if !v.Public().HasRentals() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, p.CeilingsTimeout)
	defer cancel()
	answer, err := p.Ceilings.Ceilings(ctx, v.Snapshot.Slug, v.Snapshot.Version)
	if err != nil {
		return nil
	}
	return answer.Ceilings
}
