// Package store is rental's SQL: reservations and what they hold. Nothing here knows HTTP or offers.
//
// The guarantee that never more units are promised than there are is the lock on the rental's row that [Store.Reserve]
// takes before it counts: of many that reserve at once, each sees what those before it have written. Every method takes
// the present instant where it needs one. Errors other than those declared here are the database's own.
package store

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/postgres"
	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
)

// Errors that callers tell apart.
var (
	// ErrLacking says that too few units are free. Nothing was written.
	ErrLacking = errors.New("too few units are free")
	// ErrNotFound says that the business has no such reservation.
	ErrNotFound = errors.New("not found")
)

// NotAllowedError says that a reservation's status does not allow a move.
type NotAllowedError struct{ Status state.State }

func (e *NotAllowedError) Error() string { return "not allowed from status " + string(e.Status) }

// Store works on the tables of one schema. It is safe for many goroutines.
type Store struct{ pool *pgxpool.Pool }

// New returns a store on the pool, whose connections work in rental's schema.
func New(pool *pgxpool.Pool) *Store { return &Store{pool: pool} }

// Ready reports whether the tables can be read.
func (s *Store) Ready(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, `SELECT FROM reservations LIMIT 0`)
	return err
}

// Outcome says what became of the owner's write that the request's Idempotency-Key names, as postgres.Outcome does.
func (s *Store) Outcome(ctx context.Context, businessID uuid.UUID) ([]byte, error) {
	return postgres.Outcome(ctx, s.pool, businessID)
}

// Dates travel as whole days since 1970-01-01, so that every date there is can be asked for.
const epoch = `date '1970-01-01'`

func dateOf(t time.Time) timespan.Date { return timespan.NewDate(t.Date()) }
