package store

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

// expiringSQL selects the customers of the rows that [Store.AnonymizeEnded]
// would anonymize, and of the records that it would remove. It uses the same index as AnonymizeEnded.
const expiringSQL = `
SELECT ` + postgres.CustomerDigest + ` FROM bookings WHERE business_id = @business_id AND ends_at <= @cutoff AND customer_name <> ''
UNION
SELECT ` + postgres.CustomerDigest + ` FROM tickets WHERE business_id = @business_id AND ends_at <= @cutoff AND customer_name <> ''
UNION
SELECT ` + postgres.CustomerDigest + ` FROM (
    SELECT r.id, (SELECT min(a.address) FROM customer_addresses AS a
        WHERE a.business_id = @business_id AND a.record_id = r.id AND a.address LIKE '%@%') AS customer_email
    FROM customer_records AS r WHERE ` + unusedRecord + `) AS record
LIMIT @limit`

// ExpiringCustomers returns digests of customers whose data [Store.AnonymizeEnded] would remove
// if AnonymizeEnded ran with the same argument `cutoff`. The result has at most `limit` digests.
func (s *Store) ExpiringCustomers(ctx context.Context, businessID uuid.UUID, cutoff time.Time,
	limit int) ([]string, error) {
	return postgres.Rows(ctx, s.pool, pgx.RowTo[string], "list expiring customers", expiringSQL,
		pgx.NamedArgs{"business_id": businessID, "cutoff": cutoff, "limit": limit})
}
