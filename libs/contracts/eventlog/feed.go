package eventlog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

const (
	// pageBytes is the maximal size of the events' data on one page, in
	// bytes. A page has at least one event, even if the event is larger.
	pageBytes = 4 << 20
	// numberAtOnce is the maximal number of events that get their positions in one transaction.
	numberAtOnce = 2000
	// lookEvery is the interval between the queries of a request that waits for events.
	lookEvery = 250 * time.Millisecond
)

// byIndexSQL disables sequential scans in the transaction. Every transaction of this package starts with it.
//
// PostgreSQL may plan a prepared statement while the table is small. Without
// byIndexSQL, it would still scan the whole table when the table has a million events.
const byIndexSQL = `SELECT set_config('enable_seqscan', 'off', true)`

// lockFeedSQL and numberSQL assign positions in the feed to committed events, in one transaction.
// numberSQL starts after lockFeedSQL has acquired the lock, so it sees all positions that were
// assigned before. An event that is not committed yet gets its position in a later transaction.
//
// Positions increase in the order in which events become visible to readers, not in the order of the INSERTs.
const (
	lockFeedSQL = `SELECT FROM event_feed FOR UPDATE`

	numberSQL = `
WITH waiting AS (
    SELECT serial, row_number() OVER (ORDER BY serial) AS place
    FROM (SELECT serial FROM events WHERE position IS NULL ORDER BY serial LIMIT @most) AS oldest
), numbered AS (
    UPDATE events SET position = (SELECT position FROM event_feed) + waiting.place
    FROM waiting
    WHERE events.position IS NULL AND events.serial = waiting.serial
    RETURNING events.*
), passed AS (
    UPDATE event_feed SET position = numbered.last
    FROM (SELECT max(position) AS last FROM numbered) AS numbered
    WHERE numbered.last IS NOT NULL
)
SELECT type, business_id, subject_kind, subject_id, at, actor_kind, actor_id FROM numbered ORDER BY position`
)

// pageSQL reads a page of events. After it, stateSQL reads the state of the feed. The
// state therefore includes all removals of events that happened before the page was read.
const (
	pageSQL = `SELECT ` + columns + ` FROM events WHERE position > @after ORDER BY position LIMIT @limit`

	stateSQL = `
SELECT position, pruned, EXISTS (SELECT FROM events WHERE events.position IS NULL),
       coalesce((SELECT id <> @id FROM events WHERE events.position = @after AND @id::uuid IS NOT NULL), false)
FROM event_feed`
)

// cursor is a place in the feed: the position and the id of the last event that the reader has
// received. After a restore of the database from a backup, another event may have this position.
// The id shows whether the event is the same. If the id is nil, the event at the position is unknown.
type cursor struct {
	position int64
	id       uuid.UUID
}

func (c cursor) String() string {
	if c.id == uuid.Nil {
		return strconv.FormatInt(c.position, 10)
	}
	return strconv.FormatInt(c.position, 10) + "." + c.id.String()
}

func parseCursor(text string) (cursor, error) {
	number, id, named := strings.Cut(text, ".")
	var c cursor
	var err error
	if c.position, err = strconv.ParseInt(number, 10, 64); err != nil || c.position < 0 {
		return c, errNoCursor
	}
	if named {
		if c.id, err = uuid.Parse(id); err != nil {
			return c, errNoCursor
		}
	}
	return c, nil
}

var errNoCursor = request.Invalid("after: this is not a cursor; send next of the page before, or leave it out to " +
	"begin with the oldest event that is kept.")

// page is the result of reading the feed once.
type page struct {
	rows   []row
	last   int64 // highest position that was assigned
	pruned int64
	more   bool // some events have no position yet
	other  bool // another event has the position of the cursor
}

// Feed returns the events that follow a cursor, at most as many as the argument `limit`. The argument `after` is the
// cursor; "" stands for the place before the oldest stored event. If there is no event, Feed repeats its query until
// the duration `wait` has passed, ctx ends or the function `stop` returns true. It then returns an empty page.
//
// The order of the events is stable: no event is inserted later before an event that
// Feed has returned. The events of one subject are in the order of their sequence.
//
// Faults: invalid_parameter if `after` is not a cursor; cursor_expired if events after the cursor
// were removed because of their age, or if the database was restored to an earlier state.
func (l *Log) Feed(ctx context.Context, after string, limit int, wait time.Duration,
	stop func() bool) (event.Page, error) {
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		found, err := l.feed(ctx, after, limit)
		if err != nil || len(found.Events) > 0 {
			return found, err
		}
		select {
		case <-waiting.Done():
			return found, nil
		case <-time.After(lookEvery):
		}
		if stop() {
			return found, nil
		}
		after = found.Next
	}
}

// feed returns one page of events that follow the cursor. If committed events have no position yet,
// feed assigns positions to these events and reads the page again. Faults: the faults of [Log.Feed].
func (l *Log) feed(ctx context.Context, after string, limit int) (event.Page, error) {
	var from cursor
	if after != "" {
		var err error
		if from, err = parseCursor(after); err != nil {
			return event.Page{}, err
		}
	}
	found, err := l.readBatch(ctx, from, limit)
	if err == nil && found.more && len(found.rows) < limit {
		if err = l.number(ctx); err == nil {
			found, err = l.readBatch(ctx, from, limit)
		}
	}
	switch {
	case err != nil:
		return event.Page{}, err
	case after != "" && found.pruned > from.position:
		return event.Page{}, fault.New(fault.CursorExpired,
			"after: events after this cursor are no longer kept; leave it out to begin with the oldest that is.")
	case found.last < from.position || found.other:
		return event.Page{}, fault.New(fault.CursorExpired,
			"after: this feed did not give this cursor, as its database was restored to an earlier state; "+
				"leave it out to begin with the oldest event that is kept.")
	case after == "" && len(found.rows) == 0:
		from.position = found.pruned
	}
	return l.page(ctx, from, found.rows)
}

func (l *Log) readBatch(ctx context.Context, from cursor, limit int) (page, error) {
	var (
		batch pgx.Batch
		found page
		id    *uuid.UUID
	)
	if from.id != uuid.Nil {
		id = &from.id
	}
	args := pgx.NamedArgs{"after": from.position, "limit": limit, "id": id}
	batch.Queue(byIndexSQL)
	batch.Queue(pageSQL, args).Query(func(rows pgx.Rows) error {
		for size := 0; size < pageBytes && rows.Next(); {
			r, err := scan(rows)
			if err != nil {
				return err
			}
			size += len(r.Data)
			found.rows = append(found.rows, r)
		}
		rows.Close()
		return rows.Err()
	})
	batch.Queue(stateSQL, args).QueryRow(func(r pgx.Row) error {
		return r.Scan(&found.last, &found.pruned, &found.more, &found.other)
	})
	if err := l.pool.SendBatch(ctx, &batch).Close(); err != nil {
		return page{}, fmt.Errorf("read the feed of events: %w", err)
	}
	return found, nil
}

// LockFeed acquires the lock under which positions are assigned to events. The transaction holds
// the lock until it ends. A transaction that changes recorded events together with the rows of
// their subjects must call LockFeed before it acquires other locks, to avoid a deadlock.
func LockFeed(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, lockFeedSQL); err != nil {
		return fmt.Errorf("lock the feed: %w", err)
	}
	return nil
}

// number assigns positions to committed events and writes one log line for each of them. Because
// of the lock of the feed, only one replica assigns the position of an event and writes its log
// line. The log line is missing only if the connection or the process fails during the commit.
func (l *Log) number(ctx context.Context) error {
	var (
		batch pgx.Batch
		lines [][]slog.Attr
		types []string
	)
	batch.Queue(byIndexSQL)
	batch.Queue(lockFeedSQL)
	batch.Queue(numberSQL, pgx.NamedArgs{"most": numberAtOnce}).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			typ, line, err := lineOf(rows)
			if err != nil {
				return err
			}
			types, lines = append(types, typ), append(lines, line)
		}
		return rows.Err()
	})
	if err := l.pool.SendBatch(ctx, &batch).Close(); err != nil {
		return fmt.Errorf("number events: %w", err)
	}
	for i, line := range lines {
		// The trace in ctx belongs to a reader of the feed, not to the change, so the log line must not have it.
		l.tel.Logger.LogAttrs(context.Background(), slog.LevelInfo, types[i], line...)
	}
	return nil
}

// lineOf returns the log line of an event: its type, and attributes for the
// business, subject, time and actor. It contains only ids, no data of customers.
func lineOf(from pgx.Row) (string, []slog.Attr, error) {
	var (
		typ, kind, by     string
		business, subject uuid.UUID
		at                time.Time
		actorID           *uuid.UUID
	)
	if err := from.Scan(&typ, &business, &kind, &subject, &at, &by, &actorID); err != nil {
		return "", nil, err
	}
	line := []slog.Attr{slog.String("business_id", business.String())}
	if kind != string(event.Business) {
		line = append(line, slog.String(kind+"_id", subject.String()))
	}
	line = append(line, slog.Time("at", at.UTC()), slog.String("by", by))
	if actorID != nil {
		line = append(line, slog.String("by_id", actorID.String()))
	}
	return typ, line, nil
}

func (l *Log) page(ctx context.Context, from cursor, rows []row) (event.Page, error) {
	if len(rows) == 0 {
		return event.Page{Events: []event.Event{}, Next: from.String()}, nil
	}
	events, err := l.render(ctx, rows)
	if err != nil {
		return event.Page{}, errors.Join(errors.New("show events"), err)
	}
	l.lag.Record(ctx, max(0, l.clock.Now().Sub(events[0].At).Seconds()))
	last := rows[len(rows)-1]
	return event.Page{Events: events, Next: cursor{last.position, last.ID}.String()}, nil
}
