// Package store keeps the versions of every business in PostgreSQL.
//
// All changes of one business take its row's lock first and so happen one after another; readers take no lock. Rows
// of versions are written once and never changed.
//
// Errors: [ErrNotFound], [NoVersionError], [NotNewestError], [IDChangedError], [ErrIDTaken], and the faults of [postgres.Once]; any
// other error is the database's.
package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/event"
	"github.com/slotmesh/slotmesh/libs/eventlog"
	"github.com/slotmesh/slotmesh/libs/postgres"
)

// Formats of a published text.
const (
	YAML = "yaml"
	JSON = "json"
)

// ErrNotFound says that the slug, or the id, names no business.
var ErrNotFound = errors.New("business not found")

// NoVersionError says that the business has no such version.
type NoVersionError int64

// Error renders the error for logs.
func (e NoVersionError) Error() string { return fmt.Sprintf("no version %d", int64(e)) }

// NotNewestError says that a version that was to be the newest is not. Newest is nil where the business is not published.
type NotNewestError struct {
	Known  int64
	Newest *int64
}

// Error renders the error for logs.
func (e NotNewestError) Error() string { return fmt.Sprintf("version %d is not the newest", e.Known) }

// ErrIDTaken says that the id is or was another business's: one with another slug, or one that is removed.
var ErrIDTaken = errors.New("the id belongs to another business")

// IDChangedError says that the slug is published with another id.
type IDChangedError struct{ Known uuid.UUID }

// Error renders the error for logs.
func (e IDChangedError) Error() string { return "the business has the id " + e.Known.String() }

// Content is what one version says.
type Content struct {
	BusinessID uuid.UUID
	Name       string
	Format     string // [YAML] or [JSON]: what Source is written in
	Source     []byte // as the owner sent it
	Canonical  []byte // the same as canonical JSON
	Sanitizer  int    // the release of the sanitizer that made Sanitized
	Sanitized  []byte // the canonical JSON with sanitized descriptions; nil where that is no other
}

// Published names a version that was just made the newest.
type Published struct {
	BusinessID uuid.UUID
	Version    int64
	Created    bool // the slug named no business before
}

// Business is a line of the list of businesses.
type Business struct {
	ID        uuid.UUID
	Slug      string
	Name      string
	Version   int64
	UpdatedAt time.Time
}

// Version is a line of a business's history.
type Version struct {
	Version     int64
	PublishedAt time.Time
}

// Store reads and writes businesses.
type Store struct{ pool *pgxpool.Pool }

// New returns a store on a pool whose search path leads to catalog's schema.
func New(pool *pgxpool.Pool) *Store { return &Store{pool: pool} }

// Ready reports whether the tables can be read.
func (s *Store) Ready(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, `SELECT FROM businesses LIMIT 0`)
	return err
}

// Publish makes c the newest version of slug at the instant now. With ifMatch it does so only if that is the newest
// version until then; 0 is where there is none. Its payment accounts are checked as [checkAccounts] says. Concurrent calls each get a version of their own. It is done once (postgres.Once), as all changes are.
func (s *Store) Publish(ctx context.Context, slug string, c Content, ifMatch *int64, binds bool, now time.Time) (Published, error) {
	published, err := postgres.Once(ctx, s.pool, writesOf(slug), func(ctx context.Context, tx pgx.Tx) (Published, error) {
		known, err := claim(ctx, tx, slug, c.BusinessID)
		if err != nil {
			return Published{}, err
		}
		if err := checkMatch(known, ifMatch); err != nil {
			return Published{}, err
		}
		published := Published{BusinessID: c.BusinessID, Version: known.lastVersion + 1, Created: known.head == nil}
		if err := write(ctx, tx, published, c, now); err != nil {
			return Published{}, err
		}
		return published, checkAccounts(ctx, tx, published.BusinessID, published.Version, binds, now)
	})
	if err != nil {
		return Published{}, fmt.Errorf("publish: %w", err)
	}
	return published, nil
}

// writesOf is under which id the changes of a slug are noted: before its first publish and after its removal a slug has no
// business's.
func writesOf(slug string) uuid.UUID { return postgres.WriteID("slug", slug) }

// Outcome says what became of the change of the slug that the request's Idempotency-Key names, as postgres.Outcome does.
func (s *Store) Outcome(ctx context.Context, slug string) ([]byte, error) {
	return postgres.Outcome(ctx, s.pool, writesOf(slug))
}

// row is what a business's row says while its lock is held.
type row struct {
	id          uuid.UUID
	lastVersion int64
	head        *int64
}

// claim makes sure that slug has a row with the id and locks it. The row of a slug that is new holds no version yet,
// which no other transaction ever sees.
func claim(ctx context.Context, tx pgx.Tx, slug string, id uuid.UUID) (row, error) {
	// No conflict target: a row that holds the slug and one that holds the id are both told apart below. Two first
	// publishes of one slug meet here, and the second waits for the first. Versions count on from those of a removed
	// business, so that no cache and no If-Match takes one for the other.
	const insert = `INSERT INTO businesses (id, slug, last_version)
		SELECT $1, $2, coalesce(max(last_version), 0) FROM businesses WHERE removed_slug = $2
		ON CONFLICT DO NOTHING`
	if _, err := tx.Exec(ctx, insert, id, slug); err != nil {
		return row{}, err
	}
	known, err := lock(ctx, tx, slug)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return row{}, ErrIDTaken
	case err != nil:
		return row{}, err
	case known.id != id:
		return row{}, IDChangedError{Known: known.id}
	}
	return known, nil
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

func write(ctx context.Context, tx pgx.Tx, p Published, c Content, now time.Time) error {
	var batch pgx.Batch
	batch.Queue(`INSERT INTO versions (business_id, version, name, format, source, canonical, sanitizer, sanitized, published_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		p.BusinessID, p.Version, c.Name, c.Format, c.Source, c.Canonical, c.Sanitizer, c.Sanitized, now)
	batch.Queue(advanceSQL, advance(ctx, p, now))
	return tx.SendBatch(ctx, &batch).Close()
}

// advanceSQL makes a version that was written the newest, and removeSQL ends a business while its versions are there. What an event keeps
// of a business is its line of the list.
var (
	advanceSQL = `
WITH advanced AS (
    UPDATE businesses SET last_version = @version, head = @version, sequence = sequence + 1
    WHERE businesses.id = @id
    RETURNING id AS business_id, id, sequence, slug, last_version AS version
)
` + eventlog.Record(event.Business, event.BusinessPublished, "advanced", line("advanced"))

	removeSQL = `
WITH removed AS (
    UPDATE businesses SET head = NULL, slug = NULL, removed_slug = slug, removed_at = @now, sequence = sequence + 1
    WHERE businesses.id = @id
    RETURNING id AS business_id, id, sequence, removed_slug AS slug, last_version AS version
)
` + eventlog.Record(event.Business, event.BusinessRemoved, "removed", line("removed"))
)

func line(of string) string {
	return `jsonb_build_object('id', id, 'slug', slug, 'version', version, 'updated_at', @event_at::timestamptz, 'name',
        (SELECT name FROM versions v WHERE v.business_id = ` + of + `.id AND v.version = ` + of + `.version))`
}

func advance(ctx context.Context, p Published, now time.Time) pgx.NamedArgs {
	return eventlog.Add(ctx, pgx.NamedArgs{"id": p.BusinessID, "version": p.Version}, now)
}

// Rollback makes the content of an old version the newest version of slug at the instant now. Its payment accounts are checked as
// those of [Store.Publish].
func (s *Store) Rollback(ctx context.Context, slug string, version int64, ifMatch *int64, binds bool, now time.Time) (Published, error) {
	published, err := postgres.Once(ctx, s.pool, writesOf(slug), func(ctx context.Context, tx pgx.Tx) (Published, error) {
		known, err := lockPublished(ctx, tx, slug)
		if err != nil {
			return Published{}, err
		}
		if err := checkMatch(known, ifMatch); err != nil {
			return Published{}, err
		}
		published := Published{BusinessID: known.id, Version: known.lastVersion + 1}
		tag, err := tx.Exec(ctx, `INSERT INTO versions (business_id, version, name, format, source, canonical, sanitizer, sanitized, published_at)
			SELECT business_id, $3, name, format, source, canonical, sanitizer, sanitized, $4 FROM versions WHERE business_id = $1 AND version = $2`,
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
		return published, checkAccounts(ctx, tx, published.BusinessID, published.Version, binds, now)
	})
	if err != nil {
		return Published{}, fmt.Errorf("roll back: %w", err)
	}
	return published, nil
}

// Removed names a business that was just removed, and its last version.
type Removed struct {
	BusinessID  uuid.UUID
	LastVersion int64
}

// Remove ends the business at the instant now and deletes all its versions. Its slug is free for another; its id never is. Whoever means one
// business gives its id, so that no other is removed that has the slug by then; the nil id is whichever has it.
func (s *Store) Remove(ctx context.Context, slug string, id uuid.UUID, now time.Time) (Removed, error) {
	removed, err := postgres.Once(ctx, s.pool, writesOf(slug), func(ctx context.Context, tx pgx.Tx) (Removed, error) {
		known, err := lockPublished(ctx, tx, slug)
		if err != nil {
			return Removed{}, err
		}
		if id != uuid.Nil && id != known.id {
			return Removed{}, ErrNotFound
		}
		if _, err := tx.Exec(ctx, removeSQL, eventlog.Add(ctx, pgx.NamedArgs{"id": known.id, "now": now}, now)); err != nil {
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

// lockPublished locks the row of a business that is published.
func lockPublished(ctx context.Context, tx pgx.Tx, slug string) (row, error) {
	known, err := lock(ctx, tx, slug)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && known.head == nil {
		return row{}, ErrNotFound
	}
	return known, err
}
