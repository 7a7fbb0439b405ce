package store

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// lockSalesSQL waits for all sales of a business that have passed may_sell, and keeps others waiting until its transaction ends.
const lockSalesSQL = `SELECT pg_advisory_xact_lock(hashtextextended('sells ' || $1::uuid::text, 0))`

const publishedSQL = `
INSERT INTO offer_versions AS known (business_id, version) VALUES ($1, $2)
ON CONFLICT (business_id) DO UPDATE SET version = excluded.version, published_at = now() WHERE known.version < excluded.version`

// Published notes that a version of a business's offer was published: when it returns, nothing is sold by an older one any more. It is one
// round trip and one transaction; an older version than the one that is noted changes nothing.
func (s *Store) Published(ctx context.Context, businessID uuid.UUID, version int64) error {
	var batch pgx.Batch
	batch.Queue(lockSalesSQL, businessID)
	batch.Queue(publishedSQL, businessID, version)
	if err := s.pool.SendBatch(ctx, &batch).Close(); err != nil {
		return fmt.Errorf("note the version of an offer: %w", err)
	}
	return nil
}

// Basis is what a decision was made by: an offer and an API key.
type Basis struct {
	OfferOf uuid.UUID // the business
	Version int64
	KeyOf   uuid.UUID // the business of the key
	Key     uuid.UUID
}

const currentSQL = `
SELECT NOT EXISTS (SELECT FROM offer_versions WHERE business_id = $1 AND version > $2)
   AND EXISTS (SELECT FROM api_keys WHERE business_id = $3 AND id = $4 AND revoked_at IS NULL)`

// Current reports whether what a decision was made by is still the newest offer, and a key that counts.
func (s *Store) Current(ctx context.Context, by Basis) (bool, error) {
	var current bool
	if err := s.pool.QueryRow(ctx, currentSQL, by.OfferOf, by.Version, by.KeyOf, by.Key).Scan(&current); err != nil {
		return false, fmt.Errorf("look whether an offer and a key still count: %w", err)
	}
	return current, nil
}
