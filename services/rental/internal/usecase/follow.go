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

// FreshOffers reads the newest offer of a business, never an older one. Faults:
// business_not_found. Any other error means that the offer could not be read.
type FreshOffers interface {
	Fresh(ctx context.Context, slug string) (*catalog.Offer, error)
}

// UncachedOffers reads the newest offer of a business by the business's
// id, and does not cache it. Its errors are those of [FreshOffers].
type UncachedOffers interface {
	Uncached(ctx context.Context, id uuid.UUID) (*catalog.Offer, error)
}

const (
	// sweepEvery is how often all reservations are compared with
	// their offers. The sweep finds changes whose message was lost.
	sweepEvery = time.Hour
	followPage = 100 // businesses at a time
)

// Followers is a job that updates reservations after a business publishes a new offer. It withdraws
// the reservations of a rental that is no longer offered, and restores them if the rental is
// offered again. The recorded events of the reservations cause the messages to customers.
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
	swept   uuid.UUID // the last business that the current sweep did; nil: no sweep runs
}

// NewFollowers returns the job.
func NewFollowers(records *store.Store, offers FreshOffers, byID UncachedOffers, c clock.Clock,
	tel *telemetry.Telemetry) *Followers {
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

// Once processes the offers that have changed. Every [sweepEvery] it processes all offers.
// If an offer cannot be read, Once continues with the next one; the next run retries.
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
			f.sweptAt = now // the next sweep retries what failed
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

// sweep processes the offers of all businesses with reservations that are not picked up
// yet. It reports whether it reached the last business. It also returns the first error.
func (f *Followers) sweep(ctx context.Context) (bool, error) {
	var first error
	for {
		yesterday := timespan.DateOf(f.clock.Now(), time.UTC) - 1 // every zone's date is this one or later
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
				return false, ctx.Err() // the next run continues here
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
		f.tel.Logger.InfoContext(ctx, "reservations follow their rental", "business_id", offer.ID.String(),
			"reservations", n)
	}
	return err
}
