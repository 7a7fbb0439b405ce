package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Slug returns the slug of the business with this id. Error:
// [ErrNotFound] if the id is unknown or the business was removed.
func (s *Store) Slug(ctx context.Context, id uuid.UUID) (string, error) {
	var slug string
	err := s.pool.QueryRow(ctx, `SELECT slug FROM businesses WHERE id = $1 AND slug IS NOT NULL`, id).Scan(&slug)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return "", ErrNotFound
	case err != nil:
		return "", fmt.Errorf("read slug: %w", err)
	}
	return slug, nil
}
