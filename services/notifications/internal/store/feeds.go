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

// FeedProgress is the progress of the reader of a feed.
type FeedProgress struct {
	IsLocked bool      // the calling replica holds the lock
	Cursor   string    // the next page begins after this cursor
	CaughtUp time.Time // all events until this time are processed
}

// FeedLock is a request to acquire or extend the lock of a feed.
type FeedLock struct {
	Feed     string
	Replica  uuid.UUID
	Duration time.Duration
	CaughtUp time.Time // new CaughtUp of the feed's row if the replica still holds the lock; zero: no change
	Now      time.Time
}

const acquireFeedSQL = `
WITH held AS (
    INSERT INTO feeds AS f (name, reader, reader_until, caught_up_at) VALUES ($1, $2, clock_timestamp() + $3::interval, $5)
    ON CONFLICT (name) DO UPDATE SET reader = excluded.reader, reader_until = excluded.reader_until,
        caught_up_at = CASE WHEN f.reader = excluded.reader THEN coalesce($4, f.caught_up_at) ELSE f.caught_up_at END
    WHERE f.reader = excluded.reader OR f.reader_until < clock_timestamp()
    RETURNING f.cursor, f.caught_up_at)
SELECT true, cursor, caught_up_at FROM held
UNION ALL
SELECT false, cursor, caught_up_at FROM feeds WHERE name = $1 AND NOT EXISTS (SELECT FROM held)`

// AcquireFeed acquires the lock of a feed for the replica h.Replica, or extends the lock. Only one replica at a time
// holds the lock. If the lock is not extended, it expires after h.Duration. For a new feed, AcquireFeed creates a row,
// which states that all events until h.Now are processed.
func (s *Store) AcquireFeed(ctx context.Context, h FeedLock) (FeedProgress, error) {
	var (
		f        FeedProgress
		caughtUp *time.Time
	)
	if !h.CaughtUp.IsZero() {
		caughtUp = &h.CaughtUp
	}
	err := s.pool.QueryRow(ctx, acquireFeedSQL, h.Feed, h.Replica, h.Duration, caughtUp, h.Now).Scan(&f.IsLocked,
		&f.Cursor,
		&f.CaughtUp)
	switch {
	case errors.Is(err, pgx.ErrNoRows): // another replica has just created the row
		return FeedProgress{CaughtUp: h.Now}, nil
	case err != nil:
		return FeedProgress{}, fmt.Errorf("lock the feed of %s: %w", h.Feed, err)
	}
	return f, nil
}

// ResumeFeed resets the cursor of a feed, so that the next page begins with the oldest event that the feed still has.
// If no feed has this name, the error lists the existing feeds.
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
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("resume the feed of %s: %w", name, err)
	}
	return fmt.Errorf("there is no feed %q; the feeds are %s", name, strings.Join(names, ", "))
}

// ReleaseFeed releases the lock of a feed if the given replica holds the lock.
func (s *Store) ReleaseFeed(ctx context.Context, name string, replica uuid.UUID) error {
	_, err := s.pool.Exec(ctx,
		`UPDATE feeds SET reader = NULL, reader_until = '-infinity' WHERE name = $1 AND reader = $2`, name, replica)
	if err != nil {
		return fmt.Errorf("release the feed of %s: %w", name, err)
	}
	return nil
}

// CursorChange is the change of a feed's cursor after one page of the feed is processed.
type CursorChange struct {
	Feed     string
	Replica  uuid.UUID
	From, To string    // the cursor with which the page was requested, and the cursor after the page
	CaughtUp time.Time // after the page, all events until this time are processed
}

var errCursorChanged = errors.New("the cursor was changed by another replica")

// TakePage changes the cursor of a feed and calls the argument `do`, in one transaction. TakePage writes nothing and
// returns false in two cases: the replica no longer holds the lock of the feed, or the cursor is no longer m.From.
func (s *Store) TakePage(ctx context.Context, m CursorChange, do func(context.Context, pgx.Tx) error) (bool, error) {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx,
			`UPDATE feeds SET cursor = $4, caught_up_at = $5 WHERE name = $1 AND reader = $2 AND cursor = $3`,
			m.Feed, m.Replica, m.From, m.To, m.CaughtUp)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return errCursorChanged
		}
		return do(ctx, tx)
	})
	switch {
	case errors.Is(err, errCursorChanged):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("take events of %s: %w", m.Feed, err)
	}
	return true, nil
}
