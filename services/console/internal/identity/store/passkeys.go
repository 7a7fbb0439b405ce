package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/passkey"
)

// MaxPasskeys is the maximum number of passkeys of a person.
const MaxPasskeys = 20

var (
	// ErrTooManyPasskeys means that a person has [MaxPasskeys] already.
	ErrTooManyPasskeys = errors.New("has too many passkeys")
	// ErrKnownPasskey means that the passkey is already stored.
	ErrKnownPasskey = errors.New("is known already")
	// ErrLastCredential means that the person could no longer sign in after the change.
	ErrLastCredential = errors.New("is the last way to sign in")
)

// Passkey is a stored passkey, with which its owner signs in without a password.
type Passkey struct {
	passkey.Key
	ID         uuid.UUID // id by which the person removes the passkey
	PersonID   uuid.UUID
	Name       string
	CreatedAt  time.Time
	LastUsedAt *time.Time
}

// AddOwnChallenge stores a challenge, as [Store.AddChallenge] does, for a signed-in person who adds a passkey. Errors:
// [ErrRevoked].
func (s *Store) AddOwnChallenge(ctx context.Context, by access.Principal, hash [sha256.Size]byte, challenge []byte,
	expires time.Time) error {
	return s.runOwnWrite(ctx, by, func(tx pgx.Tx) error {
		return addChallenge(ctx, tx, hash, by.ID, challenge, expires)
	})
}

// AddChallenge stores a challenge for a sign-in. The argument `hash` is the hash of the secret in the browser's cookie.
func (s *Store) AddChallenge(ctx context.Context, hash [sha256.Size]byte, challenge []byte, expires time.Time) error {
	return addChallenge(ctx, s.pool, hash, uuid.Nil, challenge, expires)
}

// addChallenge stores a challenge. The argument `personID` is the id of the person who adds a passkey, or the nil UUID
// for a sign-in.
func addChallenge(ctx context.Context, to executor, hash [sha256.Size]byte, personID uuid.UUID, challenge []byte,
	expires time.Time) error {
	_, err := to.Exec(ctx, `
		INSERT INTO challenges (hash, person_id, challenge, expires_at) VALUES ($1, nullif($2, '00000000-0000-0000-0000-000000000000'::uuid), $3, $4)`,
		hash[:], personID, challenge, expires)
	if err != nil {
		return fmt.Errorf("keep a challenge: %w", err)
	}
	return nil
}

// TakeChallenge returns a stored challenge and deletes it, so that it can be used for one answer only. Errors:
// [ErrNotFound] if the challenge has expired at the instant `now`, or was made for another person.
func (s *Store) TakeChallenge(ctx context.Context, hash [sha256.Size]byte, personID uuid.UUID,
	now time.Time) ([]byte, error) {
	challenge, err := postgres.Row(ctx, s.pool, pgx.RowTo[[]byte], "take a challenge", `
		WITH taken AS (
		    DELETE FROM challenges
		    WHERE hash = $1 AND person_id IS NOT DISTINCT FROM nullif($2, '00000000-0000-0000-0000-000000000000'::uuid)
		    RETURNING challenge, expires_at
		)
		SELECT challenge FROM taken WHERE expires_at > $3`, hash[:], personID, now)
	return challenge, toNotFound(err)
}

const passkeySQL = `SELECT credential_id, public_key, flags, transports, sign_count, id, person_id, name, created_at, last_used_at FROM passkeys WHERE `

func scanPasskey(row pgx.CollectableRow) (Passkey, error) {
	var (
		p     Passkey
		flags int16
		count int64
	)
	err := row.Scan(&p.Key.ID, &p.PublicKey, &flags, &p.Transports, &count, &p.ID, &p.PersonID, &p.Name, &p.CreatedAt,
		&p.LastUsedAt)
	p.Flags, p.Count = byte(flags), uint32(count) // the stored values fit into these types
	return p, err
}

// ListPasskeys lists the passkeys of a person in the order in which they were added.
func (s *Store) ListPasskeys(ctx context.Context, personID uuid.UUID) ([]Passkey, error) {
	return postgres.Rows(ctx, s.pool, scanPasskey, "list passkeys", passkeySQL+`person_id = $1 ORDER BY created_at, id`,
		personID)
}

// FindPasskeyByKey returns the passkey with the WebAuthn credential id `id`, which the person's device chose. Errors:
// [ErrNotFound].
func (s *Store) FindPasskeyByKey(ctx context.Context, id []byte) (Passkey, error) {
	p, err := postgres.Row(ctx, s.pool, scanPasskey, "look up a passkey", passkeySQL+`credential_id = $1`, id)
	return p, toNotFound(err)
}

// AddPasskey stores a passkey of the signed-in person. Errors: [ErrRevoked], [ErrNotFound], [ErrTooManyPasskeys],
// [ErrKnownPasskey].
func (s *Store) AddPasskey(ctx context.Context, by access.Principal, p Passkey) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := s.authorize(ctx, tx, by, p.PersonID); err != nil {
			return err
		}
		if _, err := lockPerson(ctx, tx, p.PersonID); err != nil {
			return err
		}
		n, err := countPasskeys(ctx, tx, p.PersonID)
		if err != nil {
			return err
		}
		if n >= MaxPasskeys {
			return ErrTooManyPasskeys
		}
		tag, err := tx.Exec(ctx, `
			INSERT INTO passkeys (credential_id, public_key, flags, transports, sign_count, id, person_id, name, created_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (credential_id) DO NOTHING`,
			p.Key.ID, p.PublicKey, int16(p.Flags), p.Transports, int64(p.Count), p.ID, p.PersonID, p.Name, p.CreatedAt)
		if err == nil && tag.RowsAffected() == 0 {
			return ErrKnownPasskey
		}
		if err != nil {
			return err
		}
		return recordEvent(ctx, tx, event.MemberPasskeyAdded, p.PersonID, uuid.Nil, p.CreatedAt)
	})
}

func countPasskeys(ctx context.Context, tx pgx.Tx, personID uuid.UUID) (int, error) {
	return postgres.Row(ctx, tx, pgx.RowTo[int], "count passkeys", `SELECT count(*) FROM passkeys WHERE person_id = $1`,
		personID)
}

// SignInByPasskey creates a session of a person, and stores the new counter and flags of the passkey that they used.
// Errors: [ErrNotFound] if the passkey no longer exists, or if the new counter is not larger than the stored counter.
func (s *Store) SignInByPasskey(ctx context.Context, used passkey.Key, of Session, session [sha256.Size]byte) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := lockPerson(ctx, tx, of.PersonID); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, `
			UPDATE passkeys SET sign_count = $3, flags = $4, last_used_at = $5
			WHERE credential_id = $1 AND person_id = $2 AND (sign_count < $3 OR sign_count = 0 AND $3 = 0)`,
			used.ID, of.PersonID, int64(used.Count), int16(used.Flags), of.CreatedAt)
		if err == nil && tag.RowsAffected() == 0 {
			return ErrNotFound
		}
		if err != nil {
			return err
		}
		return addSession(ctx, tx, of, session)
	})
}

// RemovePasskey deletes a passkey of a person, ends all their sessions and links, and creates a new session. The
// argument `hasOtherCredential` is true if the person can sign in without a passkey or password, for example with an
// identity provider. Errors: [ErrRevoked]; [ErrNotFound]; [ErrLastCredential] if the person could no longer sign in.
func (s *Store) RemovePasskey(ctx context.Context, by access.Principal, id uuid.UUID, hasOtherCredential bool,
	of Session,
	session [sha256.Size]byte) error {
	return s.revokeInTransaction(ctx, of.PersonID, func(tx pgx.Tx) error {
		if _, err := s.authorize(ctx, tx, by, of.PersonID); err != nil {
			return err
		}
		person, err := lockPerson(ctx, tx, of.PersonID)
		if err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, `DELETE FROM passkeys WHERE person_id = $1 AND id = $2`, of.PersonID, id)
		if err == nil && tag.RowsAffected() == 0 {
			return ErrNotFound
		}
		if err != nil {
			return err
		}
		remaining, err := countPasskeys(ctx, tx, of.PersonID)
		if err == nil && remaining == 0 && !person.HasPassword && !hasOtherCredential {
			return ErrLastCredential
		}
		if err != nil {
			return err
		}
		if err := recordEvent(ctx, tx, event.MemberPasskeyRemoved, of.PersonID, uuid.Nil, of.CreatedAt); err != nil {
			return err
		}
		return restartSessions(ctx, tx, of, session)
	})
}

// RemovePassword deletes the password of a person, ends all their sessions and links, and creates a new session.
// Errors: [ErrRevoked]; [ErrNotFound]; [ErrLastCredential] if the person has no passkey.
func (s *Store) RemovePassword(ctx context.Context, by access.Principal, of Session, session [sha256.Size]byte) error {
	return s.revokeInTransaction(ctx, of.PersonID, func(tx pgx.Tx) error {
		if _, err := s.authorize(ctx, tx, by, of.PersonID); err != nil {
			return err
		}
		if _, err := lockPerson(ctx, tx, of.PersonID); err != nil {
			return err
		}
		remaining, err := countPasskeys(ctx, tx, of.PersonID)
		if err == nil && remaining == 0 {
			return ErrLastCredential
		}
		if err != nil {
			return err
		}
		if err := changePassword(ctx, tx, of.PersonID, "", of.CreatedAt); err != nil {
			return err
		}
		return addSession(ctx, tx, of, session)
	})
}

// restartSessions ends every session and link of a person, and creates a new session.
func restartSessions(ctx context.Context, tx pgx.Tx, of Session, session [sha256.Size]byte) error {
	if err := endAllAccess(ctx, tx, of.PersonID, of.CreatedAt); err != nil {
		return err
	}
	return addSession(ctx, tx, of, session)
}
