package messages

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/riverqueue/river"

	"github.com/slotmesh/slotmesh/libs/bulkhead"
)

// sweepJob deletes what is too old. It is of no business.
type sweepJob struct{}

func (sweepJob) Kind() string { return "sweep_messages" }

const sweepEvery = time.Hour

type sweeper struct {
	river.WorkerDefaults[sweepJob]
	m *Messages
}

// Work deletes messages that were written too long ago, and messages and deliveries of webhooks about what ended longer ago than the business
// remembers customers.
func (w *sweeper) Work(ctx context.Context, _ *river.Job[sweepJob]) error {
	now := w.m.Clock.Now()
	if _, err := w.m.Store.SweepMessages(ctx, now.Add(-w.m.KeptFor)); err != nil {
		return err
	}
	businesses, err := w.m.Store.BusinessesWithMessages(ctx)
	if err != nil {
		return err
	}
	return bulkhead.Each(ctx, businesses, func(ctx context.Context, id uuid.UUID) error {
		offer, err := w.m.Peers.Offer(ctx, id)
		if isGone(err) {
			return nil // all of it is erased with the business
		}
		if err != nil {
			return err
		}
		_, err = w.m.Store.ForgetEnded(ctx, id, now.AddDate(0, 0, -offer.Privacy.KeepCustomersDays))
		return err
	})
}
