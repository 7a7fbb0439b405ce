package usecase

import (
	"context"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/periodic"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

const (
	pastEvery = time.Hour
	pastPage  = 100 // maximum number of businesses in one query
)

// PastRecords is the part of the store that archives occupied time. [store.Store] implements it.
type PastRecords interface {
	// HoldsPast returns the ids of businesses that have occupied time to archive, at most
	// `limit` ids in ascending order. The ids are greater than the argument `after`.
	// Occupied time is archived if it ended at or before the time in the argument `then`.
	HoldsPast(ctx context.Context, after uuid.UUID, then time.Time, limit int) ([]uuid.UUID, error)
	// MovePast archives the occupied time of one business that ended at or before the
	// time in the argument `then`. It returns the number of bookings with archived time.
	MovePast(ctx context.Context, business uuid.UUID, then time.Time) (int64, error)
}

// Past is a job that archives the occupied time of a booking when the booking ended [store.PastAfter]
// ago. The job keeps the table with the exclusion constraint small (lifecycle.md §6).
type Past struct {
	records PastRecords
	alone   func(context.Context, func(context.Context) error) error
	clock   clock.Clock
	tel     *telemetry.Telemetry
	moved   metric.Int64Counter
}

// NewPast returns the job. The argument `alone` is a function that
// runs another function, unless another replica is running the job.
func NewPast(records PastRecords, alone func(context.Context, func(context.Context) error) error, now clock.Clock,
	tel *telemetry.Telemetry) *Past {
	return &Past{
		records: records, alone: alone, clock: now, tel: tel,
		moved: tel.Counter("slotmesh.bookings.past",
			"Bookings whose occupied time was moved out of the constraint's way for its age."),
	}
}

// Run archives occupied time immediately and then every hour, until ctx ends. After an error, Run
// tries again in the next hour. A delay does no harm, because no other operation depends on the job.
func (p *Past) Run(ctx context.Context) error {
	return periodic.Job{Every: pastEvery, FailureMessage: "occupied time of the past stays for now",
		Do: func(ctx context.Context) error {
			return p.alone(ctx, p.Once)
		}}.Run(ctx, p.tel.Logger)
}

// Once archives all occupied time that is old enough.
func (p *Past) Once(ctx context.Context) error {
	ctx = actor.AsSystem(ctx)
	then := p.clock.Now().Add(-store.PastAfter)
	for after := uuid.Nil; ; {
		businesses, err := p.records.HoldsPast(ctx, after, then, pastPage)
		if err != nil {
			return err
		}
		for _, business := range businesses {
			if err := p.of(ctx, business, then); err != nil {
				return err
			}
			after = business
		}
		if len(businesses) < pastPage {
			return nil
		}
	}
}

func (p *Past) of(ctx context.Context, business uuid.UUID, then time.Time) error {
	n, err := p.records.MovePast(ctx, business, then)
	p.moved.Add(ctx, n)
	if n > 0 {
		p.tel.Logger.InfoContext(ctx, "occupied time of what ended long ago is moved", "business_id", business.String(),
			"bookings", n)
	}
	return err
}
