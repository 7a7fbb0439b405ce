package usecase

import (
	"context"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/actor"
	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/periodic"
	"github.com/slotmesh/slotmesh/libs/telemetry"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

const (
	pastEvery = time.Hour
	pastPage  = 100 // businesses at a time
)

// PastRecords is what occupied time of the past is moved in.
type PastRecords interface {
	// HoldsPast names up to limit businesses after one, in the order of their ids, with something of what had ended by then to move.
	HoldsPast(ctx context.Context, after uuid.UUID, then time.Time, limit int) ([]uuid.UUID, error)
	// MovePast moves it, of one business, and returns of how many bookings it was.
	MovePast(ctx context.Context, business uuid.UUID, then time.Time) (int64, error)
}

// Past moves the occupied time of what ended [store.PastAfter] ago out of the constraint's way (lifecycle.md §6).
type Past struct {
	records PastRecords
	alone   func(context.Context, func(context.Context) error) error
	clock   clock.Clock
	tel     *telemetry.Telemetry
	moved   metric.Int64Counter
}

// NewPast returns the job. alone does work while no other replica does it.
func NewPast(records PastRecords, alone func(context.Context, func(context.Context) error) error, now clock.Clock, tel *telemetry.Telemetry) *Past {
	return &Past{
		records: records, alone: alone, clock: now, tel: tel,
		moved: tel.Counter("slotmesh.bookings.past", "Bookings whose occupied time was moved out of the constraint's way for its age."),
	}
}

// Run moves at once and then every hour, until ctx ends. What cannot be moved now is moved the next time: nothing waits for it.
func (p *Past) Run(ctx context.Context) error {
	return periodic.Job{Every: pastEvery, Failed: "occupied time of the past stays for now", Do: func(ctx context.Context) error {
		return p.alone(ctx, p.Once)
	}}.Run(ctx, p.tel.Logger)
}

// Once moves what is due.
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
		p.tel.Logger.InfoContext(ctx, "occupied time of what ended long ago is moved", "business_id", business.String(), "bookings", n)
	}
	return err
}
