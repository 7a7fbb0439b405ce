package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// AccountError reports that a version contains an account of a payment provider which is not bound to the business.
type AccountError struct {
	Provider string
	IsTaken  bool // true if the account is bound to another business
}

func (e AccountError) Error() string {
	return fmt.Sprintf("the account with %s is not bound to the business (taken: %t)", e.Provider, e.IsTaken)
}

const (
	// namedAccountsSQL selects the payment accounts that the manifest version @version contains.
	namedAccountsSQL = `
SELECT key AS provider, value AS account
FROM versions, json_each_text(canonical #> '{payments,accounts}')
WHERE business_id = @id AND version = @version`

	// insertAccountsSQL binds payment accounts to the business @id: the accounts in the version @version that
	// are not bound to any business. ON CONFLICT locks the existing rows of the other accounts. The check after
	// this statement therefore runs only after every concurrent publish with one of these accounts has ended.
	insertAccountsSQL = `
INSERT INTO payment_accounts (provider, account, business_id, bound_at)
SELECT provider, account, @id, @now FROM (` + namedAccountsSQL + `) AS named
ORDER BY provider, account
ON CONFLICT (provider, account) DO UPDATE SET account = excluded.account`

	// transferAccountsSQL binds payment accounts in the version @version to the business @id. It transfers the
	// accounts that are bound to another business, if the newest version of that business no longer contains them.
	transferAccountsSQL = `
UPDATE payment_accounts AS bound SET business_id = @id, bound_at = @now
FROM (` + namedAccountsSQL + `) AS named
WHERE bound.provider = named.provider AND bound.account = named.account AND bound.business_id <> @id AND NOT EXISTS (
    SELECT FROM businesses JOIN versions ON versions.business_id = businesses.id AND versions.version = businesses.head
    WHERE businesses.id = bound.business_id
      AND versions.canonical #> '{payments,accounts}' ->> bound.provider = bound.account)`

	// lockAccountsSQL locks the payment accounts of the version until the transaction ends.
	// In the meantime, no other transaction can bind these accounts to another business.
	lockAccountsSQL = `
SELECT FROM payment_accounts AS bound JOIN (` + namedAccountsSQL + `) AS named USING (provider, account)
ORDER BY provider, account FOR SHARE OF bound`

	// unboundAccountSQL selects one payment account of the version that is not bound to the business.
	unboundAccountSQL = `
SELECT named.provider, bound.business_id IS NOT NULL
FROM (` + namedAccountsSQL + `) AS named LEFT JOIN payment_accounts AS bound USING (provider, account)
WHERE bound.business_id IS DISTINCT FROM @id
ORDER BY named.provider LIMIT 1`
)

// checkAccounts returns an [AccountError] if the version has a payment account that is
// not bound to the business. The version must have been written in the same transaction.
//
// If `binds` is true, checkAccounts first binds accounts to the business. It binds those that are bound to no business
// ([insertAccountsSQL]). It also binds those that may be transferred from another business ([transferAccountsSQL]).
func checkAccounts(ctx context.Context, tx pgx.Tx, businessID uuid.UUID, version int64, binds bool,
	now time.Time) error {
	args := pgx.NamedArgs{"id": businessID, "version": version, "now": now}
	statements := []string{lockAccountsSQL}
	if binds {
		statements = []string{insertAccountsSQL, transferAccountsSQL}
	}
	for _, sql := range statements {
		if _, err := tx.Exec(ctx, sql, args); err != nil {
			return fmt.Errorf("bind payment accounts: %w", err)
		}
	}
	var refused AccountError
	err := tx.QueryRow(ctx, unboundAccountSQL, args).Scan(&refused.Provider, &refused.IsTaken)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("check payment accounts: %w", err)
	}
	return refused
}
