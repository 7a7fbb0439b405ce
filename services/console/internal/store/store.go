// Package store keeps people, what they are in businesses, their sessions and the tokens of the admin API in PostgreSQL. Whatever
// authorises a request is read at every request and never cached: what is ended here is dead on every replica.
package store

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/request"
)

// ErrNotFound says that there is no such thing.
var ErrNotFound = errors.New("not found")

// Store keeps accounts.
type Store struct{ pool *pgxpool.Pool }

// New returns a store on console's schema.
func New(pool *pgxpool.Pool) *Store { return &Store{pool} }

// Ready reports whether the tables are there.
func (s *Store) Ready(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, `SELECT FROM people LIMIT 0`)
	return err
}

// place reads the place in a list that goes by a time; a list begins before all of them.
func place(page request.Page) (time.Time, uuid.UUID, error) {
	latest := time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	after, err := page.After(0, latest)
	if after == nil || err != nil {
		return time.Time{}, uuid.Nil, err
	}
	return time.UnixMicro(after.At), after.ID, nil
}

// found makes [ErrNotFound] of no rows.
func found(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNotFound
	}
	return err
}
