// Package changes sends Redis messages that announce which business has changed. All replicas that
// read offers receive them. If a message is lost, readers notice the change by the age of their copy
// (docs/decisions/004). A publish therefore succeeds even if its message cannot be sent.
package changes

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
)

// sendTimeout is the longest time that a publish waits for Redis.
const sendTimeout = 500 * time.Millisecond

// Sender announces changes.
type Sender struct {
	redis  redis.UniversalClient
	tel    *telemetry.Telemetry
	within time.Duration
	lost   metric.Int64Counter
}

// NewSender returns a sender on the channel [catalog.ChangesChannel].
func NewSender(client redis.UniversalClient, tel *telemetry.Telemetry) *Sender {
	lost := tel.Counter("slotmesh.catalog.changes.unsent", "Changes that Redis did not take.")
	lost.Add(context.Background(), 0) // exists from the start, so that the first failure shows as an increase
	return &Sender{redis: client, tel: tel, within: sendTimeout, lost: lost}
}

// Wait sets the longest time that [Sender.Announce] waits for Redis.
func (s *Sender) Wait(within time.Duration) { s.within = within }

// Announce sends the message that the business with this slug has changed. It ignores the cancellation
// of ctx, because the change has already been made.
func (s *Sender) Announce(ctx context.Context, slug string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.within)
	defer cancel()
	if err := s.redis.Publish(ctx, catalog.ChangesChannel, slug).Err(); err != nil {
		s.lost.Add(ctx, 1)
		s.tel.Logger.WarnContext(ctx, "a change was not announced; readers notice it within two seconds", "slug", slug,
			"error", err)
	}
}
