package catalogclient

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/actor"
	"github.com/slotmesh/slotmesh/libs/bulkhead"
	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/telemetry"
)

// Remembered is what a service keeps of customers.
type Remembered interface {
	// RemembersEnded names up to limit businesses after one, in the order of their ids, of which it remembers customers of what had ended by then.
	RemembersEnded(ctx context.Context, after uuid.UUID, then time.Time, limit int) ([]uuid.UUID, error)
	// ForgetEnded forgets the customers of what had ended by then, of one business, and returns of how many bookings and the like.
	ForgetEnded(ctx context.Context, business uuid.UUID, then time.Time) (int64, error)
}

// Forgetter forgets customers of what has ended, as long after the end as each business says (lifecycle.md §6).
type Forgetter struct {
	catalog   *peer.Client
	offer     func(ctx context.Context, slug string) (*catalog.Offer, error)
	kept      Remembered
	alone     func(context.Context, func(context.Context) error) error
	clock     clock.Clock
	telemetry *telemetry.Telemetry
	forgotten metric.Int64Counter
}

// NewForgetter returns a forgetter. alone does work while no other replica does it.
func NewForgetter(p *peer.Client, offers *Client, kept Remembered, alone func(context.Context, func(context.Context) error) error, now clock.Clock, tel *telemetry.Telemetry) *Forgetter {
	return &Forgetter{
		catalog: p, offer: offers.Uncached, kept: kept, alone: alone, clock: now, telemetry: tel,
		forgotten: tel.Counter("slotmesh.customers.forgotten", "Bookings, orders of tickets and reservations whose customer was forgotten for their age."),
	}
}

const (
	forgetEvery = time.Hour
	forgetPage  = 100 // businesses at a time
	// shortestMemory is the shortest time that a business may remember customers for.
	shortestMemory = 24 * time.Hour
)

// Run forgets at once and then every hour, until ctx ends. What cannot be done now is tried again soon.
func (f *Forgetter) Run(ctx context.Context) error {
	return keep(ctx, forgetEvery, f.telemetry, "customers that are to be forgotten stay for now", func(ctx context.Context) error {
		return f.alone(ctx, f.Once)
	})
}

// Once forgets what is due.
func (f *Forgetter) Once(ctx context.Context) error {
	ctx = actor.AsSystem(ctx)
	now := f.clock.Now()
	var first error // one business whose offer cannot be read keeps no other customers remembered
	for after := uuid.Nil; ; {
		businesses, err := f.kept.RemembersEnded(ctx, after, now.Add(-shortestMemory), forgetPage)
		if err != nil {
			return err
		}
		err = bulkhead.Each(ctx, businesses, func(ctx context.Context, business uuid.UUID) error { return f.of(ctx, business, now) })
		first = cmp.Or(first, err)
		if len(businesses) < forgetPage || ctx.Err() != nil {
			return first
		}
		after = businesses[len(businesses)-1]
	}
}

// of forgets what is due of one business. One that was removed is erased whole later.
func (f *Forgetter) of(ctx context.Context, business uuid.UUID, now time.Time) error {
	slug, err := Slug(ctx, f.catalog, business)
	if fault.Is(err, fault.BusinessNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("find a business with customers to forget: %w", err)
	}
	offer, err := f.offer(ctx, slug)
	if fault.Is(err, fault.BusinessNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("ask how long customers are remembered: %w", err)
	}
	if offer.ID != business {
		return nil // removed meanwhile, and its slug taken by another
	}
	n, err := f.kept.ForgetEnded(ctx, business, now.AddDate(0, 0, -offer.Privacy.KeepCustomersDays))
	f.forgotten.Add(ctx, n)
	if n > 0 {
		f.telemetry.Logger.InfoContext(ctx, "customers of what ended long ago are forgotten", "business_id", business.String(), "rows", n)
	}
	return err
}
