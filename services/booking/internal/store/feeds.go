package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
)

// Feed is a stored calendar feed, without its token.
type Feed struct {
	BusinessID uuid.UUID
	ID         uuid.UUID
	StaffID    *uuid.UUID // nil: the feed shows the bookings of all staff members
	Shows      string     // one of the constants booking.Shows…
	CreatedAt  time.Time
	CreatedBy  *uuid.UUID // the person or token that made the feed; nil: unknown
	LastUsedAt *time.Time // the last use, stored at most once a minute; nil: never used
	RevokedAt  *time.Time // nil: the feed is not revoked
}

const feedColumns = `business_id, id, staff_id, shows, created_at, created_by, last_used_at, revoked_at`

func scanFeed(row pgx.Row, more ...any) (Feed, error) {
	var f Feed
	err := row.Scan(append([]any{&f.BusinessID, &f.ID, &f.StaffID, &f.Shows, &f.CreatedAt, &f.CreatedBy, &f.LastUsedAt,
		&f.RevokedAt}, more...)...)
	f.CreatedAt, f.LastUsedAt, f.RevokedAt = f.CreatedAt.UTC(), utc(f.LastUsedAt), utc(f.RevokedAt)
	return f, err
}

// FeedExistsError means that an earlier request with the same Idempotency-Key made the
// feed with this ID. Only the answer to that request contained the token of the feed.
type FeedExistsError struct{ ID uuid.UUID }

func (e *FeedExistsError) Error() string { return "the feed was made as " + e.ID.String() }

// MaxFeeds is the maximum number of calendar feeds of a business. Revoked feeds do not count.
const MaxFeeds = 100

// ErrTooManyFeeds means that the business already has [MaxFeeds] feeds.
var ErrTooManyFeeds = errors.New("too many calendar feeds")

// CreateFeed stores a feed with the hash of its token, at most once for
// each Idempotency-Key. Errors: [*FeedExistsError], [ErrTooManyFeeds].
func (s *Store) CreateFeed(ctx context.Context, f Feed, hash []byte) error {
	existing, err := postgres.WriteIdempotently(ctx, s.pool, f.BusinessID,
		func(ctx context.Context, tx pgx.Tx) (FeedExistsError, error) {
			n, err := countLive(ctx, tx, "calendar_feeds", f.BusinessID,
				`SELECT count(*) FROM calendar_feeds WHERE business_id = $1 AND revoked_at IS NULL`)
			if err == nil && n >= MaxFeeds {
				err = ErrTooManyFeeds
			}
			if err != nil {
				return FeedExistsError{}, err
			}
			_, err = tx.Exec(ctx, `
			INSERT INTO calendar_feeds (business_id, id, token_hash, staff_id, shows, created_at, created_by) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
				f.BusinessID, f.ID, hash, f.StaffID, f.Shows, f.CreatedAt, f.CreatedBy)
			return FeedExistsError{ID: f.ID}, err
		})
	switch {
	case err != nil:
		return fmt.Errorf("store a calendar feed: %w", err)
	case existing.ID != f.ID:
		return &existing
	}
	return nil
}

// Feeds returns a page of the feeds of a business, including revoked feeds, oldest first. It also returns
// the cursor of the next page, or "" after the last page. Fault: invalid_parameter for an invalid cursor.
func (s *Store) Feeds(ctx context.Context, businessID uuid.UUID, page request.Page) ([]Feed, string, error) {
	after, afterID, err := page.AfterTime()
	if err != nil {
		return nil, "", err
	}
	feeds, err := postgres.Rows(ctx, s.pool, func(row pgx.CollectableRow) (Feed, error) {
		return scanFeed(row)
	}, "list calendar feeds", `
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

// RevokeFeed revokes a feed, at most once for each Idempotency-Key. If the feed is already
// revoked, RevokeFeed keeps the time of the first revocation. Errors: [ErrNotFound].
func (s *Store) RevokeFeed(ctx context.Context, businessID, id uuid.UUID, now time.Time) error {
	_, err := postgres.WriteIdempotently(ctx, s.pool, businessID, func(ctx context.Context, tx pgx.Tx) (struct{},
		error) {
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

// FeedByToken returns the feed whose token has the given hash. Callers must not cache the result, so that a revocation
// takes effect immediately on every replica. Errors: [ErrNotFound] if the token is unknown or the feed is revoked.
func (s *Store) FeedByToken(ctx context.Context, hash []byte) (Feed, error) {
	var storedHash []byte
	feed, err := scanFeed(s.pool.QueryRow(ctx, `
		SELECT `+feedColumns+`, token_hash FROM calendar_feeds WHERE token_hash = $1 AND revoked_at IS NULL`, hash), &storedHash)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return Feed{}, ErrNotFound
	case err != nil:
		return Feed{}, fmt.Errorf("look up a calendar feed: %w", err)
	case !link.IsSame(storedHash, hash):
		return Feed{}, ErrNotFound
	}
	return feed, nil
}

// TouchFeed stores the argument `now` as the last use of the feed. It does nothing if the stored last use
// is later than the argument `since`. This limits the number of writes for a feed that is read often.
func (s *Store) TouchFeed(ctx context.Context, businessID, id uuid.UUID, now, since time.Time) error {
	_, err := s.pool.Exec(ctx, `
		UPDATE calendar_feeds SET last_used_at = $3
		WHERE business_id = $1 AND id = $2 AND (last_used_at IS NULL OR last_used_at <= $4)`, businessID, id, now, since)
	if err != nil {
		return fmt.Errorf("store the use of a calendar feed: %w", err)
	}
	return nil
}

// FeedEntry is a booking with the data that a calendar feed shows.
type FeedEntry struct {
	ID     uuid.UUID
	Status state.State
	// StartsAt and EndsAt are the time of the booking. There is one exception: the feed is for one staff member, and
	// the booking has several. StartsAt and EndsAt are then the time of this member's part, buffers included.
	StartsAt     time.Time
	EndsAt       time.Time
	Services     []SoldService
	StaffName    *string
	SessionID    *uuid.UUID // the id of the class session; nil for an appointment
	PartySize    int
	CustomerName string
	Sequence     int
	UpdatedAt    time.Time
	Location     *Location                // nil if the business has one place for all bookings
	Address      *booking.CustomerAddress // as in [Customer]
}

// feedSQL reads the bookings of a feed. If there are more bookings than the limit, future bookings have
// priority over past bookings. Within each group, bookings nearer to the current time have priority.
//
// A booking belongs to a staff member if it is assigned to the member or occupies time of the member.
// Bookings that ended longer than [ArchiveAge] ago are left out, because their occupied time may be archived.
const feedSQL = `
SELECT id, status, CASE WHEN part.members > 1 THEN part.starts_at ELSE b.starts_at END,
       CASE WHEN part.members > 1 THEN part.ends_at ELSE b.ends_at END,
       services, staff_name, class_schedule_id, party_size, customer_name, sequence, updated_at,
       location, customer_address
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

// FeedEntries returns the bookings of a feed. The arguments `from` and `to` are the first and the last date
// on which a returned booking may start. The result has at most `limit` bookings. Future bookings come before
// past bookings. Within each of these two groups, the bookings nearest to the current time come first.
func (s *Store) FeedEntries(ctx context.Context, f Feed, from, to timespan.Date, now time.Time,
	limit int) ([]FeedEntry, error) {
	return postgres.Rows(ctx, s.pool, pgx.RowToStructByPos[FeedEntry], "read a calendar", feedSQL, pgx.NamedArgs{
		"business_id": f.BusinessID, "staff_id": f.StaffID, "from": from.String(), "to": (to + 1).String(), "now": now,
		"most": limit,
		"past": now.Add(-ArchiveAge),
	})
}
