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
	"github.com/slotmesh/slotmesh/libs/platform/periodic"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// CustomerRecords is implemented by the store of a service that holds data of customers.
type CustomerRecords interface {
	// BusinessesToAnonymize returns businesses with bookings, orders or reservations that ended at or before the time
	// `endedBy` and still contain data of their customers. The businesses are in the order of their ids. The result has
	// only ids greater than the argument `after`, and at most as many as the argument `limit`.
	BusinessesToAnonymize(ctx context.Context, after uuid.UUID, endedBy time.Time, limit int) ([]uuid.UUID, error)
	// AnonymizeEnded deletes customers' data from the bookings, orders or reservations of one business that
	// ended at or before the time `endedBy`. It returns the number of changed bookings, orders or reservations.
	AnonymizeEnded(ctx context.Context, business uuid.UUID, endedBy time.Time) (int64, error)
}

// RetentionJob is the retention job. When the retention time after the end of a booking, order or reservation
// is over, the job anonymizes the customer (lifecycle.md §6). Each business sets its own retention time.
type RetentionJob struct {
	catalog    *peer.Client
	offer      func(ctx context.Context, slug string) (*catalog.Snapshot, error)
	records    CustomerRecords
	clock      clock.Clock
	telemetry  *telemetry.Telemetry
	anonymized metric.Int64Counter
}

// NewRetentionJob returns a retention job for the store in the argument `records`.
func NewRetentionJob(p *peer.Client, offers *Client, records CustomerRecords, now clock.Clock,
	tel *telemetry.Telemetry) *RetentionJob {
	return &RetentionJob{
		catalog: p, offer: offers.Uncached, records: records, clock: now, telemetry: tel,
		anonymized: tel.Counter("slotmesh.customers.forgotten",
			"Bookings, orders of tickets and reservations whose customer was anonymized after the retention time."),
	}
}

const (
	retentionInterval = time.Hour
	retentionPage     = 100 // number of businesses per page
	// minRetention is the shortest retention time that a business can set.
	minRetention = 24 * time.Hour
)

// Periodic returns the job that anonymizes customers every hour. After an error it retries with backoff.
func (f *RetentionJob) Periodic() periodic.Job {
	return periodic.Job{Every: retentionInterval, RetryAfter: doAgain,
		FailureMessage: "the retention job failed; it retries", Do: f.RunOnce}
}

// RunOnce anonymizes all customers whose retention time is over.
func (f *RetentionJob) RunOnce(ctx context.Context) error {
	ctx = actor.AsSystem(ctx)
	now := f.clock.Now()
	var first error // returned after all businesses are processed
	for after := uuid.Nil; ; {
		businesses, err := f.records.BusinessesToAnonymize(ctx, after, now.Add(-minRetention), retentionPage)
		if err != nil {
			return err
		}
		err = bulkhead.Each(ctx, businesses, func(ctx context.Context, business uuid.UUID) error {
			return f.anonymizeBusiness(ctx, business, now)
		})
		first = cmp.Or(first, err)
		if len(businesses) < retentionPage || ctx.Err() != nil {
			return first
		}
		after = businesses[len(businesses)-1]
	}
}

// anonymizeBusiness anonymizes the customers of one business for whom the retention time is over. It skips
// a business that was removed, because [Eraser] deletes the data of that business later.
func (f *RetentionJob) anonymizeBusiness(ctx context.Context, business uuid.UUID, now time.Time) error {
	slug, err := Slug(ctx, f.catalog, business)
	if fault.Is(err, fault.BusinessNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("find a business with customers to anonymize: %w", err)
	}
	snapshot, err := f.offer(ctx, slug)
	if fault.Is(err, fault.BusinessNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the retention time of a business: %w", err)
	}
	if snapshot.ID != business {
		return nil // the business was removed, and another business now has its slug
	}
	n, err := f.records.AnonymizeEnded(ctx, business, now.AddDate(0, 0, -snapshot.Privacy.KeepCustomersDays))
	f.anonymized.Add(ctx, n)
	if n > 0 {
		f.telemetry.Logger.InfoContext(ctx, "customers are anonymized after their retention time", "business_id",
			business.String(), "rows", n)
	}
	return err
}
