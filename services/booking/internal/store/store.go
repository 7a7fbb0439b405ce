// Package store holds booking's SQL: bookings with the time they occupy, tickets, charges, API
// keys, calendar feeds and idempotency records. It does not know HTTP or the content of offers.
//
// The exclusion constraint never_twice in the migrations guarantees that no time is
// sold twice. [Store.Book] writes a booking in one statement under this constraint.
//
// Methods that need the current time have a parameter for it, so that all rows of a statement
// have the same time. Errors that this package does not declare come from the database.
package store

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

// Errors that callers distinguish.
var (
	// ErrTaken means that another booking occupies the requested time. It is also returned if a booking
	// was priced as the customer's first one, but another booking became the first. Nothing was written.
	ErrTaken = errors.New("the time is taken")
	// ErrTooManyOpen means that the customer's address already has the maximum number of open
	// bookings, ticket orders and reservations from the booking page. Nothing was written.
	ErrTooManyOpen = errors.New("the address has too much open")
	// ErrOfferChanged means that a newer version of the offer was published
	// than the version that the request was decided by. Nothing was written.
	ErrOfferChanged = errors.New("a newer offer was published")
	// ErrKeyRevoked means that the request's API key is no longer valid. Nothing was written.
	ErrKeyRevoked = errors.New("the API key was revoked")
	// ErrLockLost means that another request has acquired the idempotency lock of the key. Nothing was written.
	ErrLockLost = errors.New("the idempotency key was taken over")
	// ErrNotFound means that the row does not exist.
	ErrNotFound = errors.New("not found")
)

// Store reads and writes the tables of one schema. It is safe for concurrent use.
type Store struct{ pool *pgxpool.Pool }

// New returns a store that uses the pool. The pool's connections must use booking's schema.
func New(pool *pgxpool.Pool) *Store { return &Store{pool: pool} }

// Ready reports whether the tables can be read.
func (s *Store) Ready(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, `SELECT FROM bookings LIMIT 0`)
	return err
}

// FindIdempotencyResult returns the stored result of the owner's write with the request's Idempotency-Key, as
// postgres.FindIdempotencyResult does.
func (s *Store) Outcome(ctx context.Context, businessID uuid.UUID) ([]byte, error) {
	return postgres.FindIdempotencyResult(ctx, s.pool, businessID)
}

// utc returns t in UTC, without the zone that the driver added. Instants are compared and printed in UTC.
func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}
