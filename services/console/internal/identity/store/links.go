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
)

// Purpose is the purpose of a link: to sign in, or to set a password. A link can be used only for its own purpose.
type Purpose string

// The purposes of links.
const (
	PurposeSignIn   Purpose = "sign_in"
	PurposePassword Purpose = "password" // a person who opens the link can choose a password
)

// Link is a link with which a person signs in or sets a password. It can be used once.
type Link struct {
	PersonID  uuid.UUID
	Purpose   Purpose
	Verifies  bool // using the link verifies the address: the link was mailed or came from an operator
	ExpiresAt time.Time
}

// AddLink stores a link of a person. The argument `hash` is the hash of the link's secret.
func (s *Store) AddLink(ctx context.Context, l Link, hash [sha256.Size]byte) error {
	return addLink(ctx, s.pool, l, hash)
}

// AddInvitation stores a link, as [Store.AddLink] does. The link is mailed to an invited person. The argument `by` is
// the inviter. The argument `businessID` is the nil UUID if the person is invited to be an operator. Errors:
// [ErrRevoked]. Faults: business_not_found, forbidden.
func (s *Store) AddInvitation(ctx context.Context, by access.Principal, businessID uuid.UUID, l Link,
	hash [sha256.Size]byte) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := s.authorizeTeamWrite(ctx, tx, by, businessID); err != nil {
			return err
		}
		return addLink(ctx, tx, l, hash)
	})
}

// ErrKnownElsewhere means that the principal must not see a link of the person. The person is verified, an operator, or
// a member of a business whose team the principal does not manage. With the link, the principal could sign in as the
// person and use rights that the principal does not have.
var ErrKnownElsewhere = errors.New("is known elsewhere")

// AddSharedLink stores a link that the principal sees and passes on to the invited person. It has the same arguments as
// [Store.AddInvitation]. The link verifies the person's address only if the principal is an operator. Errors:
// [ErrRevoked], [ErrKnownElsewhere]. Faults: business_not_found, forbidden.
func (s *Store) AddSharedLink(ctx context.Context, by access.Principal, businessID uuid.UUID, l Link,
	hash [sha256.Size]byte) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		now, err := s.authorizeTeamWrite(ctx, tx, by, businessID, l.PersonID)
		if err != nil {
			return err
		}
		if l.Verifies = now.IsOperator; !now.IsOperator {
			if err := requireManagedPerson(ctx, tx, now, l.PersonID); err != nil {
				return err
			}
		}
		return addLink(ctx, tx, l, hash)
	})
}

// requireManagedPerson returns [ErrKnownElsewhere] if a person is verified, an operator, or a member of a business
// whose team the principal does not manage.
func requireManagedPerson(ctx context.Context, tx pgx.Tx, by access.Principal, personID uuid.UUID) error {
	person, err := lockPerson(ctx, tx, personID)
	if err != nil {
		return err
	}
	members, err := postgres.Rows(ctx, tx, scanMember, "read a person's businesses", membersSQL, personID)
	if err == nil && (person.IsVerified || person.IsOperator || !by.ManagesTeams(members)) {
		err = ErrKnownElsewhere
	}
	return err
}

func addLink(ctx context.Context, to executor, l Link, hash [sha256.Size]byte) error {
	_, err := to.Exec(ctx,
		`INSERT INTO links (hash, person_id, purpose, verifies, expires_at) VALUES ($1, $2, $3, $4, $5)`,
		hash[:], l.PersonID, l.Purpose, l.Verifies, l.ExpiresAt)
	if err != nil {
		return fmt.Errorf("add a link: %w", err)
	}
	return nil
}

// FindPersonByLink returns the person of a link with the given purpose, if the link is valid at the instant `now`. The
// link stays valid. Errors: [ErrNotFound].
func (s *Store) FindPersonByLink(ctx context.Context, hash [sha256.Size]byte, purpose Purpose,
	now time.Time) (Person, error) {
	p, err := postgres.Row(ctx, s.pool, pgx.RowToStructByPos[Person], "look up a link", `
		SELECT `+personColumns+` FROM links JOIN people ON people.id = links.person_id
		WHERE links.hash = $1 AND links.purpose = $2 AND links.expires_at > $3`, hash[:], purpose, now)
	return p, toNotFound(err)
}

// SignInByLink deletes a link and creates a session of the link's person, in one transaction. If the link verifies the
// address for the first time, SignInByLink ends all access that other people may have had as this person. A link that
// does not verify the address cannot sign in a person who is already verified. Errors: [ErrNotFound].
func (s *Store) SignInByLink(ctx context.Context, link [sha256.Size]byte, of Session,
	session [sha256.Size]byte) (uuid.UUID, error) {
	return s.useLink(ctx, link, PurposeSignIn, of, session, func(context.Context, pgx.Tx, uuid.UUID) error {
		return nil
	})
}

// SetPasswordByLink deletes a link for a password and stores the hash of the chosen password, in one transaction. It
// also deletes the person's passkeys, ends all their sessions and links, and creates a new session. Errors:
// [ErrNotFound].
func (s *Store) SetPasswordByLink(ctx context.Context, link [sha256.Size]byte, passwordHash string, of Session,
	session [sha256.Size]byte) (uuid.UUID, error) {
	return s.useLink(ctx, link, PurposePassword, of, session,
		func(ctx context.Context, tx pgx.Tx, personID uuid.UUID) error {
			if err := deleteCredentials(ctx, tx, personID); err != nil {
				return err
			}
			return changePassword(ctx, tx, personID, passwordHash, of.CreatedAt)
		})
}

// useLink uses a link in one transaction: it deletes the link, calls the function `act`, and creates a session of the
// person. It returns the person's id.
func (s *Store) useLink(ctx context.Context, link [sha256.Size]byte, purpose Purpose, of Session,
	session [sha256.Size]byte, act func(context.Context, pgx.Tx, uuid.UUID) error) (uuid.UUID, error) {
	owner, err := s.FindPersonByLink(ctx, link, purpose, of.CreatedAt)
	if err != nil {
		return uuid.Nil, err
	}
	of.PersonID = owner.ID
	ctx = withPersonActor(ctx, owner.ID)
	err = s.revokeInTransaction(ctx, owner.ID, func(tx pgx.Tx) error {
		person, err := lockPerson(ctx, tx, of.PersonID)
		if err != nil {
			return err
		}
		var verifies bool
		if err := tx.QueryRow(ctx, `DELETE FROM links WHERE hash = $1 RETURNING verifies`,
			link[:]).Scan(&verifies); err != nil {
			return toNotFound(err)
		}
		switch {
		case person.IsVerified && !verifies:
			return ErrNotFound
		case verifies && !person.IsVerified:
			if err := verify(ctx, tx, of.PersonID, of.CreatedAt); err != nil {
				return err
			}
		}
		if err := act(ctx, tx, of.PersonID); err != nil {
			return err
		}
		return addSession(ctx, tx, of, session)
	})
	return of.PersonID, err
}

// verify marks the address of a person as verified. It also ends all access that other people may have had as this
// person.
func verify(ctx context.Context, tx pgx.Tx, personID uuid.UUID, now time.Time) error {
	if _, err := tx.Exec(ctx, `UPDATE people SET verified_at = $2 WHERE id = $1`, personID, now); err != nil {
		return err
	}
	if err := deleteCredentials(ctx, tx, personID); err != nil {
		return err
	}
	if err := recordEvent(ctx, tx, event.MemberJoined, personID, uuid.Nil, now); err != nil {
		return err
	}
	return endAllAccess(ctx, tx, personID, now)
}

// deleteCredentials deletes the password, the passkeys and the stored browsers of a person. Callers use it if another
// person, such as an inviter, may have added them.
func deleteCredentials(ctx context.Context, tx pgx.Tx, personID uuid.UUID) error {
	if _, err := tx.Exec(ctx, `DELETE FROM known_browsers WHERE person_id = $1`, personID); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `DELETE FROM passkeys WHERE person_id = $1`, personID); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `UPDATE people SET password_hash = NULL WHERE id = $1`, personID)
	return err
}

// endAllAccess ends all sessions and links of a person, and disconnects all programs that they connected by `slotmesh
// login`.
func endAllAccess(ctx context.Context, tx pgx.Tx, personID uuid.UUID, now time.Time) error {
	if err := endDevices(ctx, tx, personID, now); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `DELETE FROM links WHERE person_id = $1`, personID); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `DELETE FROM sessions WHERE person_id = $1`, personID)
	return err
}

// endUnverifiedAccess ends all sessions of a person, disconnects their programs, and deletes the links that do not
// verify the person's address. It keeps mailed links, which verify the address, because another business may have sent
// these links.
func endUnverifiedAccess(ctx context.Context, tx pgx.Tx, personID uuid.UUID, now time.Time) error {
	if err := endDevices(ctx, tx, personID, now); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `DELETE FROM links WHERE person_id = $1 AND NOT verifies`, personID); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `DELETE FROM sessions WHERE person_id = $1`, personID)
	return err
}
