package store

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

// expiringSQL selects the customers of the reservations that [Store.AnonymizeEnded]
// would anonymize. It uses the same index as AnonymizeEnded.
const expiringSQL = `SELECT DISTINCT ` + postgres.CustomerDigest + ` FROM reservations WHERE business_id = $1 AND ` +
	endedSQL + ` LIMIT $3`

// ExpiringCustomers returns digests of the customers whose data [Store.AnonymizeEnded] would remove
// if it ran with the same argument `cutoff`. The argument `limit` is the maximum number of digests.
func (s *Store) ExpiringCustomers(ctx context.Context, businessID uuid.UUID, cutoff time.Time,
	limit int) ([]string, error) {
	return postgres.Rows(ctx, s.pool, pgx.RowTo[string], "list expiring customers", expiringSQL, businessID, cutoff,
		limit)
}
