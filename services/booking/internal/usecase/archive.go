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
	archiveInterval = time.Hour
	archivePage     = 100 // maximum number of businesses in one query
)

// ArchiveRecords is the part of the store that archives occupied time. [store.Store] implements it.
type ArchiveRecords interface {
	// BusinessesToArchive returns the ids of businesses that have occupied time to archive, at most
	// `limit` ids in ascending order. The ids are greater than the argument `after`.
	// Occupied time is archived if it ended at or before the time in the argument `endedBy`.
	BusinessesToArchive(ctx context.Context, after uuid.UUID, endedBy time.Time, limit int) ([]uuid.UUID, error)
	// ArchiveOccupied archives the occupied time of one business that ended at or before the
	// time in the argument `endedBy`. It returns the number of bookings with archived time.
	ArchiveOccupied(ctx context.Context, business uuid.UUID, endedBy time.Time) (int64, error)
}

// ArchiveJob is a job that archives the occupied time of a booking when the booking ended [store.ArchiveAge]
// ago. The job keeps the table with the exclusion constraint small (lifecycle.md §6).
type ArchiveJob struct {
	records  ArchiveRecords
	clock    clock.Clock
	tel      *telemetry.Telemetry
	archived metric.Int64Counter
}

// NewArchiveJob returns the job.
func NewArchiveJob(records ArchiveRecords, now clock.Clock, tel *telemetry.Telemetry) *ArchiveJob {
	return &ArchiveJob{
		records: records, clock: now, tel: tel,
		archived: tel.Counter("slotmesh.bookings.past",
			"Bookings whose occupied time was archived."),
	}
}

// Periodic returns the job that archives occupied time every hour. A delay does no harm, because no other operation
// depends on the job.
func (p *ArchiveJob) Periodic() periodic.Job {
	return periodic.Job{Every: archiveInterval, FailureMessage: "occupied time of the past stays for now", Do: p.RunOnce}
}

// RunOnce archives all occupied time that is old enough.
func (p *ArchiveJob) RunOnce(ctx context.Context) error {
	ctx = actor.AsSystem(ctx)
	cutoff := p.clock.Now().Add(-store.ArchiveAge)
	for after := uuid.Nil; ; {
		businesses, err := p.records.BusinessesToArchive(ctx, after, cutoff, archivePage)
		if err != nil {
			return err
		}
		for _, business := range businesses {
			if err := p.archiveBusiness(ctx, business, cutoff); err != nil {
				return err
			}
			after = business
		}
		if len(businesses) < archivePage {
			return nil
		}
	}
}

func (p *ArchiveJob) archiveBusiness(ctx context.Context, business uuid.UUID, cutoff time.Time) error {
	n, err := p.records.ArchiveOccupied(ctx, business, cutoff)
	p.archived.Add(ctx, n)
	if n > 0 {
		p.tel.Logger.InfoContext(ctx, "old occupied time is archived", "business_id", business.String(),
			"bookings", n)
	}
	return err
}
