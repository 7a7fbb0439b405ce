package api

import (
	"context"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/pricing"
	"github.com/slotmesh/slotmesh/services/catalog/internal/public"
	"github.com/slotmesh/slotmesh/services/catalog/internal/ready"
	"github.com/slotmesh/slotmesh/services/catalog/internal/rendered"
)

// Sales returns, in one call, the numbers of tickets that were sold for several events.
// The client of booking implements Sales. After an error, the numbers are unknown.
type Sales interface {
	Sales(ctx context.Context, businessID uuid.UUID, eventIDs []uuid.UUID) (*booking.Sales, error)
}

// events serves /events. It requests the tickets sold from booking and, at the same time, the prices from pricing
// unless the cached prices are still valid. If a service does not answer, the list lacks the numbers of that service.
func (p *Public) events(c *fiber.Ctx) error {
	version, err := p.version(c)
	if err != nil {
		return err
	}
	ctx, now := c.UserContext(), p.Clock.Now()
	today := version.Offer.Today(now)
	events := version.Public().Events(today)
	key := rendered.Key{Slug: version.Offer.Slug, Path: "events", Language: language(c, version.Offer), Date: today,
		Today: today}
	quoted, sold := p.withCounts(ctx, key, version, now,
		func(ctx context.Context) prices { return p.ticketPrices(ctx, version, events, now) },
		func() map[uuid.UUID]int { return p.sold(ctx, version.Offer.ID, events.IDs()) })
	return p.sendNumbered(c, key, version, numbered{prices: quoted, counts: sold, complete: sold != nil}, func() any {
		return events.Show(key.Language, quoted.of, sold)
	})
}

// ticketPrices asks pricing for the price of each tier on the date and at the start of the tier's event.
func (p *Public) ticketPrices(ctx context.Context, v *ready.Version, events public.Events, now time.Time) prices {
	tiers := events.Priced()
	items, ids := make([]pricing.Item, 0, len(tiers)), make([]uuid.UUID, 0, len(tiers))
	for _, t := range tiers {
		items = append(items, pricing.Item{Kind: pricing.KindEvent, ID: t.EventID, TierID: &t.TierID})
		ids = append(ids, t.TierID)
	}
	return p.quote(ctx, v, now, items, ids)
}

// sold requests the numbers of tickets sold from booking, by event and tier. One call requests up to
// [booking.MaxSalesEvents] events. If a call fails, sold returns nil. The numbers are then unknown, and each event is
// shown as neither full nor available.
func (p *Public) sold(ctx context.Context, businessID uuid.UUID, eventIDs []uuid.UUID) public.Sold {
	ctx, cancel := context.WithTimeout(ctx, p.SalesTimeout)
	defer cancel()
	sold := public.Sold{}
	for part := range slices.Chunk(eventIDs, booking.MaxSalesEvents) {
		sales, err := p.Sales.Sales(ctx, businessID, part)
		if err != nil {
			return nil
		}
		for _, e := range sales.Events {
			sold[e.EventID] = e.Sold
			for _, t := range e.Tiers {
				sold[t.TierID] = t.Sold
			}
		}
	}
	return sold
}
