package store

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

// expiringSQL selects the customers of the rows that [Store.AnonymizeEnded]
// would anonymize. It uses the same index as AnonymizeEnded.
const expiringSQL = `
SELECT ` + postgres.CustomerDigest + ` FROM bookings WHERE business_id = $1 AND ends_at <= $2 AND customer_name <> ''
UNION
SELECT ` + postgres.CustomerDigest + ` FROM tickets WHERE business_id = $1 AND ends_at <= $2 AND customer_name <> ''
LIMIT $3`

// ExpiringCustomers returns digests of customers whose data [Store.AnonymizeEnded] would remove
// if AnonymizeEnded ran with the same argument `cutoff`. The result has at most `limit` digests.
func (s *Store) ExpiringCustomers(ctx context.Context, businessID uuid.UUID, cutoff time.Time,
	limit int) ([]string, error) {
	return postgres.Rows(ctx, s.pool, pgx.RowTo[string], "list expiring customers", expiringSQL, businessID, cutoff,
		limit)
}
