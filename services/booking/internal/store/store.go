// Package store contains the SQL of the booking service: bookings with the time they occupy, orders of tickets,
// charges, API keys, calendar feeds and idempotency records. The package does not know HTTP or the content of offers.
//
// The exclusion constraint never_twice of the schema guarantees that no time is
// sold twice. [Store.Book] writes a booking in one statement under this constraint.
//
// Methods that need the current time have a parameter for it, so that all rows of a statement
// have the same time. An error that is not declared in this package comes from the database.
package store

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

// The errors that callers distinguish.
var (
	// ErrOccupied means that another booking occupies the requested time. It is also returned if the price is for
	// a first booking, but another request has already made the customer's first booking. Nothing was written.
	ErrOccupied = errors.New("the time is occupied")
	// ErrTooManyOpen means that the customer's e-mail address already has the maximum number of
	// open bookings, orders of tickets and reservations from the booking page. Nothing was written.
	ErrTooManyOpen = errors.New("the address has too many open bookings")
	// ErrOfferChanged means that the decision about the request is based on a stale
	// offer, because a newer version was published. Nothing was written.
	ErrOfferChanged = errors.New("a newer offer was published")
	// ErrKeyRevoked means that the API key of the request is no longer valid. Nothing was written.
	ErrKeyRevoked = errors.New("the API key was revoked")
	// ErrLockLost means that another request has acquired the idempotency lock of this request. Nothing was written.
	ErrLockLost = errors.New("another request acquired the idempotency lock")
	// ErrNotFound means that the requested row does not exist.
	ErrNotFound = errors.New("not found")
)

// Store reads and writes the tables of booking's schema. It is safe for concurrent use.
type Store struct{ pool *pgxpool.Pool }

// New returns a store that uses the pool. The connections of the pool must use booking's schema.
func New(pool *pgxpool.Pool) *Store { return &Store{pool: pool} }

// Ready returns an error if the tables cannot be read.
func (s *Store) Ready(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, `SELECT FROM bookings LIMIT 0`)
	return err
}

// FindIdempotencyResult returns the stored result of the write with the request's
// Idempotency-Key, as postgres.FindIdempotencyResult does.
func (s *Store) FindIdempotencyResult(ctx context.Context, businessID uuid.UUID) ([]byte, error) {
	return postgres.FindIdempotencyResult(ctx, s.pool, businessID)
}

// utc converts the instant `t` to UTC, because the service compares
// and renders instants in UTC. The result is nil if `t` is nil.
func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}
