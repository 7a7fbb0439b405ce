package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Feed is how far a feed was taken.
type Feed struct {
	Held     bool      // by the replica that asks
	Cursor   string    // after which the next events are
	CaughtUp time.Time // everything until then was taken
}

// Hold asks for a feed.
type Hold struct {
	Feed     string
	Replica  uuid.UUID
	For      time.Duration
	CaughtUp time.Time // what this replica has taken until, where it holds the feed and that is not written down; else zero
	Now      time.Time
}

const holdSQL = `
WITH held AS (
    INSERT INTO feeds AS f (name, reader, reader_until, caught_up_at) VALUES ($1, $2, clock_timestamp() + $3::interval, $5)
    ON CONFLICT (name) DO UPDATE SET reader = excluded.reader, reader_until = excluded.reader_until,
        caught_up_at = CASE WHEN f.reader = excluded.reader THEN coalesce($4, f.caught_up_at) ELSE f.caught_up_at END
    WHERE f.reader = excluded.reader OR f.reader_until < clock_timestamp()
    RETURNING f.cursor, f.caught_up_at)
SELECT true, cursor, caught_up_at FROM held
UNION ALL
SELECT false, cursor, caught_up_at FROM feeds WHERE name = $1 AND NOT EXISTS (SELECT FROM held)`

// HoldFeed takes a feed for a replica, or holds it on; it is held by one replica at a time, and free where that one has not called for
// longer than it asked. A feed that was never read counts as caught up until now.
func (s *Store) HoldFeed(ctx context.Context, h Hold) (Feed, error) {
	var (
		f        Feed
		caughtUp *time.Time
	)
	if !h.CaughtUp.IsZero() {
		caughtUp = &h.CaughtUp
	}
	err := s.pool.QueryRow(ctx, holdSQL, h.Feed, h.Replica, h.For, caughtUp, h.Now).Scan(&f.Held, &f.Cursor, &f.CaughtUp)
	switch {
	case errors.Is(err, pgx.ErrNoRows): // another replica has just made the row
		return Feed{CaughtUp: h.Now}, nil
	case err != nil:
		return Feed{}, fmt.Errorf("hold the feed of %s: %w", h.Feed, err)
	}
	return f, nil
}

// ResumeFeed makes the reader of a feed go on from the oldest event that the feed keeps. Its error names the feeds that
// there are.
func (s *Store) ResumeFeed(ctx context.Context, name string) error {
	tag, err := s.pool.Exec(ctx, `UPDATE feeds SET cursor = '' WHERE name = $1`, name)
	if err != nil {
		return fmt.Errorf("resume the feed of %s: %w", name, err)
	}
	if tag.RowsAffected() > 0 {
		return nil
	}
	rows, err := s.pool.Query(ctx, `SELECT name FROM feeds ORDER BY name`)
	if err != nil {
		return fmt.Errorf("resume the feed of %s: %w", name, err)
	}
	known, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("resume the feed of %s: %w", name, err)
	}
	return fmt.Errorf("there is no feed %q; the feeds are %s", name, strings.Join(known, ", "))
}

// ReleaseFeed frees a feed that the replica holds.
func (s *Store) ReleaseFeed(ctx context.Context, name string, replica uuid.UUID) error {
	_, err := s.pool.Exec(ctx, `UPDATE feeds SET reader = NULL, reader_until = '-infinity' WHERE name = $1 AND reader = $2`, name, replica)
	if err != nil {
		return fmt.Errorf("release the feed of %s: %w", name, err)
	}
	return nil
}

// Move is one page of a feed that was read.
type Move struct {
	Feed     string
	Replica  uuid.UUID
	From, To string    // cursors: that the page was asked with, and that after it
	CaughtUp time.Time // everything until then is taken with it
}

var errMoved = errors.New("moved by another replica")

// TakePage moves the cursor of a feed and does, in one transaction. It reports false, and nothing is written, where the replica no longer
// holds the feed or the cursor is no longer where the page began.
func (s *Store) TakePage(ctx context.Context, m Move, do func(context.Context, pgx.Tx) error) (bool, error) {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `UPDATE feeds SET cursor = $4, caught_up_at = $5 WHERE name = $1 AND reader = $2 AND cursor = $3`,
			m.Feed, m.Replica, m.From, m.To, m.CaughtUp)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return errMoved
		}
		return do(ctx, tx)
	})
	switch {
	case errors.Is(err, errMoved):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("take events of %s: %w", m.Feed, err)
	}
	return true, nil
}
