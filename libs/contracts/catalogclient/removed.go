package catalogclient

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/periodic"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
)

// Erase deletes all data of the given businesses from the store of a
// service. It returns the number of deleted rows. It is idempotent.
type Erase func(ctx context.Context, businesses []uuid.UUID) (int64, error)

// Eraser deletes the data of a removed business from a service as
// soon as [catalog.KeptAfterRemoval] has passed since the removal.
type Eraser struct {
	Catalog   *peer.Client
	Erase     Erase
	Clock     clock.Clock
	Telemetry *telemetry.Telemetry
}

const (
	eraseEvery = time.Hour
	doAgain    = time.Second // delay of the retry after an error; doubled after each further error
	erasePage  = 100         // number of businesses per page
	// eraseAgain is the time between a deletion and the next check. A request or job that
	// started before the deletion ends within this time. Until then, it may still write rows.
	eraseAgain = 20 * time.Second
)

// Run deletes the data of removed businesses immediately and then every hour, until ctx
// ends. After an error, Run retries with backoff. After a deletion of rows, Run checks
// again soon, because a job that ran at the same time may have written new rows.
func (e *Eraser) Run(ctx context.Context) error {
	return periodic.Job{Every: eraseEvery, RetryAfter: doAgain,
		FailureMessage: "what is kept of removed businesses stays for now",
		Do: func(ctx context.Context) error {
			for {
				rows, err := e.RunOnce(ctx)
				if err != nil || rows == 0 {
					return err
				}
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(eraseAgain):
				}
			}
		}}.Run(ctx, e.Telemetry.Logger)
}

// RunOnce deletes all data of the businesses whose removal is at least
// [catalog.KeptAfterRemoval] ago. It returns the number of deleted rows.
func (e *Eraser) RunOnce(ctx context.Context) (int64, error) {
	ctx = actor.AsSystem(ctx)
	wanted := RemovedRequest{Page: request.Page{Limit: erasePage},
		Before: e.Clock.Now().Add(-catalog.KeptAfterRemoval).UTC().Format(time.RFC3339)}
	for erased := int64(0); ; {
		page, err := ListRemoved.Call(ctx, e.Catalog, wanted)
		if err != nil {
			return erased, fmt.Errorf("list removed businesses: %w", err)
		}
		rows, err := e.Erase(ctx, page.IDs)
		erased += rows
		if rows > 0 {
			e.Telemetry.Logger.InfoContext(ctx, "the data of removed businesses are erased", "rows", rows)
		}
		if err != nil {
			return erased, fmt.Errorf("erase removed businesses: %w", err)
		}
		if page.NextCursor == "" {
			return erased, nil
		}
		wanted.Cursor = page.NextCursor
	}
}
