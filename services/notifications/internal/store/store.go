// Package store contains the SQL statements of the notifications service. The package does not depend on HTTP. Methods
// that need the current time take it as an argument. Errors that this package does not declare come from the database.
package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

// ErrNotFound means that the business has no object with the given ID.
var ErrNotFound = errors.New("not found")

// Store accesses the tables of the notifications service. It is safe for concurrent use.
type Store struct{ pool *pgxpool.Pool }

// New returns a store. The pool's connections must use notifications' schema.
func New(pool *pgxpool.Pool) *Store { return &Store{pool: pool} }

// Ready returns an error if the tables cannot be read.
func (s *Store) Ready(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, `SELECT FROM feeds, river_job LIMIT 0`)
	return err
}

// IdempotencyResult returns the stored idempotency result for the request's Idempotency-Key. IdempotencyResult calls
// postgres.FindIdempotencyResult.
func (s *Store) IdempotencyResult(ctx context.Context, businessID uuid.UUID) ([]byte, error) {
	return postgres.FindIdempotencyResult(ctx, s.pool, businessID)
}

// Erase deletes all rows and jobs of the given businesses, and returns the number of deleted rows.
func (s *Store) Erase(ctx context.Context, businesses []uuid.UUID) (int64, error) {
	erased, err := postgres.Erase(ctx, s.pool, businesses, []postgres.Erasable{
		{Table: "refused_writes"}, {Table: "made_writes"}, {Table: "webhook_deliveries"}, {Table: "webhook_endpoints"},
		{Table: "message_events"}, {Table: "messages"},
	}...)
	if err != nil {
		return erased, err
	}
	// A running job is not deleted by this call, but by the next one. The job ends early, because the rows that it
	// needs are deleted.
	tag, err := s.pool.Exec(ctx,
		`DELETE FROM river_job WHERE args->>'business_id' = ANY($1::uuid[]::text[]) AND state <> 'running'`, businesses)
	if err != nil {
		return erased, fmt.Errorf("erase jobs: %w", err)
	}
	return erased + tag.RowsAffected(), nil
}
