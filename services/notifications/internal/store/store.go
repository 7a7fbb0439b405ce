// Package store is notifications' SQL. Nothing here knows HTTP. Every method takes the present instant where it needs one.
// Errors other than those declared here are the database's own.
package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/postgres"
)

// ErrNotFound says that the business has nothing of that name.
var ErrNotFound = errors.New("not found")

// Store works on the tables of one schema. It is safe for many goroutines.
type Store struct{ pool *pgxpool.Pool }

// New returns a store on the pool, whose connections work in notifications' schema.
func New(pool *pgxpool.Pool) *Store { return &Store{pool: pool} }

// Ready reports whether the tables can be read.
func (s *Store) Ready(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, `SELECT FROM feeds, river_job LIMIT 0`)
	return err
}

// Outcome says what became of the owner's write that the request's Idempotency-Key names, as postgres.Outcome does.
func (s *Store) Outcome(ctx context.Context, businessID uuid.UUID) ([]byte, error) {
	return postgres.Outcome(ctx, s.pool, businessID)
}

// Erase deletes all that is kept of these businesses, their jobs among it, and returns how many rows that were.
func (s *Store) Erase(ctx context.Context, businesses []uuid.UUID) (int64, error) {
	erased, err := postgres.Erase(ctx, s.pool, businesses, []postgres.Erasable{
		{Table: "refused_writes"}, {Table: "made_writes"}, {Table: "webhook_deliveries"}, {Table: "webhook_endpoints"},
		{Table: "message_events"}, {Table: "messages"},
	}...)
	if err != nil {
		return erased, err
	}
	// A job that runs is erased by the next call: what it works on is gone, and it ends.
	tag, err := s.pool.Exec(ctx, `DELETE FROM river_job WHERE args->>'business_id' = ANY($1::uuid[]::text[]) AND state <> 'running'`, businesses)
	if err != nil {
		return erased, fmt.Errorf("erase jobs: %w", err)
	}
	return erased + tag.RowsAffected(), nil
}
