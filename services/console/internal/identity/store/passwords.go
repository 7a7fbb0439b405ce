package store

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

// Credentials is a person with the hash of their password. The hash is "" for a person without a password.
type Credentials struct {
	Person
	PasswordHash string
}

// FindCredentialsByEmail returns the person with an e-mail address, which must be in lower case. Errors: [ErrNotFound].
func (s *Store) FindCredentialsByEmail(ctx context.Context, email string) (Credentials, error) {
	c, err := postgres.Row(ctx, s.pool, scanCredentials, "look up a person", credentialsSQL+`people.email = $1`, email)
	return c, toNotFound(err)
}

// FindCredentials returns the person with the given id. Errors: [ErrNotFound].
func (s *Store) FindCredentials(ctx context.Context, personID uuid.UUID) (Credentials, error) {
	c, err := postgres.Row(ctx, s.pool, scanCredentials, "look up a person", credentialsSQL+`people.id = $1`, personID)
	return c, toNotFound(err)
}

const credentialsSQL = `SELECT ` + personColumns + `, coalesce(people.password_hash, '') FROM people WHERE `

func scanCredentials(row pgx.CollectableRow) (Credentials, error) {
	var c Credentials
	err := row.Scan(append(c.scanTargets(), &c.PasswordHash)...)
	return c, err
}

// SignInByPassword creates a session of a person, if the hash of their stored password is still `passwordHash`. The
// caller has already compared the typed password with this hash. The check of the hash is necessary because the person
// may have changed the password in the meantime. Errors: [ErrNotFound].
func (s *Store) SignInByPassword(ctx context.Context, passwordHash string, of Session,
	session [sha256.Size]byte) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := requirePassword(ctx, tx, of.PersonID, passwordHash); err != nil {
			return err
		}
		return addSession(ctx, tx, of, session)
	})
}

// ChangePassword replaces the hash of a person's password. The arguments `before` and `after` are the old and the new
// hash. The argument `before` is "" for a person without a password. ChangePassword ends all sessions and links of the
// person, and creates a new session. Errors: [ErrRevoked]; [ErrNotFound] if the stored hash is no longer the old one.
func (s *Store) ChangePassword(ctx context.Context, by access.Principal, before, after string, of Session,
	session [sha256.Size]byte) error {
	_, err := runRevocation(ctx, s.pool, of.PersonID, func() (struct{}, error) {
		return struct{}{}, pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			if _, err := s.authorize(ctx, tx, by, of.PersonID); err != nil {
				return err
			}
			if err := requirePassword(ctx, tx, of.PersonID, before); err != nil {
				return err
			}
			if err := changePassword(ctx, tx, of.PersonID, after, of.CreatedAt); err != nil {
				return err
			}
			return addSession(ctx, tx, of, session)
		})
	})
	return err
}

// requirePassword locks the row of a person. It returns [ErrNotFound] if the person's stored password does not have the
// given hash. The hash "" stands for a person without a password.
func requirePassword(ctx context.Context, tx pgx.Tx, personID uuid.UUID, hash string) error {
	if _, err := lockPerson(ctx, tx, personID); err != nil {
		return err
	}
	var isSame bool
	err := tx.QueryRow(ctx, `SELECT coalesce(password_hash, '') = $2 FROM people WHERE id = $1`, personID,
		hash).Scan(&isSame)
	if err == nil && !isSame {
		return ErrNotFound
	}
	return err
}

// changePassword stores the hash of a new password. The hash "" removes the password. changePassword also ends all
// sessions and links of the person.
func changePassword(ctx context.Context, tx pgx.Tx, personID uuid.UUID, hash string, now time.Time) error {
	if _, err := tx.Exec(ctx, `UPDATE people SET password_hash = nullif($2, '') WHERE id = $1`, personID,
		hash); err != nil {
		return err
	}
	statement := event.MemberPasswordChanged
	if hash == "" {
		statement = event.MemberPasswordRemoved
	}
	if err := recordEvent(ctx, tx, statement, personID, uuid.Nil, now); err != nil {
		return err
	}
	return endAllAccess(ctx, tx, personID, now)
}
