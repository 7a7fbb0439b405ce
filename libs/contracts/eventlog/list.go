package eventlog

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/request"
)

const listSQL = `
SELECT ` + columns + `
FROM events
WHERE business_id = @business_id
  AND (@subject::uuid IS NULL OR subject_id = @subject)
  AND (@kind = '' OR subject_kind = @kind)
  AND (@type = '' OR type = @type)
  AND (@from::timestamptz IS NULL OR at >= @from)
  AND (@to::timestamptz IS NULL OR at < @to)
  AND (@before::timestamptz IS NULL OR (at, id) < (@before, @before_id))
ORDER BY at DESC, id DESC
LIMIT @limit`

// List returns one page of the events of a business, newest first. Faults: invalid_parameter for an invalid cursor.
func (l *Log) List(ctx context.Context, businessID uuid.UUID, filter event.Filter,
	of request.Page) (event.List, error) {
	// These limits keep the time in a forged cursor within the range of PostgreSQL.
	first, end := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)
	before, err := of.After(first.UnixMicro(), end.UnixMicro()-1)
	if err != nil {
		return event.List{}, err
	}
	args := pgx.NamedArgs{
		"business_id": businessID, "kind": string(filter.Kind), "type": string(filter.Type), "limit": of.Limit + 1,
		"subject": nil, "from": nil, "to": nil, "before": nil, "before_id": nil,
	}
	if filter.Subject != uuid.Nil {
		args["subject"] = filter.Subject
	}
	if !filter.From.IsZero() {
		args["from"] = filter.From
	}
	if !filter.To.IsZero() {
		args["to"] = filter.To
	}
	if before != nil {
		args["before"], args["before_id"] = time.UnixMicro(before.At).UTC(), before.ID
	}
	found, err := l.pool.Query(ctx, listSQL, args)
	if err != nil {
		return event.List{}, fmt.Errorf("list events: %w", err)
	}
	rows, err := pgx.CollectRows(found, scan)
	if err != nil {
		return event.List{}, fmt.Errorf("list events: %w", err)
	}
	rows, next := request.Cut(rows, of.Limit, func(r row) string { return request.ByTime(r.At, r.ID) })
	events, err := l.render(ctx, rows)
	return event.List{Events: events, NextCursor: next}, err
}
