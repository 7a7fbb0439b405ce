package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

// ErrPictureRemoved reports that a picture of the version was deleted in the meantime.
var ErrPictureRemoved = errors.New("a picture of the version was removed")

// Pictures returns those pictures of the business that have one of the ids, by id.
func (s *Store) Pictures(ctx context.Context, business uuid.UUID, ids []string) (map[string]catalog.Picture, error) {
	list, err := postgres.Rows(ctx, s.pool, pgx.RowToStructByPos[catalog.Picture], "read pictures",
		`SELECT sha256, width, height, colour FROM media WHERE business_id = $1 AND sha256 = ANY ($2)`, business, ids)
	if err != nil {
		return nil, err
	}
	pictures := make(map[string]catalog.Picture, len(list))
	for _, p := range list {
		pictures[p.ID] = p
	}
	return pictures, nil
}

// lockPictures locks the pictures that a version shows, until the transaction ends, so that they cannot be deleted in
// the meantime. The version must have been written in the same transaction. Error: [ErrPictureRemoved].
func lockPictures(ctx context.Context, tx pgx.Tx, business uuid.UUID, version int64) error {
	var missing int
	err := tx.QueryRow(ctx, `
WITH shown AS (
    SELECT jsonb_object_keys(pictures) AS id FROM versions WHERE business_id = $1 AND version = $2
), locked AS (
    SELECT sha256 FROM media WHERE business_id = $1 AND sha256 IN (SELECT id FROM shown) FOR KEY SHARE
)
SELECT (SELECT count(*) FROM shown) - (SELECT count(*) FROM locked)`, business, version).Scan(&missing)
	if err != nil {
		return fmt.Errorf("lock pictures: %w", err)
	}
	if missing > 0 {
		return ErrPictureRemoved
	}
	return nil
}
