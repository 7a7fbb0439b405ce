package store

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// lockSalesSQL waits for all uncommitted sales of a business that have passed may_sell. It blocks
// further ones until its transaction ends.
const lockSalesSQL = `SELECT pg_advisory_xact_lock(hashtextextended('sells ' || $1::uuid::text, 0))`

const publishedSQL = `
INSERT INTO offer_versions AS known (business_id, version) VALUES ($1, $2)
ON CONFLICT (business_id) DO UPDATE SET version = excluded.version, published_at = now() WHERE known.version < excluded.version`

// Published stores that a version of a business's offer was published. After it returns, no sale by an older version
// is committed. It takes one round trip and one transaction. A version older than the stored one changes nothing.
func (s *Store) Published(ctx context.Context, businessID uuid.UUID, version int64) error {
	var batch pgx.Batch
	batch.Queue(lockSalesSQL, businessID)
	batch.Queue(publishedSQL, businessID, version)
	if err := s.pool.SendBatch(ctx, &batch).Close(); err != nil {
		return fmt.Errorf("note the version of an offer: %w", err)
	}
	return nil
}

// Basis identifies the offer and the API key that a decision was based on.
type Basis struct {
	OfferOf uuid.UUID // the business
	Version int64
	KeyOf   uuid.UUID // the business of the key
	Key     uuid.UUID
}

const currentSQL = `
SELECT NOT EXISTS (SELECT FROM offer_versions WHERE business_id = $1 AND version > $2)
   AND EXISTS (SELECT FROM api_keys WHERE business_id = $3 AND id = $4 AND revoked_at IS NULL)`

// Current reports whether the offer is still the newest and the API key still valid.
func (s *Store) Current(ctx context.Context, by Basis) (bool, error) {
	var current bool
	if err := s.pool.QueryRow(ctx, currentSQL, by.OfferOf, by.Version, by.KeyOf, by.Key).Scan(&current); err != nil {
		return false, fmt.Errorf("look whether an offer and a key still count: %w", err)
	}
	return current, nil
}
