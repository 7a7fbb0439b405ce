// Package store is booking's SQL: bookings with the time they occupy, API keys and idempotency records. Nothing here
// knows HTTP or offers.
//
// The guarantee that nothing is sold twice is the exclusion constraint never_twice of the migrations; [Store.Book]
// writes under it in one statement. Every method takes the present instant where it needs one, so that all a statement
// writes agrees on it. Errors other than those declared here are the database's own.
package store

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/postgres"
)

// Errors that callers tell apart.
var (
	// ErrTaken says that another booking holds time that the booking needs, or has been the customer's first
	// meanwhile. Nothing was written.
	ErrTaken = errors.New("the time is taken")
	// ErrTooManyOpen says that the customer's address has as much open of what is taken on the booking page as it may: bookings, orders of
	// tickets and reservations. Nothing was written.
	ErrTooManyOpen = errors.New("the address has too much open")
	// ErrOfferChanged says that a newer version of the offer was published than the one that was decided by. Nothing was written.
	ErrOfferChanged = errors.New("a newer offer was published")
	// ErrKeyRevoked says that the API key that was shown does not count any more. Nothing was written.
	ErrKeyRevoked = errors.New("the API key was revoked")
	// ErrClaimLost says that another request has taken over the idempotency key. Nothing was written.
	ErrClaimLost = errors.New("the idempotency key was taken over")
	// ErrNotFound says that there is no such row, whatever was asked for.
	ErrNotFound = errors.New("not found")
)

// Store works on the tables of one schema. It is safe for many goroutines.
type Store struct{ pool *pgxpool.Pool }

// New returns a store on the pool, whose connections work in booking's schema.
func New(pool *pgxpool.Pool) *Store { return &Store{pool: pool} }

// Ready reports whether the tables can be read.
func (s *Store) Ready(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, `SELECT FROM bookings LIMIT 0`)
	return err
}

// Outcome says what became of the owner's write that the request's Idempotency-Key names, as postgres.Outcome does.
func (s *Store) Outcome(ctx context.Context, businessID uuid.UUID) ([]byte, error) {
	return postgres.Outcome(ctx, s.pool, businessID)
}

// utc drops a zone that the driver added; instants are compared and printed as UTC.
func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}
