// Package store stores people, their roles in businesses, their sessions and the tokens of the admin API in PostgreSQL.
// Every request reads the rows that authorize the request; these rows are never cached. So when a session or token
// ends, it is invalid on every replica at once.
package store

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

// ErrNotFound means that the row does not exist.
var ErrNotFound = errors.New("not found")

// Store stores accounts.
type Store struct {
	pool  *pgxpool.Pool
	clock clock.Clock // reports whether sessions, tokens and rights have ended
}

// New returns a store that uses the tables in the schema console.
func New(pool *pgxpool.Pool, c clock.Clock) *Store { return &Store{pool, c} }

// Ready returns an error if the tables do not exist.
func (s *Store) Ready(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, `SELECT FROM people LIMIT 0`)
	return err
}

// FindIdempotencyResult returns the stored result of an earlier request about a business with the same Idempotency-Key,
// as postgres.FindIdempotencyResult does. The nil UUID stands for requests about operators.
func (s *Store) FindIdempotencyResult(ctx context.Context, businessID uuid.UUID) ([]byte, error) {
	return postgres.FindIdempotencyResult(ctx, s.pool, businessID)
}

// executor is a transaction or a pool that executes a statement without result rows.
type executor interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// OrNull converts an id for the database and for JSON: it returns nil for the nil UUID, and a pointer to any other id.
func OrNull(id uuid.UUID) *uuid.UUID {
	if id == uuid.Nil {
		return nil
	}
	return &id
}

// toNotFound replaces pgx.ErrNoRows by [ErrNotFound].
func toNotFound(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNotFound
	}
	return err
}
