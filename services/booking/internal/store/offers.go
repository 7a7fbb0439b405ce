package store

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// lockSalesSQL waits until all transactions of the business that have called
// may_sell have ended. Every transaction that writes a booking or sells tickets calls may_sell.
// lockSalesSQL also blocks further calls of may_sell until its own transaction ends.
const lockSalesSQL = `SELECT pg_advisory_xact_lock(hashtextextended('sells ' || $1::uuid::text, 0))`

const publishedSQL = `
INSERT INTO offer_versions AS known (business_id, version) VALUES ($1, $2)
ON CONFLICT (business_id) DO UPDATE SET version = excluded.version, published_at = now() WHERE known.version < excluded.version`

// StorePublished stores that a version of a business's offer was published. After StorePublished
// returns, no transaction can commit a booking or an order of tickets that an older version allowed.
//
// StorePublished takes one round trip and one transaction. It changes nothing if the stored version is newer.
func (s *Store) StorePublished(ctx context.Context, businessID uuid.UUID, version int64) error {
	var batch pgx.Batch
	batch.Queue(lockSalesSQL, businessID)
	batch.Queue(publishedSQL, businessID, version)
	if err := s.pool.SendBatch(ctx, &batch).Close(); err != nil {
		return fmt.Errorf("store the version of an offer: %w", err)
	}
	return nil
}

// Basis identifies the version of the offer and the API key on which the decision about a request is based.
type Basis struct {
	OfferBusiness uuid.UUID // the business of the offer
	Version       int64
	KeyBusiness   uuid.UUID // the business of the API key
	Key           uuid.UUID
}

const currentSQL = `
SELECT NOT EXISTS (SELECT FROM offer_versions WHERE business_id = $1 AND version > $2)
   AND EXISTS (SELECT FROM api_keys WHERE business_id = $3 AND id = $4 AND revoked_at IS NULL)`

// IsCurrent reports whether a decision that is based on the given offer and API key is still valid.
// The decision is valid if no newer version of the offer was published and the key is not revoked.
func (s *Store) IsCurrent(ctx context.Context, by Basis) (bool, error) {
	var current bool
	if err := s.pool.QueryRow(ctx, currentSQL, by.OfferBusiness, by.Version, by.KeyBusiness,
		by.Key).Scan(&current); err != nil {
		return false, fmt.Errorf("check whether an offer and an API key are still valid: %w", err)
	}
	return current, nil
}
