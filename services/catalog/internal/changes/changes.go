// Package changes tells every reader of offers, on all replicas, which business has just changed: a Redis message with
// its slug. A message may be lost; readers then notice the change by age (docs/decisions/004), so sending never fails a publish.
package changes

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/telemetry"
)

// sendTimeout is how long a publish waits for Redis at most.
const sendTimeout = 500 * time.Millisecond

// Sender sends changes.
type Sender struct {
	redis  redis.UniversalClient
	tel    *telemetry.Telemetry
	within time.Duration
	lost   metric.Int64Counter
}

// NewSender returns a sender on the channel [catalog.ChangesChannel].
func NewSender(client redis.UniversalClient, tel *telemetry.Telemetry) *Sender {
	lost := tel.Counter("slotmesh.catalog.changes.unsent", "Changes that Redis did not take.")
	lost.Add(context.Background(), 0) // there from the start, so that the first one is seen as an increase
	return &Sender{redis: client, tel: tel, within: sendTimeout, lost: lost}
}

// Wait sets how long Redis is waited for.
func (s *Sender) Wait(within time.Duration) { s.within = within }

// Announce sends that the business with the slug has changed. It is sent also when the caller is gone meanwhile: the
// change itself is done.
func (s *Sender) Announce(ctx context.Context, slug string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.within)
	defer cancel()
	if err := s.redis.Publish(ctx, catalog.ChangesChannel, slug).Err(); err != nil {
		s.lost.Add(ctx, 1)
		s.tel.Logger.WarnContext(ctx, "a change was not announced; readers notice it within two seconds", "slug", slug, "error", err)
	}
}
