package usecase

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/actor"
	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/telemetry"
	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
)

// FreshOffers reads the newest offer of a business, never an older one. Faults: business_not_found; another error means
// that the offer could not be read.
type FreshOffers interface {
	Fresh(ctx context.Context, slug string) (*catalog.Offer, error)
}

// UncachedOffers is as [FreshOffers], by the id of a business, and keeps no offer in memory.
type UncachedOffers interface {
	Uncached(ctx context.Context, id uuid.UUID) (*catalog.Offer, error)
}

const (
	// sweepEvery is how often all reservations are held against their offers: a change that was not heard of is found then.
	sweepEvery = time.Hour
	followPage = 100 // businesses at a time
)

// Followers has reservations follow their rental when a business publishes another offer: those of a rental that is no longer offered are
// withdrawn. Holders are told by the events of their reservations.
type Followers struct {
	records  *store.Store
	offers   FreshOffers
	byID     UncachedOffers
	clock    clock.Clock
	tel      *telemetry.Telemetry
	followed metric.Int64Counter

	mu      sync.Mutex
	changed map[string]struct{} // slugs of businesses with a new offer
	sweptAt time.Time
	swept   uuid.UUID // the last business of the sweep that is on its way; nil: none is
}

// NewFollowers returns the job.
func NewFollowers(records *store.Store, offers FreshOffers, byID UncachedOffers, c clock.Clock, tel *telemetry.Telemetry) *Followers {
	return &Followers{
		records: records, offers: offers, byID: byID, clock: c, tel: tel, changed: map[string]struct{}{},
		followed: tel.Counter("slotmesh.rental.followed", "Reservations that were changed because their rental was."),
	}
}

// Changed notes that a business has a new offer.
func (f *Followers) Changed(slug string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changed[slug] = struct{}{}
}

// Once follows the offers that have changed, and all of them after each [sweepEvery]. An offer that cannot be read is read again the next
// time, and holds up none after it.
func (f *Followers) Once(ctx context.Context) error {
	ctx = actor.AsSystem(ctx)
	var first error
	for _, slug := range f.takeChanged() {
		offer, err := f.offers.Fresh(ctx, slug)
		if err == nil {
			err = f.follow(ctx, offer)
		}
		if err != nil && !fault.Is(err, fault.BusinessNotFound) {
			f.Changed(slug)
			first = cmp.Or(first, err)
		}
	}
	if now := f.clock.Now(); now.Sub(f.sweptAt) >= sweepEvery {
		swept, err := f.sweep(ctx)
		if swept {
			f.sweptAt = now // the next sweep looks again at what failed
		}
		first = cmp.Or(first, err)
	}
	return first
}

func (f *Followers) takeChanged() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	slugs := make([]string, 0, len(f.changed))
	for slug := range f.changed {
		slugs = append(slugs, slug)
	}
	clear(f.changed)
	return slugs
}

// sweep follows the offers of all businesses with reservations ahead, and reports whether it looked at each.
func (f *Followers) sweep(ctx context.Context) (bool, error) {
	var first error
	for {
		yesterday := timespan.DateOf(f.clock.Now(), time.UTC) - 1 // in every zone it is this date or later
		businesses, err := f.records.WithReservationsAhead(ctx, f.swept, yesterday, followPage)
		if err != nil {
			return false, err
		}
		for _, id := range businesses {
			offer, err := f.byID.Uncached(ctx, id)
			if err == nil {
				err = f.follow(ctx, offer)
			}
			if err != nil && !fault.Is(err, fault.BusinessNotFound) {
				first = cmp.Or(first, err)
			}
			if ctx.Err() != nil {
				return false, ctx.Err() // the next run goes on from here
			}
			f.swept = id
		}
		if len(businesses) < followPage {
			f.swept = uuid.Nil
			return true, first
		}
	}
}

func (f *Followers) follow(ctx context.Context, offer *catalog.Offer) error {
	now, offered := f.clock.Now(), []uuid.UUID{}
	for i := range offer.Rentals {
		if r := &offer.Rentals[i]; r.Active && offer.Modules.Rentals {
			offered = append(offered, r.ID)
		}
	}
	n, err := f.records.FollowRentals(ctx, offer.ID, offered, offer.Today(now), now)
	f.followed.Add(ctx, int64(n))
	if n > 0 {
		f.tel.Logger.InfoContext(ctx, "reservations follow their rental", "business_id", offer.ID.String(), "reservations", n)
	}
	return err
}
