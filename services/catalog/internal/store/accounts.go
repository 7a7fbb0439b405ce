package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// AccountError reports that a version contains an account of a payment provider that is not bound to
// the version's business.
type AccountError struct {
	Provider string
	Taken    bool // the account is bound to another business
}

func (e AccountError) Error() string {
	return fmt.Sprintf("the account with %s is not bound to the business (taken: %t)", e.Provider, e.Taken)
}

const (
	// namedAccountsSQL selects the payment accounts that the version @version contains.
	namedAccountsSQL = `
SELECT key AS provider, value AS account
FROM versions, json_each_text(canonical #> '{payments,accounts}')
WHERE business_id = @id AND version = @version`

	// claimAccountsSQL binds to the business @id those accounts of its version that are bound to no
	// business. ON CONFLICT locks existing rows. The check that follows therefore waits for every
	// concurrent publish with one of these accounts.
	claimAccountsSQL = `
INSERT INTO payment_accounts (provider, account, business_id, bound_at)
SELECT provider, account, @id, @now FROM (` + namedAccountsSQL + `) AS named
ORDER BY provider, account
ON CONFLICT (provider, account) DO UPDATE SET account = excluded.account`

	// takeAccountsSQL moves accounts to the business if the newest
	// version of their present business no longer names them.
	takeAccountsSQL = `
UPDATE payment_accounts AS bound SET business_id = @id, bound_at = @now
FROM (` + namedAccountsSQL + `) AS named
WHERE bound.provider = named.provider AND bound.account = named.account AND bound.business_id <> @id AND NOT EXISTS (
    SELECT FROM businesses JOIN versions ON versions.business_id = businesses.id AND versions.version = businesses.head
    WHERE businesses.id = bound.business_id
      AND versions.canonical #> '{payments,accounts}' ->> bound.provider = bound.account)`

	// lockAccountsSQL locks the version's accounts until the transaction ends, so that no other
	// transaction can bind them to another business.
	lockAccountsSQL = `
SELECT FROM payment_accounts AS bound JOIN (` + namedAccountsSQL + `) AS named USING (provider, account)
ORDER BY provider, account FOR SHARE OF bound`

	// unboundAccountSQL finds an account that is not bound to the business.
	unboundAccountSQL = `
SELECT named.provider, bound.business_id IS NOT NULL
FROM (` + namedAccountsSQL + `) AS named LEFT JOIN payment_accounts AS bound USING (provider, account)
WHERE bound.business_id IS DISTINCT FROM @id
ORDER BY named.provider LIMIT 1`
)

// checkAccounts returns an [AccountError] if a version has a payment account that is not bound to the business. The
// transaction must have written the version before. If the argument binds is true, checkAccounts first binds to the
// business accounts of no business, and accounts that the newest version of their business no longer contains.
func checkAccounts(ctx context.Context, tx pgx.Tx, businessID uuid.UUID, version int64, binds bool,
	now time.Time) error {
	args := pgx.NamedArgs{"id": businessID, "version": version, "now": now}
	statements := []string{lockAccountsSQL}
	if binds {
		statements = []string{claimAccountsSQL, takeAccountsSQL}
	}
	for _, sql := range statements {
		if _, err := tx.Exec(ctx, sql, args); err != nil {
			return fmt.Errorf("bind payment accounts: %w", err)
		}
	}
	var refused AccountError
	err := tx.QueryRow(ctx, unboundAccountSQL, args).Scan(&refused.Provider, &refused.Taken)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("check payment accounts: %w", err)
	}
	return refused
}
