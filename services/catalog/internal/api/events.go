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

// sendEvents serves /events. It requests the numbers of sold tickets from the booking service and, at the same time,
// the prices from the pricing service unless the cached prices are still valid. If a service does not answer, the list
// lacks the numbers of that service.
func (p *Public) sendEvents(c *fiber.Ctx) error {
	version, err := p.findVersion(c)
	if err != nil {
		return err
	}
	ctx, now := c.UserContext(), p.Clock.Now()
	today := version.Snapshot.Today(now)
	events := version.Public().Events(today)
	key := rendered.Key{Slug: version.Snapshot.Slug, Path: "events", Language: language(c, version.Snapshot),
		Date:  today,
		Today: today}
	quoted, sold := p.requestPricesAndCounts(ctx, key, version, now,
		func(ctx context.Context) prices { return p.requestTicketPrices(ctx, version, events, now) },
		func() map[uuid.UUID]int { return p.counts(ctx, version.Snapshot.ID, events.IDs()) })
	return p.sendNumbered(c, key, version, peerNumbers{prices: quoted, counts: sold, isComplete: sold != nil},
		func() any {
			return events.Show(key.Language, quoted.byID, sold)
		})
}

// requestTicketPrices asks pricing for the price of each tier on the date and at the start of the tier's event.
func (p *Public) requestTicketPrices(ctx context.Context, v *ready.Version, events public.Events,
	now time.Time) prices {
	tiers := events.PricedTiers()
	items, ids := make([]pricing.Item, 0, len(tiers)), make([]uuid.UUID, 0, len(tiers))
	for _, t := range tiers {
		items = append(items, pricing.Item{Kind: pricing.KindEvent, ID: t.EventID, TierID: &t.TierID})
		ids = append(ids, t.TierID)
	}
	return p.requestQuotes(ctx, v, now, items, ids)
}

// counts requests the numbers of tickets sold from booking, by event and tier. One call
// requests up to [booking.MaxSalesEvents] events. If a call fails, the result is nil.
// The numbers are then unknown, and each event is shown as neither full nor available.
func (p *Public) counts(ctx context.Context, businessID uuid.UUID, eventIDs []uuid.UUID) public.SoldCounts {
	ctx, cancel := context.WithTimeout(ctx, p.SalesTimeout)
	defer cancel()
	counts := public.SoldCounts{}
	for part := range slices.Chunk(eventIDs, booking.MaxSalesEvents) {
		sales, err := p.Sales.Sales(ctx, businessID, part)
		if err != nil {
			return nil
		}
		for _, e := range sales.Events {
			counts[e.EventID] = e.Sold
			for _, t := range e.Tiers {
				counts[t.TierID] = t.Sold
			}
		}
	}
	return counts
}
