package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

var (
	// ErrNoPicture reports that the business has no picture with the id.
	ErrNoPicture = errors.New("picture not found")
	// ErrPictureUsed reports that the newest version of the business shows the picture.
	ErrPictureUsed = errors.New("the newest version shows the picture")
	// ErrTooManyPictures reports that one more picture would exceed the limits of the business.
	ErrTooManyPictures = errors.New("too many pictures")
)

// PictureLimits are the limits of the pictures of one business.
type PictureLimits struct {
	Pictures int
	Bytes    int64
}

// BusinessRef names a business by its slug. If ID is not the nil UUID, the business of the slug must have this
// id. Therefore a change that was authorized for one business never affects a later business with the same slug.
type BusinessRef struct {
	Slug string
	ID   uuid.UUID
}

// lockRef locks the row of a published business and returns it. Error: [ErrNotFound].
func lockRef(ctx context.Context, tx pgx.Tx, of BusinessRef) (row, error) {
	known, err := lockPublished(ctx, tx, of.Slug)
	if err == nil && of.ID != uuid.Nil && of.ID != known.id {
		return row{}, ErrNotFound
	}
	return known, err
}

// TouchFile records that the files of a picture were uploaded at the instant `now`. It must be
// called before the files are written, so that [Store.SweepFiles] does not delete them at once.
func (s *Store) TouchFile(ctx context.Context, id string, now time.Time) error {
	if _, err := s.pool.Exec(ctx, `INSERT INTO media_files (sha256, touched_at) VALUES ($1, $2)
		ON CONFLICT (sha256) DO UPDATE SET touched_at = excluded.touched_at`, id, now); err != nil {
		return fmt.Errorf("record an uploaded file: %w", err)
	}
	return nil
}

// AddPicture adds an uploaded picture to a business, and reports whether the business did not have it
// before. The files of the picture must have been written. Errors: [ErrNotFound], [ErrTooManyPictures].
func (s *Store) AddPicture(ctx context.Context, of BusinessRef, p catalog.UploadedPicture,
	limits PictureLimits) (bool, error) {
	added := false
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		business, err := lockRef(ctx, tx, of)
		if err != nil {
			return err
		}
		if err := checkLimits(ctx, tx, business.id, p, limits); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, `INSERT INTO media (business_id, sha256, mime, bytes, width, height, colour, created_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (business_id, sha256) DO NOTHING`,
			business.id, p.ID, p.MIME, p.Bytes, p.Width, p.Height, p.Colour, p.CreatedAt)
		added = err == nil && tag.RowsAffected() == 1
		return err
	})
	if err != nil {
		return false, fmt.Errorf("add a picture: %w", err)
	}
	return added, nil
}

// CheckLimits returns [ErrTooManyPictures] if adding the picture p would exceed the limits of
// the business. A picture that the business already has is always allowed. Error: [ErrNotFound].
func (s *Store) CheckLimits(ctx context.Context, of BusinessRef, p catalog.UploadedPicture,
	limits PictureLimits) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		business, err := lockRef(ctx, tx, of)
		if err != nil {
			return err
		}
		return checkLimits(ctx, tx, business.id, p, limits)
	})
}

func checkLimits(ctx context.Context, tx pgx.Tx, business uuid.UUID, p catalog.UploadedPicture,
	limits PictureLimits) error {
	var (
		count int
		bytes int64
	)
	err := tx.QueryRow(ctx, `SELECT count(*), coalesce(sum(bytes), 0)::bigint FROM media
		WHERE business_id = $1 AND NOT EXISTS (SELECT FROM media WHERE business_id = $1 AND sha256 = $2)`, business, p.ID).
		Scan(&count, &bytes)
	if err != nil {
		return fmt.Errorf("count pictures: %w", err)
	}
	// If the business has the picture, count and bytes are 0.
	if count >= limits.Pictures || bytes+p.Bytes > limits.Bytes {
		return ErrTooManyPictures
	}
	return nil
}

// picturesSQL selects pictures of the business @id, with the newest version of the business.
const picturesSQL = `SELECT m.sha256, m.width, m.height, m.colour, m.mime, m.bytes, m.created_at,
    coalesce(v.pictures ? m.sha256, false)
FROM media m JOIN businesses b ON b.id = m.business_id JOIN versions v ON v.business_id = b.id AND v.version = b.head
WHERE b.slug = $1`

func scanPicture(row pgx.CollectableRow) (catalog.UploadedPicture, error) {
	var p catalog.UploadedPicture
	err := row.Scan(&p.ID, &p.Width, &p.Height, &p.Colour, &p.MIME, &p.Bytes, &p.CreatedAt, &p.Used)
	return p, err
}

// ListPictures returns up to `limit` pictures of the business with this slug, sorted by id. It
// returns only pictures whose ids are greater than the argument `after`. Error: [ErrNotFound].
func (s *Store) ListPictures(ctx context.Context, slug, after string, limit int) ([]catalog.UploadedPicture, error) {
	if _, err := s.ReadHead(ctx, slug); err != nil {
		return nil, err
	}
	return postgres.Rows(ctx, s.pool, scanPicture, "list pictures",
		picturesSQL+` AND m.sha256 > $2 ORDER BY m.sha256 LIMIT $3`, slug, after, limit)
}

// Picture returns a picture of the business with this slug. Error: [ErrNoPicture].
func (s *Store) Picture(ctx context.Context, slug, id string) (catalog.UploadedPicture, error) {
	found, err := postgres.Rows(ctx, s.pool, scanPicture, "read a picture", picturesSQL+` AND m.sha256 = $2`, slug, id)
	if err == nil && len(found) == 0 {
		err = ErrNoPicture
	}
	if err != nil {
		return catalog.UploadedPicture{}, err
	}
	return found[0], nil
}

// DeletePicture removes a picture from a business. [Store.SweepFiles] deletes its files
// later if no other business has it. Errors: [ErrNotFound], [ErrNoPicture], [ErrPictureUsed].
func (s *Store) DeletePicture(ctx context.Context, of BusinessRef, id string) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		business, err := lockRef(ctx, tx, of)
		if err != nil {
			return err
		}
		var used bool
		if err := tx.QueryRow(ctx,
			`SELECT coalesce(pictures ? $3, false) FROM versions WHERE business_id = $1 AND version = $2`,
			business.id, *business.head, id).Scan(&used); err != nil {
			return fmt.Errorf("read the pictures of a version: %w", err)
		}
		if used {
			return ErrPictureUsed
		}
		tag, err := tx.Exec(ctx, `DELETE FROM media WHERE business_id = $1 AND sha256 = $2`, business.id, id)
		if err == nil && tag.RowsAffected() == 0 {
			err = ErrNoPicture
		}
		return err
	})
}

// SweepPictures removes the pictures that were uploaded before the instant `before` and
// that no version of their business shows. It returns the number of removed pictures.
func (s *Store) SweepPictures(ctx context.Context, before time.Time) (int64, error) {
	const unused = `created_at < $1 AND NOT EXISTS (
		SELECT FROM versions v WHERE v.business_id = media.business_id AND v.pictures ? media.sha256)`
	businesses, err := postgres.Rows(ctx, s.pool, pgx.RowTo[uuid.UUID], "list businesses with unused pictures",
		`SELECT DISTINCT business_id FROM media WHERE `+unused, before)
	var removed int64
	for _, business := range businesses {
		err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			// A publish locks the same row. The next statement therefore sees every version that may show a picture.
			if _, err := tx.Exec(ctx, `SELECT FROM businesses WHERE id = $1 FOR UPDATE`, business); err != nil {
				return err
			}
			tag, err := tx.Exec(ctx, `DELETE FROM media WHERE business_id = $2 AND `+unused, before, business)
			removed += tag.RowsAffected()
			return err
		})
		if err != nil {
			return removed, fmt.Errorf("remove unused pictures: %w", err)
		}
	}
	return removed, err
}

// SweepFiles calls `remove` for the id of each picture that no business has and whose
// files were last uploaded before the instant `before`. Then it deletes the records
// of these ids. SweepFiles stops at the first error and returns the number of ids.
func (s *Store) SweepFiles(ctx context.Context, before time.Time, remove func(context.Context, string) error) (int,
	error) {
	swept := 0
	for {
		found := 0
		err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			rows, err := tx.Query(ctx, `SELECT sha256 FROM media_files f
				WHERE touched_at < $1 AND NOT EXISTS (SELECT FROM media m WHERE m.sha256 = f.sha256)
				ORDER BY sha256 LIMIT 100 FOR UPDATE SKIP LOCKED`, before)
			if err != nil {
				return err
			}
			ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil {
				return err
			}
			for _, id := range ids {
				if err := remove(ctx, id); err != nil {
					return err
				}
			}
			found = len(ids)
			_, err = tx.Exec(ctx, `DELETE FROM media_files WHERE sha256 = ANY ($1)`, ids)
			return err
		})
		if err != nil {
			return swept, fmt.Errorf("delete files of pictures: %w", err)
		}
		if swept += found; found == 0 {
			return swept, nil
		}
	}
}
