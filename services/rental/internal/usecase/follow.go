package usecase

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
)

// FreshOffers reads the newest offer of a business. It never returns an older, cached
// one. Fault: business_not_found. Any other error means that the offer could not be read.
type FreshOffers interface {
	Fresh(ctx context.Context, slug string) (*catalog.Snapshot, error)
}

// UncachedOffers reads the newest offer of a business by the id of the business,
// and does not cache the offer. Its errors are those of [FreshOffers].
type UncachedOffers interface {
	Uncached(ctx context.Context, id uuid.UUID) (*catalog.Snapshot, error)
}

const (
	// sweepEvery is the interval between two sweeps. A sweep compares all reservations with
	// the offers of their businesses; it finds changes of offers whose message was lost.
	sweepEvery = time.Hour
	// followPage is the number of businesses that the sweep reads in one query.
	followPage = 100
)

// Followers is a job that updates reservations after a business publishes a new offer. If a rental is no longer
// offered, the job marks the reservations of the rental as withdrawn. If the rental is offered again, the job
// removes the mark. For each changed reservation, the job records an event, which causes a message to the customer.
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
	swept   uuid.UUID // the last business that the current sweep processed; uuid.Nil: no sweep runs
}

// NewFollowers returns a Followers. The arguments `offers` and `byID` both read offers from catalog.
func NewFollowers(records *store.Store, offers FreshOffers, byID UncachedOffers, c clock.Clock,
	tel *telemetry.Telemetry) *Followers {
	return &Followers{
		records: records, offers: offers, byID: byID, clock: c, tel: tel, changed: map[string]struct{}{},
		followed: tel.Counter("slotmesh.rental.followed", "Reservations that were changed because their rental was."),
	}
}

// Changed records in memory that a business has a new offer. The next call of [Followers.Once] processes the offer.
func (f *Followers) Changed(slug string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changed[slug] = struct{}{}
}

// Once processes the offers that have changed since its last call. Once per [sweepEvery], it processes the
// offers of all businesses. If an offer cannot be read, Once continues with the next one; the next run retries.
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
			f.sweptAt = now // the next sweep retries the businesses for which this sweep failed
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

// sweep processes the offers of all businesses with reservations that are not picked
// up yet. It reports whether it reached the last business, and also returns the first
// error. If ctx ends, the next call continues after the last processed business.
func (f *Followers) sweep(ctx context.Context) (bool, error) {
	var first error
	for {
		yesterday := timespan.DateOf(f.clock.Now(), time.UTC) - 1 // no time zone has an earlier current date
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
				return false, ctx.Err() // the next run continues after f.swept
			}
			f.swept = id
		}
		if len(businesses) < followPage {
			f.swept = uuid.Nil
			return true, first
		}
	}
}

// follow marks the reservations of a business as withdrawn, or removes the mark, so that they match the offer.
func (f *Followers) follow(ctx context.Context, offer *catalog.Snapshot) error {
	now, offered := f.clock.Now(), []uuid.UUID{}
	for i := range offer.Rentals {
		if r := &offer.Rentals[i]; r.Active && offer.Modules.Rentals {
			offered = append(offered, r.ID)
		}
	}
	n, err := f.records.FollowRentals(ctx, offer.ID, offered, offer.Today(now), now)
	f.followed.Add(ctx, int64(n))
	if n > 0 {
		f.tel.Logger.InfoContext(ctx, "reservations follow their rental", "business_id", offer.ID.String(),
			"reservations", n)
	}
	return err
}
