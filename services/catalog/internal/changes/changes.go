// Package changes sends a Redis message with the slug of each business that has changed. All replicas that read
// snapshots receive the messages. If a message is lost, a reader notices the change when its cached copy reaches
// the maximum age (docs/decisions/004). A publish therefore succeeds even if its message cannot be sent.
package changes

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
)

// sendTimeout is the longest time that a publish waits until Redis accepts the message.
const sendTimeout = 500 * time.Millisecond

// Sender sends the messages about changed businesses.
type Sender struct {
	redis    redis.UniversalClient
	tel      *telemetry.Telemetry
	timeout  time.Duration
	failures metric.Int64Counter
}

// NewSender returns a sender for the Redis channel [catalog.ChangesChannel].
func NewSender(client redis.UniversalClient, tel *telemetry.Telemetry) *Sender {
	lost := tel.Counter("slotmesh.catalog.changes.unsent", "Changes that could not be announced by Redis.")
	lost.Add(context.Background(), 0) // creates the metric at the start, so that the first failure shows as an increase
	return &Sender{redis: client, tel: tel, timeout: sendTimeout, failures: lost}
}

// SetTimeout sets the longest time that [Sender.Announce] waits for Redis. Only tests call it.
func (s *Sender) SetTimeout(timeout time.Duration) { s.timeout = timeout }

// Announce sends the message that the business with this slug has changed.
// It ignores the cancellation of ctx, because the change is already stored.
func (s *Sender) Announce(ctx context.Context, slug string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
	defer cancel()
	if err := s.redis.Publish(ctx, catalog.ChangesChannel, slug).Err(); err != nil {
		s.failures.Add(ctx, 1)
		s.tel.Logger.WarnContext(ctx, "a change was not announced; readers notice it within two seconds", "slug", slug,
			"error", err)
	}
}
