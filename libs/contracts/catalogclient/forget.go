package catalogclient

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/bulkhead"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// Remembered is a service's store of customers' data.
type Remembered interface {
	// RemembersEnded returns up to limit businesses, in the order of their ids, with ids
	// above after. Each has data of customers whose bookings had ended at the time then.
	RemembersEnded(ctx context.Context, after uuid.UUID, then time.Time, limit int) ([]uuid.UUID, error)
	// ForgetEnded anonymizes the customers of one business whose bookings had ended at
	// the time then. It returns the number of changed bookings, orders or reservations.
	ForgetEnded(ctx context.Context, business uuid.UUID, then time.Time) (int64, error)
}

// Forgetter is the retention job: it anonymizes customers some time after their
// bookings have ended (lifecycle.md §6). Each business configures this time.
type Forgetter struct {
	catalog   *peer.Client
	offer     func(ctx context.Context, slug string) (*catalog.Offer, error)
	kept      Remembered
	alone     func(context.Context, func(context.Context) error) error
	clock     clock.Clock
	telemetry *telemetry.Telemetry
	forgotten metric.Int64Counter
}

// NewForgetter returns a retention job. alone runs a function while no other replica runs it.
func NewForgetter(p *peer.Client, offers *Client, kept Remembered, alone func(context.Context,
	func(context.Context) error) error, now clock.Clock, tel *telemetry.Telemetry) *Forgetter {
	return &Forgetter{
		catalog: p, offer: offers.Uncached, kept: kept, alone: alone, clock: now, telemetry: tel,
		forgotten: tel.Counter("slotmesh.customers.forgotten",
			"Bookings, orders of tickets and reservations whose customer was forgotten for their age."),
	}
}

const (
	forgetEvery = time.Hour
	forgetPage  = 100 // businesses per page
	// shortestMemory is the shortest retention time that a business can configure.
	shortestMemory = 24 * time.Hour
)

// Run anonymizes immediately and then every hour until ctx ends. After a failure it retries soon.
func (f *Forgetter) Run(ctx context.Context) error {
	return keep(ctx, forgetEvery, f.telemetry, "customers that are to be forgotten stay for now",
		func(ctx context.Context) error {
			return f.alone(ctx, f.Once)
		})
}

// Once anonymizes all customers whose retention time is over.
func (f *Forgetter) Once(ctx context.Context) error {
	ctx = actor.AsSystem(ctx)
	now := f.clock.Now()
	var first error // an unreadable offer of one business must not stop the others
	for after := uuid.Nil; ; {
		businesses, err := f.kept.RemembersEnded(ctx, after, now.Add(-shortestMemory), forgetPage)
		if err != nil {
			return err
		}
		err = bulkhead.Each(ctx, businesses, func(ctx context.Context, business uuid.UUID) error {
			return f.of(ctx, business, now)
		})
		first = cmp.Or(first, err)
		if len(businesses) < forgetPage || ctx.Err() != nil {
			return first
		}
		after = businesses[len(businesses)-1]
	}
}

// of anonymizes the customers of one business whose time has come.
// It skips a removed business, whose data [Eraser] deletes later.
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
		return nil // removed in the meantime; its slug names another business
	}
	n, err := f.kept.ForgetEnded(ctx, business, now.AddDate(0, 0, -offer.Privacy.KeepCustomersDays))
	f.forgotten.Add(ctx, n)
	if n > 0 {
		f.telemetry.Logger.InfoContext(ctx, "customers of what ended long ago are forgotten", "business_id",
			business.String(), "rows", n)
	}
	return err
}
