package catalog

import (
	"context"
	"encoding/json"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/periodic"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/services/catalog/internal/store"
)

// eventViews returns, by kind of subject, the function that renders the subject of an event.
// Catalog has one kind, the business, which is rendered as in the list of businesses.
func eventViews() map[event.SubjectKind]eventlog.Show {
	read := func(_ context.Context, decode []json.RawMessage) ([]catalog.Business, error) {
		lines := make([]catalog.Business, len(decode))
		for i, text := range decode {
			if err := json.Unmarshal(text, &lines[i]); err != nil {
				return nil, err
			}
			lines[i].UpdatedAt = lines[i].UpdatedAt.UTC()
		}
		return lines, nil
	}
	return map[event.SubjectKind]eventlog.Show{
		event.Business: eventlog.NewShow(read, func(line catalog.Business) catalog.Business { return line }),
	}
}

// eraseEventsInterval is the interval at which events of removed businesses are erased.
const eraseEventsInterval = time.Hour

// eraseEvents erases the events of businesses whose removal was at least [catalog.KeptAfterRemoval] ago.
// eraseEvents runs until ctx ends. If the database fails, eraseEvents tries again after the interval.
func eraseEvents(ctx context.Context, businesses *store.Store, now clock.Clock, tel *telemetry.Telemetry) error {
	return periodic.Job{Every: eraseEventsInterval, Timeout: time.Minute,
		FailureMessage: "events of removed businesses stay for now", Do: func(ctx context.Context) error {
			_, err := businesses.EraseEvents(ctx, now.Now().Add(-catalog.KeptAfterRemoval))
			return err
		}}.Run(ctx, tel.Logger)
}
