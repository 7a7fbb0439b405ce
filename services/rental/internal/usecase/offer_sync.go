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

// FreshOffers reads the newest offer of a business. It never returns an older offer from a
// cache. Fault: business_not_found. Any other error means that the offer could not be read.
type FreshOffers interface {
	Fresh(ctx context.Context, slug string) (*catalog.Snapshot, error)
}

// UncachedOffers reads the newest offer of a business by the id of the business,
// and does not cache the offer. Its errors are those of [FreshOffers].
type UncachedOffers interface {
	Uncached(ctx context.Context, id uuid.UUID) (*catalog.Snapshot, error)
}

const (
	// sweepInterval is the interval between two sweeps. A sweep compares all reservations with the offers
	// of their businesses; it finds new offers for which the message to [OfferSync.RecordChange] was lost.
	sweepInterval = time.Hour
	// syncPage is the number of businesses that the sweep reads in one query.
	syncPage = 100
)

// OfferSync is a job that updates reservations after a business publishes a new offer. If a rental is no longer
// offered, the job marks the reservations of the rental as withdrawn. If the rental is offered again, the job
// removes the mark. For each changed reservation, the job records an event, which causes a message to the customer.
type OfferSync struct {
	records *store.Store
	offers  FreshOffers
	byID    UncachedOffers
	clock   clock.Clock
	tel     *telemetry.Telemetry
	updates metric.Int64Counter

	mu          sync.Mutex
	changed     map[string]struct{} // slugs of businesses with a new offer
	lastSweep   time.Time
	sweepCursor uuid.UUID // the last business that the current sweep processed; uuid.Nil: no sweep runs
}

// NewOfferSync returns an OfferSync. The arguments `offers` and `byID` both read offers from the catalog service.
func NewOfferSync(records *store.Store, offers FreshOffers, byID UncachedOffers, c clock.Clock,
	tel *telemetry.Telemetry) *OfferSync {
	return &OfferSync{
		records: records, offers: offers, byID: byID, clock: c, tel: tel, changed: map[string]struct{}{},
		updates: tel.Counter("slotmesh.rental.followed", "Reservations that were changed because their rental was."),
	}
}

// RecordChange records in memory that a business has a new offer. The next call of [OfferSync.RunOnce] processes the
// offer.
func (f *OfferSync) RecordChange(slug string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changed[slug] = struct{}{}
}

// RunOnce processes the offers that have changed since the last call. Once per
// [sweepInterval], it processes the offers of all businesses with reservations. If an
// offer cannot be read, RunOnce continues with the next offer; the next run retries.
func (f *OfferSync) RunOnce(ctx context.Context) error {
	ctx = actor.AsSystem(ctx)
	var first error
	for _, slug := range f.takeChanged() {
		offer, err := f.offers.Fresh(ctx, slug)
		if err == nil {
			err = f.apply(ctx, offer)
		}
		if err != nil && !fault.Is(err, fault.BusinessNotFound) {
			f.RecordChange(slug)
			first = cmp.Or(first, err)
		}
	}
	if now := f.clock.Now(); now.Sub(f.lastSweep) >= sweepInterval {
		isSwept, err := f.sweep(ctx)
		if isSwept {
			f.lastSweep = now // the next sweep retries the businesses for which this sweep failed
		}
		first = cmp.Or(first, err)
	}
	return first
}

func (f *OfferSync) takeChanged() []string {
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
// yet. It reports whether it reached the last business, and also returns the first error.
// If `ctx` ends, the next call of sweep continues after the last processed business.
func (f *OfferSync) sweep(ctx context.Context) (bool, error) {
	var first error
	for {
		yesterday := timespan.DateOf(f.clock.Now(), time.UTC) - 1 // no time zone has an earlier current date
		businesses, err := f.records.BusinessesWithReservationsAhead(ctx, f.sweepCursor, yesterday, syncPage)
		if err != nil {
			return false, err
		}
		for _, id := range businesses {
			offer, err := f.byID.Uncached(ctx, id)
			if err == nil {
				err = f.apply(ctx, offer)
			}
			if err != nil && !fault.Is(err, fault.BusinessNotFound) {
				first = cmp.Or(first, err)
			}
			if ctx.Err() != nil {
				return false, ctx.Err() // the next run continues after f.sweepCursor
			}
			f.sweepCursor = id
		}
		if len(businesses) < syncPage {
			f.sweepCursor = uuid.Nil
			return true, first
		}
	}
}

// apply marks reservations of a business as withdrawn, or removes the mark, so that the marks match the offer.
func (f *OfferSync) apply(ctx context.Context, offer *catalog.Snapshot) error {
	now, offeredIDs := f.clock.Now(), []uuid.UUID{}
	for i := range offer.Rentals {
		if r := &offer.Rentals[i]; r.Active && offer.Modules.Rentals {
			offeredIDs = append(offeredIDs, r.ID)
		}
	}
	n, err := f.records.UpdateWithdrawn(ctx, offer.ID, offeredIDs, offer.Today(now), now)
	f.updates.Add(ctx, int64(n))
	if n > 0 {
		f.tel.Logger.InfoContext(ctx, "reservations are updated to the new offer", "business_id", offer.ID.String(),
			"reservations", n)
	}
	return err
}
