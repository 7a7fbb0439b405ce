package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/values/locale"
)

// Stored is a version as the database holds it.
type Stored struct {
	Content
	Version     int64
	PublishedAt time.Time
}

// ReadHead returns the number of the newest version of slug. Error: [ErrNotFound].
func (s *Store) ReadHead(ctx context.Context, slug string) (int64, error) {
	var head *int64
	err := s.pool.QueryRow(ctx, `SELECT head FROM businesses WHERE slug = $1`, slug).Scan(&head)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return 0, ErrNotFound
	case err != nil:
		return 0, fmt.Errorf("read head: %w", err)
	case head == nil:
		return 0, ErrNotFound
	}
	return *head, nil
}

// PicturesMember is the name of the first member of [Text].JSON if the version shows pictures. The
// value of this member is [Content].Pictures. No field of a manifest has the name of this member.
const PicturesMember = "_pictures"

// Text is the content of a version as JSON, for decoding. The pictures are
// in the JSON, so that every copy of a version has them.
type Text struct {
	JSON      []byte
	Sanitized bool // true if the sanitizer of this release sanitized the descriptions
}

// Text returns the content of a version of slug. Error: [ErrNotFound] if
// the version does not exist, for example because the business was removed.
func (s *Store) Text(ctx context.Context, slug string, version int64) (Text, error) {
	var (
		text     Text
		pictures []byte
	)
	err := s.pool.QueryRow(ctx,
		`SELECT CASE WHEN v.sanitizer = $3 AND v.sanitized IS NOT NULL THEN v.sanitized ELSE v.canonical END,
			v.sanitizer = $3, v.pictures
		FROM businesses b JOIN versions v ON v.business_id = b.id
		WHERE b.slug = $1 AND v.version = $2`, slug, version, locale.Sanitizer).Scan(&text.JSON, &text.Sanitized, &pictures)
	if errors.Is(err, pgx.ErrNoRows) {
		return Text{}, ErrNotFound
	}
	if err != nil {
		return Text{}, fmt.Errorf("read content: %w", err)
	}
	if len(pictures) > 0 {
		text.JSON = slices.Concat([]byte(`{"`+PicturesMember+`":`), pictures, []byte(","), text.JSON[1:])
	}
	return text, nil
}

// NewestVersion is the version that selects the newest version in [Store.Version].
const NewestVersion int64 = 0

// Version returns a version of slug. With [NewestVersion], it returns the newest one. Errors: [ErrNotFound]
// if slug has no business, [NoVersionError] if the business does not have the version.
func (s *Store) Version(ctx context.Context, slug string, version int64) (Stored, error) {
	var v Stored
	err := s.pool.QueryRow(ctx, `SELECT b.id, v.name, v.format, v.source, v.canonical, v.version, v.published_at
		FROM businesses b JOIN versions v ON v.business_id = b.id AND v.version = CASE $2::bigint WHEN 0 THEN b.head ELSE $2 END
		WHERE b.slug = $1`, slug, version).
		Scan(&v.BusinessID, &v.Name, &v.Format, &v.Source, &v.Canonical, &v.Version, &v.PublishedAt)
	if err == nil {
		return v, nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return Stored{}, fmt.Errorf("read version: %w", err)
	}
	if _, err := s.ReadHead(ctx, slug); err != nil {
		return Stored{}, err
	}
	return Stored{}, NoVersionError(version)
}

// List returns up to `limit` businesses, sorted by slug. It returns only slugs that are
// greater than the argument `after`. If `after` is empty, the list begins at the first
// slug. If the argument `of` is not nil, List returns only businesses with these ids.
func (s *Store) List(ctx context.Context, of []uuid.UUID, after string, limit int) ([]Business, error) {
	return postgres.Rows(ctx, s.pool, pgx.RowToStructByPos[Business], "list businesses",
		`SELECT b.id, b.slug, v.name, v.version, v.published_at
		FROM businesses b JOIN versions v ON v.business_id = b.id AND v.version = b.head
		WHERE b.slug > $1 AND ($3::uuid[] IS NULL OR b.id = ANY ($3)) ORDER BY b.slug LIMIT $2`, after, limit, of)
}

// Versions returns up to `limit` versions of slug whose numbers
// are below `before`, the newest first. Error: [ErrNotFound].
func (s *Store) Versions(ctx context.Context, slug string, before int64, limit int) ([]Version, error) {
	if _, err := s.ReadHead(ctx, slug); err != nil {
		return nil, err
	}
	return postgres.Rows(ctx, s.pool, pgx.RowToStructByPos[Version], "list versions", `SELECT v.version, v.published_at
		FROM businesses b JOIN versions v ON v.business_id = b.id
		WHERE b.slug = $1 AND v.version < $2 ORDER BY v.version DESC LIMIT $3`, slug, before, limit)
}
