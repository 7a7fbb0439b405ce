package eventlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
)

// Config holds the settings for a service that records events.
type Config struct {
	// KeepDays is the number of days for which events are stored. A
	// reader of the feed that falls further behind misses events.
	KeepDays int `env:"EVENTS_KEEP_DAYS, default=90"`
}

// maxKeepDays is ten years. No reader needs more.
const maxKeepDays = 3650

// Validate checks the values of the settings. The error names the environment variable.
func (c *Config) Validate() error {
	if c.KeepDays < 1 || c.KeepDays > maxKeepDays {
		return fmt.Errorf("EVENTS_KEEP_DAYS: write a number of days from 1 to %d", maxKeepDays)
	}
	return nil
}

// Show converts the stored data of subjects of one kind to the form of
// the admin API. The results are in the order of the argument `kept`.
type Show func(ctx context.Context, kept []json.RawMessage) ([]json.RawMessage, error)

// Log reads the events of a service, as a feed of all businesses or as the audit log of one business. It
// also removes old events. It is safe for concurrent use, and several replicas may use it on one database.
type Log struct {
	pool   *pgxpool.Pool
	show   map[event.SubjectKind]Show
	clock  clock.Clock
	tel    *telemetry.Telemetry
	keep   time.Duration
	lag    metric.Float64Histogram
	pruned metric.Int64Counter
}

// New returns the log of the events in the database of the pool. The argument
// `show` must have an entry for each kind of subject that the service owns.
func New(pool *pgxpool.Pool, show map[event.SubjectKind]Show, cfg Config, c clock.Clock,
	tel *telemetry.Telemetry) *Log {
	return &Log{
		pool: pool, show: show, clock: c, tel: tel, keep: time.Duration(cfg.KeepDays) * 24 * time.Hour,
		lag: tel.Seconds("slotmesh.events.lag",
			"Age of the oldest event of a page when a reader of the feed gets it."),
		pruned: tel.Counter("slotmesh.events.pruned", "Events removed because of their age."),
	}
}

// NewShow returns a [Show] for the subjects in one table. The argument `read` decodes the stored rows,
// in their order. The argument `show` converts one decoded row to the form of the admin API.
func NewShow[T, W any](read func(ctx context.Context, kept []json.RawMessage) ([]T, error), show func(T) W) Show {
	return func(ctx context.Context, kept []json.RawMessage) ([]json.RawMessage, error) {
		rows, err := read(ctx, kept)
		if err != nil {
			return nil, err
		}
		shown := make([]json.RawMessage, len(rows))
		for i, row := range rows {
			if shown[i], err = json.Marshal(show(row)); err != nil {
				return nil, err
			}
		}
		return shown, nil
	}
}

// QueryRows decodes rows of a table that events store as JSON. The results are in the order of the
// argument `kept`. The argument `columns` lists columns of the table, or expressions over kept_row,
// the stored row. A column that was added to the table after the event was recorded is null.
func QueryRows[T any](ctx context.Context, pool *pgxpool.Pool, table, columns string, kept []json.RawMessage,
	scan pgx.RowToFunc[T]) ([]T, error) {
	rows, err := pool.Query(ctx, `
		SELECT `+columns+`
		FROM unnest($1::jsonb[]) WITH ORDINALITY AS kept_rows (kept_row, place), jsonb_populate_record(NULL::`+table+`, kept_row) AS `+table+`
		ORDER BY place`, kept)
	if err != nil {
		return nil, fmt.Errorf("read rows of %s from events: %w", table, err)
	}
	read, err := pgx.CollectRows(rows, scan)
	if err == nil && len(read) != len(kept) {
		err = errors.New("some rows are missing")
	}
	if err != nil {
		return nil, fmt.Errorf("read rows of %s from events: %w", table, err)
	}
	return read, nil
}

// row is a stored event.
type row struct {
	event.Event
	position int64
}

const columns = `id, type, business_id, subject_kind, subject_id, at, actor_kind, actor_id, sequence, data, coalesce(position, 0)`

func scan(from pgx.CollectableRow) (row, error) {
	var (
		r  row
		by *uuid.UUID
	)
	err := from.Scan(&r.ID, &r.Type, &r.BusinessID, &r.Subject.Kind, &r.Subject.ID, &r.At, &r.Actor.Kind, &by,
		&r.Sequence, &r.Data, &r.position)
	r.At = r.At.UTC()
	if by != nil {
		r.Actor = actor.Actor{Kind: r.Actor.Kind, ID: *by}
	}
	return r, err
}

// render converts stored events to the form of the admin API. For
// each kind of subject, it calls the [Show] of the kind once.
func (l *Log) render(ctx context.Context, rows []row) ([]event.Event, error) {
	events := make([]event.Event, len(rows))
	places := map[event.SubjectKind][]int{}
	for i, r := range rows {
		events[i] = r.Event
		places[r.Subject.Kind] = append(places[r.Subject.Kind], i)
	}
	for kind, of := range places {
		show, ok := l.show[kind]
		if !ok {
			return nil, fmt.Errorf("an event of a %s, which this service does not own", kind)
		}
		kept := make([]json.RawMessage, len(of))
		for k, i := range of {
			kept[k] = events[i].Data
		}
		shown, err := show(ctx, kept)
		if err != nil {
			return nil, err
		}
		for k, i := range of {
			events[i].Data = addExtra(shown[k], kept[k])
		}
	}
	return events, nil
}
