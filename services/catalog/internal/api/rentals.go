package api

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/peer/pricing"
	"github.com/slotmesh/slotmesh/libs/peer/rental"
	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/services/catalog/internal/public"
	"github.com/slotmesh/slotmesh/services/catalog/internal/ready"
)

// Ceilings gives max_bookable_online of all rentals of a business; rental's client does. Any error means that it could
// not be read.
type Ceilings interface {
	Ceilings(ctx context.Context, slug string, offerVersion int64) (*rental.Ceilings, error)
}

// rentals serves /rentals. Prices and ceilings are asked for at the same time; the list comes without those that cannot
// be had.
func (p *Public) rentals(c *fiber.Ctx) error {
	version, err := p.version(c)
	if err != nil {
		return err
	}
	now := p.Clock.Now()
	date, err := dateParam(c, version.Offer.Today(now))
	if err != nil {
		return err
	}
	var (
		ctx      = c.UserContext()
		quotes   = public.Quotes{Date: date}
		ceilings map[uuid.UUID]int
		both     sync.WaitGroup
	)
	both.Go(func() { quotes.Prices = p.rates(ctx, version, date, now) })
	both.Go(func() { ceilings = p.ceilings(ctx, version) })
	both.Wait()
	return sendJSON(c, version.Public().Rentals(language(c, version.Offer), quotes, ceilings))
}

// rates asks pricing for the rates of all rentals on a date. It returns nil when they cannot be had.
func (p *Public) rates(ctx context.Context, v *ready.Version, date timespan.Date, now time.Time) map[uuid.UUID]json.Number {
	ids := v.Public().PricedRentals()
	items := make([]pricing.Item, 0, len(ids))
	for _, id := range ids {
		items = append(items, pricing.Item{Kind: pricing.KindRental, ID: id, Date: date})
	}
	return p.quote(ctx, v, now, items, ids)
}

// ceilings returns nil when they cannot be had.
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
