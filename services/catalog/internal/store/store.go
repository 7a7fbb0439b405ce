// Package store keeps the versions of every business in PostgreSQL.
//
// Each change of a business first locks the row of the business. Changes of one business
// therefore run one after another. Readers take no lock. Rows of versions never change.
//
// Errors: [ErrNotFound], [NoVersionError], [NotNewestError], [IDChangedError], [ErrIDTaken], [AccountError],
// [ErrPictureRemoved], and the faults of [postgres.WriteIdempotently]. Any other error comes from the database.
package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

// Formats of a published manifest.
const (
	YAML = "yaml"
	JSON = "json"
)

// ErrNotFound reports that no published business has the slug or the id.
var ErrNotFound = errors.New("business not found")

// NoVersionError reports that the business has no version with this number.
type NoVersionError int64

// Error renders the error for logs.
func (e NoVersionError) Error() string { return fmt.Sprintf("no version %d", int64(e)) }

// NotNewestError reports that the version Known, which the caller sent as ifMatch, is not the
// newest. Newest is the number of the newest version, or nil if the business is not published.
type NotNewestError struct {
	Known  int64
	Newest *int64
}

// Error renders the error for logs.
func (e NotNewestError) Error() string { return fmt.Sprintf("version %d is not the newest", e.Known) }

// ErrIDTaken reports that the id belongs or belonged to another
// business. That business has another slug, or it was removed.
var ErrIDTaken = errors.New("the id belongs to another business")

// IDChangedError reports that the business of the slug is
// published with the id `Known`, which differs from the given id.
type IDChangedError struct{ Known uuid.UUID }

// Error renders the error for logs.
func (e IDChangedError) Error() string { return "the business has the id " + e.Known.String() }

// Content is the content of one version.
type Content struct {
	BusinessID uuid.UUID
	Name       string
	Format     string // format of Source: [YAML] or [JSON]
	Source     []byte // the text that the owner sent
	Canonical  []byte // Source as canonical JSON
	Sanitizer  int    // number of the sanitizer's release that produced Sanitized
	Sanitized  []byte // Canonical with sanitized descriptions; nil if sanitizing changes nothing
	Pictures   []byte // JSON object of the shown pictures by id, each a catalog.Picture; nil if there are none
}

// Published identifies the version that a publish or a rollback has just made the newest.
type Published struct {
	BusinessID uuid.UUID
	Version    int64
	IsNew      bool // true if no published business had the slug before
}

// Business is one business in the list of businesses.
type Business struct {
	ID        uuid.UUID
	Slug      string
	Name      string
	Version   int64
	UpdatedAt time.Time
}

// Version is one version in the list of a business's versions.
type Version struct {
	Version     int64
	PublishedAt time.Time
}

// Store reads and writes businesses.
type Store struct{ pool *pgxpool.Pool }

// New returns a store on a pool whose search path contains catalog's schema.
func New(pool *pgxpool.Pool) *Store { return &Store{pool: pool} }

// Ready returns nil if the tables can be read.
func (s *Store) Ready(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, `SELECT FROM businesses LIMIT 0`)
	return err
}

// Publish makes c the newest version of slug, published at the instant `now`. If `ifMatch` is not nil, Publish
// requires that `ifMatch` is the number of the newest version; 0 means that slug has no business. Publish also checks
// the payment accounts ([checkAccounts], with the argument `binds`). Concurrent calls get different version numbers.
//
// Like all changes, Publish runs at most once per Idempotency-Key ([postgres.WriteIdempotently]).
func (s *Store) Publish(ctx context.Context, slug string, c Content, ifMatch *int64, binds bool,
	now time.Time) (Published, error) {
	published, err := postgres.WriteIdempotently(ctx, s.pool, idempotencyScope(slug),
		func(ctx context.Context, tx pgx.Tx) (Published,
			error) {
			known, err := insertOrLock(ctx, tx, slug, c.BusinessID)
			if err != nil {
				return Published{}, err
			}
			if err := checkMatch(known, ifMatch); err != nil {
				return Published{}, err
			}
			if known.id != c.BusinessID {
				return Published{}, IDChangedError{Known: known.id}
			}
			published := Published{BusinessID: c.BusinessID, Version: known.lastVersion + 1, IsNew: known.head == nil}
			if err := writeVersion(ctx, tx, published, c, now); err != nil {
				return Published{}, err
			}
			if err := lockPictures(ctx, tx, published.BusinessID, published.Version); err != nil {
				return Published{}, err
			}
			return published, checkAccounts(ctx, tx, published.BusinessID, published.Version, binds, now)
		})
	if err != nil {
		return Published{}, fmt.Errorf("publish: %w", err)
	}
	return published, nil
}

// idempotencyScope returns the id under which the store keeps the idempotency results of changes to slug. The id is
// derived from the slug, because a slug has no business id before its first publish and after its removal.
func idempotencyScope(slug string) uuid.UUID { return postgres.WriteID("slug", slug) }

// FindIdempotencyResult returns the stored result of an earlier change of slug. The earlier
// change had the same Idempotency-Key as this request ([postgres.FindIdempotencyResult]).
func (s *Store) FindIdempotencyResult(ctx context.Context, slug string) ([]byte, error) {
	return postgres.FindIdempotencyResult(ctx, s.pool, idempotencyScope(slug))
}

// row holds the columns of a business's row, read while the row is locked.
type row struct {
	id          uuid.UUID
	lastVersion int64
	head        *int64
}

// insertOrLock locks the row of the business with this slug, which may have another id. If there is no such row,
// insertOrLock creates one without a version; other transactions see the new row only after the publish. Error:
// [ErrIDTaken] if another business has the id.
func insertOrLock(ctx context.Context, tx pgx.Tx, slug string, id uuid.UUID) (row, error) {
	// ON CONFLICT names no column, because the row may conflict by slug or by id; the code
	// below distinguishes the two cases. If two transactions publish a slug for the first time,
	// the second one waits at this statement. Version numbers continue after those of a removed
	// business with the same slug. Caches and If-Match therefore never confuse two versions.
	const insert = `INSERT INTO businesses (id, slug, last_version)
		SELECT $1, $2, coalesce(max(last_version), 0) FROM businesses WHERE removed_slug = $2
		ON CONFLICT DO NOTHING`
	if _, err := tx.Exec(ctx, insert, id, slug); err != nil {
		return row{}, err
	}
	known, err := lock(ctx, tx, slug)
	if errors.Is(err, pgx.ErrNoRows) {
		return row{}, ErrIDTaken
	}
	return known, err
}

func lock(ctx context.Context, tx pgx.Tx, slug string) (row, error) {
	var r row
	err := tx.QueryRow(ctx, `SELECT id, last_version, head FROM businesses WHERE slug = $1 FOR UPDATE`, slug).
		Scan(&r.id, &r.lastVersion, &r.head)
	return r, err
}

func checkMatch(known row, ifMatch *int64) error {
	newest := int64(0)
	if known.head != nil {
		newest = *known.head
	}
	if ifMatch != nil && newest != *ifMatch {
		return NotNewestError{Known: *ifMatch, Newest: known.head}
	}
	return nil
}

func writeVersion(ctx context.Context, tx pgx.Tx, p Published, c Content, now time.Time) error {
	var batch pgx.Batch
	batch.Queue(`INSERT INTO versions (business_id, version, name, format, source, canonical, sanitizer, sanitized, pictures, published_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		p.BusinessID, p.Version, c.Name, c.Format, c.Source, c.Canonical, c.Sanitizer, c.Sanitized, c.Pictures, now)
	batch.Queue(advanceSQL, advance(ctx, p, now))
	return tx.SendBatch(ctx, &batch).Close()
}

// advanceSQL makes the version that the transaction has just written the newest one. removeSQL
// marks a business as removed. It runs before the versions are deleted. Both advanceSQL and
// removeSQL record an event, which contains the business as in the list of businesses.
var (
	advanceSQL = `
WITH advanced AS (
    UPDATE businesses SET last_version = @version, head = @version, sequence = sequence + 1
    WHERE businesses.id = @id
    RETURNING id AS business_id, id, sequence, slug, last_version AS version
)
` + eventlog.Record(event.Business, event.BusinessPublished, "advanced", firstLine("advanced"))

	removeSQL = `
WITH removed AS (
    UPDATE businesses SET head = NULL, slug = NULL, removed_slug = slug, removed_at = @now, sequence = sequence + 1
    WHERE businesses.id = @id
    RETURNING id AS business_id, id, sequence, removed_slug AS slug, last_version AS version
)
` + eventlog.Record(event.Business, event.BusinessRemoved, "removed", firstLine("removed"))
)

func firstLine(of string) string {
	return `jsonb_build_object('id', id, 'slug', slug, 'version', version, 'updated_at', @event_at::timestamptz, 'name',
        (SELECT name FROM versions v WHERE v.business_id = ` + of + `.id AND v.version = ` + of + `.version))`
}

func advance(ctx context.Context, p Published, now time.Time) pgx.NamedArgs {
	return eventlog.Add(ctx, pgx.NamedArgs{"id": p.BusinessID, "version": p.Version}, now)
}

// Rollback publishes the content of an old version again, as the newest version of slug, at the
// instant `now`. The arguments `ifMatch` and `binds` have the same meaning as in [Store.Publish].
func (s *Store) Rollback(ctx context.Context, slug string, version int64, ifMatch *int64, binds bool,
	now time.Time) (Published, error) {
	published, err := postgres.WriteIdempotently(ctx, s.pool, idempotencyScope(slug),
		func(ctx context.Context, tx pgx.Tx) (Published,
			error) {
			known, err := lockPublished(ctx, tx, slug)
			if err != nil {
				return Published{}, err
			}
			if err := checkMatch(known, ifMatch); err != nil {
				return Published{}, err
			}
			published := Published{BusinessID: known.id, Version: known.lastVersion + 1}
			tag, err := tx.Exec(ctx, `INSERT INTO versions (business_id, version, name, format, source, canonical, sanitizer, sanitized, pictures, published_at)
			SELECT business_id, $3, name, format, source, canonical, sanitizer, sanitized, pictures, $4 FROM versions WHERE business_id = $1 AND version = $2`,
				known.id, version, published.Version, now)
			if err != nil {
				return Published{}, err
			}
			if tag.RowsAffected() == 0 {
				return Published{}, NoVersionError(version)
			}
			if _, err := tx.Exec(ctx, advanceSQL, advance(ctx, published, now)); err != nil {
				return Published{}, err
			}
			if err := lockPictures(ctx, tx, published.BusinessID, published.Version); err != nil {
				return Published{}, err
			}
			return published, checkAccounts(ctx, tx, published.BusinessID, published.Version, binds, now)
		})
	if err != nil {
		return Published{}, fmt.Errorf("roll back: %w", err)
	}
	return published, nil
}

// Removed identifies a business that [Store.Remove] has removed, and the number of its last version.
type Removed struct {
	BusinessID  uuid.UUID
	LastVersion int64
}

// Remove marks a business as removed at the instant `now` and deletes all its versions and pictures. The slug can be
// used again, but the id cannot. If `id` is not the nil UUID, Remove removes the business only if it has this
// id. A repeated request therefore never removes a later business with the same slug. Error: [ErrNotFound].
func (s *Store) Remove(ctx context.Context, slug string, id uuid.UUID, now time.Time) (Removed, error) {
	removed, err := postgres.WriteIdempotently(ctx, s.pool, idempotencyScope(slug),
		func(ctx context.Context, tx pgx.Tx) (Removed, error) {
			known, err := lockPublished(ctx, tx, slug)
			if err != nil {
				return Removed{}, err
			}
			if id != uuid.Nil && id != known.id {
				return Removed{}, ErrNotFound
			}
			if _, err := tx.Exec(ctx, removeSQL, eventlog.Add(ctx, pgx.NamedArgs{"id": known.id, "now": now},
				now)); err != nil {
				return Removed{}, err
			}
			if _, err := tx.Exec(ctx, `DELETE FROM media WHERE business_id = $1`, known.id); err != nil {
				return Removed{}, err
			}
			_, err = tx.Exec(ctx, `DELETE FROM versions WHERE business_id = $1`, known.id)
			return Removed{BusinessID: known.id, LastVersion: known.lastVersion}, err
		})
	if err != nil {
		return Removed{}, fmt.Errorf("remove: %w", err)
	}
	return removed, nil
}

// lockPublished locks the row of a published business and returns it. Error: [ErrNotFound].
func lockPublished(ctx context.Context, tx pgx.Tx, slug string) (row, error) {
	known, err := lock(ctx, tx, slug)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && known.head == nil {
		return row{}, ErrNotFound
	}
	return known, err
}
