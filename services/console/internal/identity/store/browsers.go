package store

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

// BrowserLifetime is how long a browser counts as known after the last sign-in in this browser.
const BrowserLifetime = 180 * 24 * time.Hour

// maxBrowsers is the maximum number of browsers that are stored for a person. If a person signs in with more browsers,
// the store keeps the browsers with the latest sign-ins.
const maxBrowsers = 20

// KnowsBrowser reports whether a person has signed in before in the given browser. The argument `hash` is the hash of
// the secret in the browser's cookie; `email` is the person's address in lower case. For a person whose address is not
// verified, KnowsBrowser returns false.
func (s *Store) KnowsBrowser(ctx context.Context, hash [sha256.Size]byte, email string, now time.Time) (bool, error) {
	return postgres.Row(ctx, s.pool, pgx.RowTo[bool], "look up a browser", `
		SELECT EXISTS (SELECT FROM known_browsers AS b JOIN people ON people.id = b.person_id
		    WHERE b.hash = $1 AND people.email = $2 AND people.verified_at IS NOT NULL AND b.signed_in_at > $3)`, hash[:], email, now.Add(-BrowserLifetime))
}

// RememberBrowser stores the browser in which a person has signed in. The argument `hash` is the hash of the secret in
// the browser's cookie. The session with the id `sessionID` must not have ended. If the person then has more than
// maxBrowsers stored browsers, RememberBrowser deletes the browsers with the oldest sign-ins.
//
// It stores nothing for a person whose address is not verified, because the inviter may be signed in as this person.
// Each stored browser would then give the inviter further attempts to send mails and to guess passwords.
func (s *Store) RememberBrowser(ctx context.Context, hash [sha256.Size]byte, personID, sessionID uuid.UUID,
	now time.Time) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := lockPerson(ctx, tx, personID); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `
			INSERT INTO known_browsers (person_id, hash, signed_in_at)
			SELECT people.id, $2, $3 FROM people JOIN sessions ON sessions.person_id = people.id
			WHERE people.id = $1 AND people.verified_at IS NOT NULL AND sessions.id = $4
			ON CONFLICT (person_id, hash) DO UPDATE SET signed_in_at = greatest(known_browsers.signed_in_at, excluded.signed_in_at)`,
			personID, hash[:], now, sessionID)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `
			DELETE FROM known_browsers WHERE person_id = $1 AND hash IN (
			    SELECT hash FROM known_browsers WHERE person_id = $1 ORDER BY signed_in_at DESC, hash OFFSET $2)`, personID, maxBrowsers)
		return err
	})
	if err != nil {
		return fmt.Errorf("remember a browser: %w", err)
	}
	return nil
}
