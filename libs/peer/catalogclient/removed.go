package catalogclient

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/actor"
	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/peer"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/telemetry"
)

// Erase erases all that its owner keeps of these businesses, and returns how many rows that were. It may be called again for
// businesses of which nothing is left.
type Erase func(ctx context.Context, businesses []uuid.UUID) (int64, error)

// Eraser erases what a service keeps of businesses that were removed [KeptAfterRemoval] ago.
type Eraser struct {
	Catalog   *peer.Client
	Erase     Erase
	Clock     clock.Clock
	Telemetry *telemetry.Telemetry
}

const (
	eraseEvery = time.Hour
	doAgain    = time.Second // after it could not be done; twice as long each further time
	erasePage  = 100         // businesses at a time
	// eraseAgain is the wait after rows were erased. It is longer than a request or a job that began before the erasing takes.
	eraseAgain = 20 * time.Second
)

// Run erases at once and then every hour, until ctx ends. What cannot be erased now is tried again soon. After something was erased, it looks
// again soon, for what a job that ran at the time has written since.
func (e *Eraser) Run(ctx context.Context) error {
	return keep(ctx, eraseEvery, e.Telemetry, "what is kept of removed businesses stays for now", func(ctx context.Context) error {
		for {
			rows, err := e.Once(ctx)
			if err != nil || rows == 0 {
				return err
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(eraseAgain):
			}
		}
	})
}

// keep does something at once and then every so often, until ctx ends. Where it fails, that is logged and it is tried again soon.
func keep(ctx context.Context, every time.Duration, tel *telemetry.Telemetry, failure string, once func(context.Context) error) error {
	again := doAgain
	for {
		wait := every
		if err := once(ctx); err == nil {
			again = doAgain
		} else if ctx.Err() == nil {
			tel.Logger.WarnContext(ctx, failure, "error", err)
			wait, again = again, min(2*again, every)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// Once erases what is due, and returns how many rows that were.
func (e *Eraser) Once(ctx context.Context) (int64, error) {
	ctx = actor.AsSystem(ctx)
	query := url.Values{
		"before": {e.Clock.Now().Add(-catalog.KeptAfterRemoval).UTC().Format(time.RFC3339)},
		"limit":  {fmt.Sprint(erasePage)},
	}
	for erased := int64(0); ; {
		var page catalog.RemovedList
		if err := e.Catalog.Call(ctx, http.MethodGet, "/internal/removed?"+query.Encode(), nil, &page); err != nil {
			return erased, fmt.Errorf("list removed businesses: %w", err)
		}
		rows, err := e.Erase(ctx, page.IDs)
		erased += rows
		if rows > 0 {
			e.Telemetry.Logger.InfoContext(ctx, "what was kept of removed businesses is erased", "rows", rows)
		}
		if err != nil {
			return erased, fmt.Errorf("erase removed businesses: %w", err)
		}
		if page.NextCursor == "" {
			return erased, nil
		}
		query.Set("cursor", page.NextCursor)
	}
}
