package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/link"
	"github.com/slotmesh/slotmesh/libs/postgres"
	"github.com/slotmesh/slotmesh/libs/request"
	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
)

// Feed is a calendar feed as it is kept: without its token.
type Feed struct {
	BusinessID uuid.UUID
	ID         uuid.UUID
	StaffID    *uuid.UUID // nil: the bookings of all
	Shows      string     // one of the booking.Shows… values
	CreatedAt  time.Time
	CreatedBy  *uuid.UUID // the person or token of the owner's side; nil: unknown
	LastUsedAt *time.Time // to the minute
	RevokedAt  *time.Time // nil: it is not revoked
}

const feedColumns = `business_id, id, staff_id, shows, created_at, created_by, last_used_at, revoked_at`

func scanFeed(row pgx.Row, more ...any) (Feed, error) {
	var f Feed
	err := row.Scan(append([]any{&f.BusinessID, &f.ID, &f.StaffID, &f.Shows, &f.CreatedAt, &f.CreatedBy, &f.LastUsedAt, &f.RevokedAt}, more...)...)
	f.CreatedAt, f.LastUsedAt, f.RevokedAt = f.CreatedAt.UTC(), utc(f.LastUsedAt), utc(f.RevokedAt)
	return f, err
}

// FeedMadeError says that another request with the same Idempotency-Key made a feed, whose token it alone had.
type FeedMadeError struct{ ID uuid.UUID }

func (e *FeedMadeError) Error() string { return "the feed was made as " + e.ID.String() }

// MaxFeeds is how many calendar feeds of a business can be good at once.
const MaxFeeds = 100

// ErrTooManyFeeds reports that a business has [MaxFeeds] already.
var ErrTooManyFeeds = errors.New("too many calendar feeds")

// CreateFeed stores a feed by the hash of its token, once. Errors: [*FeedMadeError], [ErrTooManyFeeds].
func (s *Store) CreateFeed(ctx context.Context, f Feed, hash []byte) error {
	made, err := postgres.Once(ctx, s.pool, f.BusinessID, func(ctx context.Context, tx pgx.Tx) (FeedMadeError, error) {
		n, err := countLive(ctx, tx, "calendar_feeds", f.BusinessID, `SELECT count(*) FROM calendar_feeds WHERE business_id = $1 AND revoked_at IS NULL`)
		if err == nil && n >= MaxFeeds {
			err = ErrTooManyFeeds
		}
		if err != nil {
			return FeedMadeError{}, err
		}
		_, err = tx.Exec(ctx, `
			INSERT INTO calendar_feeds (business_id, id, token_hash, staff_id, shows, created_at, created_by) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			f.BusinessID, f.ID, hash, f.StaffID, f.Shows, f.CreatedAt, f.CreatedBy)
		return FeedMadeError{ID: f.ID}, err
	})
	switch {
	case err != nil:
		return fmt.Errorf("store a calendar feed: %w", err)
	case made.ID != f.ID:
		return &made
	}
	return nil
}

// Feeds lists the feeds of a business, oldest first and revoked ones included, and the cursor of the page that follows, "" after the
// last. Faults: invalid_parameter for a cursor that it has not given.
func (s *Store) Feeds(ctx context.Context, businessID uuid.UUID, page request.Page) ([]Feed, string, error) {
	after, afterID, err := page.AfterTime()
	if err != nil {
		return nil, "", err
	}
	feeds, err := postgres.Rows(ctx, s.pool, func(row pgx.CollectableRow) (Feed, error) { return scanFeed(row) }, "list calendar feeds", `
		SELECT `+feedColumns+` FROM calendar_feeds
		WHERE business_id = $1 AND ($2::timestamptz IS NULL OR (created_at, id) > ($2, $3))
		ORDER BY created_at, id
		LIMIT $4`, businessID, after, afterID, page.Limit+1)
	if err != nil {
		return nil, "", err
	}
	feeds, next := request.Cut(feeds, page.Limit, func(f Feed) string { return request.ByTime(f.CreatedAt, f.ID) })
	return feeds, next, nil
}

// RevokeFeed ends a feed, once, or returns [ErrNotFound]. One that was revoked before keeps its time.
func (s *Store) RevokeFeed(ctx context.Context, businessID, id uuid.UUID, now time.Time) error {
	_, err := postgres.Once(ctx, s.pool, businessID, func(ctx context.Context, tx pgx.Tx) (struct{}, error) {
		tag, err := tx.Exec(ctx, `
			UPDATE calendar_feeds SET revoked_at = coalesce(revoked_at, $3) WHERE business_id = $1 AND id = $2`, businessID, id, now)
		if err == nil && tag.RowsAffected() == 0 {
			err = ErrNotFound
		}
		return struct{}{}, err
	})
	if err != nil {
		return fmt.Errorf("revoke a calendar feed: %w", err)
	}
	return nil
}

// FeedByToken returns the feed that is not revoked and whose token has this hash, or [ErrNotFound]. It is asked for every reading and
// never cached, so that revocation takes effect at once on every replica.
func (s *Store) FeedByToken(ctx context.Context, hash []byte) (Feed, error) {
	var kept []byte
	feed, err := scanFeed(s.pool.QueryRow(ctx, `
		SELECT `+feedColumns+`, token_hash FROM calendar_feeds WHERE token_hash = $1 AND revoked_at IS NULL`, hash), &kept)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return Feed{}, ErrNotFound
	case err != nil:
		return Feed{}, fmt.Errorf("look up a calendar feed: %w", err)
	case !link.Same(kept, hash):
		return Feed{}, ErrNotFound
	}
	return feed, nil
}

// TouchFeed notes that a feed was read, unless that was noted after since.
func (s *Store) TouchFeed(ctx context.Context, businessID, id uuid.UUID, now, since time.Time) error {
	_, err := s.pool.Exec(ctx, `
		UPDATE calendar_feeds SET last_used_at = $3
		WHERE business_id = $1 AND id = $2 AND (last_used_at IS NULL OR last_used_at <= $4)`, businessID, id, now, since)
	if err != nil {
		return fmt.Errorf("note the use of a calendar feed: %w", err)
	}
	return nil
}

// FeedEntry is a booking as a calendar needs it.
type FeedEntry struct {
	ID           uuid.UUID
	Status       state.State
	StartsAt     time.Time // of a booking that several members serve and a feed of one of them: that member's part, buffers included
	EndsAt       time.Time
	Services     []SoldService
	StaffName    *string
	SessionID    *uuid.UUID // of a class session, which starts when the booking does; nil for an appointment
	PartySize    int
	CustomerName string
	Sequence     int
	UpdatedAt    time.Time
}

// feedSQL reads by local start. Of more than fit, those that lie ahead come first, then the latest of the past. A member takes part
// where they are the booking's, or where some of its time is theirs. What ended [PastAfter] ago is left out also where it is of the first
// date: its time may lie in past_occupied_time.
const feedSQL = `
SELECT id, status, CASE WHEN part.members > 1 THEN part.starts_at ELSE b.starts_at END,
       CASE WHEN part.members > 1 THEN part.ends_at ELSE b.ends_at END,
       services, staff_name, class_schedule_id, party_size, customer_name, sequence, updated_at
FROM bookings b
LEFT JOIN LATERAL (
    SELECT count(DISTINCT resource_id) AS members,
           min(lower(during)) FILTER (WHERE resource_id = @staff_id) AS starts_at,
           max(upper(during)) FILTER (WHERE resource_id = @staff_id) AS ends_at
    FROM occupied_time o
    WHERE o.business_id = b.business_id AND o.booking_id = b.id
) part ON @staff_id::uuid IS NOT NULL
WHERE b.business_id = @business_id AND b.local_start >= @from::date AND b.local_start < @to::date AND b.status <> 'cancelled'
  AND b.ends_at > @past
  AND (@staff_id::uuid IS NULL OR part.starts_at IS NOT NULL OR b.staff_id = @staff_id AND part.members = 0)
ORDER BY b.ends_at <= @now, abs(extract(epoch FROM b.starts_at - @now)), id
LIMIT @most`

// FeedEntries returns what the feed of one member, or of all where staffID is nil, shows of the bookings that start on the dates from from
// to to, both included: at most so many, those ahead before those past, and of each the nearest first.
func (s *Store) FeedEntries(ctx context.Context, f Feed, from, to timespan.Date, now time.Time, most int) ([]FeedEntry, error) {
	return postgres.Rows(ctx, s.pool, pgx.RowToStructByPos[FeedEntry], "read a calendar", feedSQL, pgx.NamedArgs{
		"business_id": f.BusinessID, "staff_id": f.StaffID, "from": from.String(), "to": (to + 1).String(), "now": now, "most": most,
		"past": now.Add(-PastAfter),
	})
}
