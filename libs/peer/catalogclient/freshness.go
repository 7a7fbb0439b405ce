package catalogclient

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/telemetry"
)

// TrustFor is how long a version in memory is taken for the newest without asking.
const TrustFor = 2 * time.Second

// Freshness is what is known of whether a version in memory is the newest, and when to ask again.
type Freshness struct {
	mu      sync.Mutex
	checked time.Time // when it last was the newest
	due     time.Time // from when on it is asked again
}

// FreshSince returns the freshness of a version that was the newest at an instant.
func FreshSince(at time.Time) *Freshness {
	f := new(Freshness)
	f.Confirm(at)
	return f
}

// Due reports whether it must be asked at the instant now whether there is a newer version.
func (f *Freshness) Due(now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !now.Before(f.due)
}

// Confirm says that the version was the newest at an instant.
func (f *Freshness) Confirm(at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.checked, f.due = at, at.Add(TrustFor)
}

// Expire says that there may be a newer version: the next reader asks.
func (f *Freshness) Expire() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.due = time.Time{}
}

// Postpone says that nobody answered who asked at an instant: it is asked again after another [TrustFor], not by every reader.
func (f *Freshness) Postpone(asked time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.due = asked.Add(TrustFor)
}

// Age is how long ago, at the instant now, the version was last known to be the newest.
func (f *Freshness) Age(now time.Time) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return now.Sub(f.checked)
}

// Patient bounds how long a reader waits for news of a version that is in memory; 0 is no bound.
func Patient(ctx context.Context, patience time.Duration) (context.Context, context.CancelFunc) {
	if patience == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, patience)
}

// Ages returns the histogram of how old versions are, in seconds since they were last known to be the newest, with which
// readers are answered while nobody says whether there is a newer one.
func Ages(tel *telemetry.Telemetry) metric.Float64Histogram {
	ages, err := tel.Meter.Float64Histogram("slotmesh.offer.age", metric.WithUnit("s"),
		metric.WithDescription("Age of the last good version where it is served: since it was last known to be the newest."),
		metric.WithExplicitBucketBoundaries(1, 2, 5, 10, 30, 60, 300, 1800, 3600, 21600, 86400))
	if err != nil {
		panic(err) // only for a name that OpenTelemetry refuses
	}
	return ages
}
