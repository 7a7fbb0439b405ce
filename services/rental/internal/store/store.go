// Package store reads and writes rental's tables in PostgreSQL: reservations
// and the units that they occupy. It does not use HTTP or offers.
//
// [Store.Reserve] locks the rental's row before it counts free units. Therefore each of several concurrent requests
// sees the reservations that the earlier requests wrote, and the service never reserves more units than exist.
//
// A method that needs the current time has a parameter for it.
// Errors that this package does not declare come from the database.
package store

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
)

// Errors that callers distinguish.
var (
	// ErrTooFewUnits means that too few units are free for a reservation. Nothing was written.
	ErrTooFewUnits = errors.New("too few units are free")
	// ErrNotFound means that the reservation does not exist or belongs to another business.
	ErrNotFound = errors.New("not found")
)

// NotAllowedError means that the current status of a reservation
// does not allow a transition. Status is the current status.
type NotAllowedError struct{ Status state.State }

func (e *NotAllowedError) Error() string { return "not allowed from status " + string(e.Status) }

// Store reads and writes the tables of one schema. It is safe for concurrent use.
type Store struct{ pool *pgxpool.Pool }

// New returns a store that uses the connections of `pool`. These connections must use rental's schema.
func New(pool *pgxpool.Pool) *Store { return &Store{pool: pool} }

// Ready returns an error if the table of reservations cannot be read.
func (s *Store) Ready(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, `SELECT FROM reservations LIMIT 0`)
	return err
}

// FindIdempotencyResult returns the stored answer of an earlier write with the same
// Idempotency-Key as the request, as [postgres.FindIdempotencyResult] does.
func (s *Store) FindIdempotencyResult(ctx context.Context, businessID uuid.UUID) ([]byte, error) {
	return postgres.FindIdempotencyResult(ctx, s.pool, businessID)
}

// epoch is the SQL date from which queries count days. Queries get a date as the
// number of days since 1970-01-01, because such a number can represent every date.
const epoch = `date '1970-01-01'`

func dateOf(t time.Time) timespan.Date { return timespan.NewDate(t.Date()) }
