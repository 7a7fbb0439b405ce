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
	ForSignIn   Purpose = "sign_in"
	ForPassword Purpose = "password" // the bearer of the link can choose a password
)

// Link is a link by which a person signs in or sets a password. It can be used once.
type Link struct {
	PersonID  uuid.UUID
	Purpose   Purpose
	Verifies  bool // using the link verifies the address, because an operator or a mail vouches for the bearer
	ExpiresAt time.Time
}

// AddLink stores a link of a person. The argument `hash` is the hash of the link's secret.
func (s *Store) AddLink(ctx context.Context, l Link, hash [sha256.Size]byte) error {
	return addLink(ctx, s.pool, l, hash)
}

// AddInvitation stores a link that is mailed to an invited person. It works as [Store.AddLink] does. The argument `by`
// is the inviter. The argument `businessID` is the nil UUID if the person is invited to be an operator. Errors:
// [ErrRevoked]. Faults: business_not_found, forbidden.
func (s *Store) AddInvitation(ctx context.Context, by access.Principal, businessID uuid.UUID, l Link,
	hash [sha256.Size]byte) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := s.authorizeIn(ctx, tx, by, businessID); err != nil {
			return err
		}
		return addLink(ctx, tx, l, hash)
	})
}

// ErrKnownElsewhere means that the principal must not see a link of the person. The person is verified, an operator, or
// a member of a business whose team the principal does not manage. With the link, the principal could sign in as the
// person and use rights that the principal does not have.
var ErrKnownElsewhere = errors.New("is known elsewhere")

// AddHandedLink stores a link that the principal sees and passes on to the person. It works as [Store.AddInvitation]
// does. The link verifies the person's address only if the principal is an operator. Errors: [ErrRevoked],
// [ErrKnownElsewhere]. Faults: business_not_found, forbidden.
func (s *Store) AddHandedLink(ctx context.Context, by access.Principal, businessID uuid.UUID, l Link,
	hash [sha256.Size]byte) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		now, err := s.authorizeIn(ctx, tx, by, businessID, l.PersonID)
		if err != nil {
			return err
		}
		if l.Verifies = now.Operator; !now.Operator {
			if err := requireOwn(ctx, tx, now, l.PersonID); err != nil {
				return err
			}
		}
		return addLink(ctx, tx, l, hash)
	})
}

// requireOwn returns [ErrKnownElsewhere] if a person is verified, an operator, or a member of a business whose team the
// principal does not manage.
func requireOwn(ctx context.Context, tx pgx.Tx, by access.Principal, personID uuid.UUID) error {
	person, err := lockPerson(ctx, tx, personID)
	if err != nil {
		return err
	}
	known, err := postgres.Rows(ctx, tx, scanMember, "read a person's businesses", membersSQL, personID)
	if err == nil && (person.Verified || person.Operator || !by.ManagesTeams(known)) {
		err = ErrKnownElsewhere
	}
	return err
}

func addLink(ctx context.Context, to execer, l Link, hash [sha256.Size]byte) error {
	_, err := to.Exec(ctx,
		`INSERT INTO links (hash, person_id, purpose, verifies, expires_at) VALUES ($1, $2, $3, $4, $5)`,
		hash[:], l.PersonID, l.Purpose, l.Verifies, l.ExpiresAt)
	if err != nil {
		return fmt.Errorf("add a link: %w", err)
	}
	return nil
}

// PersonByLink returns the person of a link with this purpose, if the link is valid at the instant `now`. The link
// stays valid. Errors: [ErrNotFound].
func (s *Store) PersonByLink(ctx context.Context, hash [sha256.Size]byte, purpose Purpose,
	now time.Time) (Person, error) {
	p, err := postgres.Row(ctx, s.pool, pgx.RowToStructByPos[Person], "look up a link", `
		SELECT `+personColumns+` FROM links JOIN people ON people.id = links.person_id
		WHERE links.hash = $1 AND links.purpose = $2 AND links.expires_at > $3`, hash[:], purpose, now)
	return p, found(err)
}

// SignInByLink deletes a link and creates a session of the link's person, in one transaction. If the link verifies the
// address for the first time, SignInByLink ends all access that other people may have had as this person. A link that
// does not verify the address cannot sign in a person who is already verified. Errors: [ErrNotFound].
func (s *Store) SignInByLink(ctx context.Context, link [sha256.Size]byte, of Session,
	session [sha256.Size]byte) (uuid.UUID, error) {
	return s.byLink(ctx, link, ForSignIn, of, session, func(context.Context, pgx.Tx, uuid.UUID) error { return nil })
}

// SetPasswordByLink deletes a link for a password and stores the hash of the chosen password, in one transaction. It
// also deletes the person's passkeys, ends all their sessions and links, and creates a new session. Errors:
// [ErrNotFound].
func (s *Store) SetPasswordByLink(ctx context.Context, link [sha256.Size]byte, passwordHash string, of Session,
	session [sha256.Size]byte) (uuid.UUID, error) {
	return s.byLink(ctx, link, ForPassword, of, session,
		func(ctx context.Context, tx pgx.Tx, personID uuid.UUID) error {
			if err := forgetCredentials(ctx, tx, personID); err != nil {
				return err
			}
			return changePassword(ctx, tx, personID, passwordHash, of.CreatedAt)
		})
}

// byLink uses a link in one transaction: it deletes the link, calls the function `do`, and creates a session of the
// person. It returns the person's id.
func (s *Store) byLink(ctx context.Context, link [sha256.Size]byte, purpose Purpose, of Session,
	session [sha256.Size]byte, do func(context.Context, pgx.Tx, uuid.UUID) error) (uuid.UUID, error) {
	whose, err := s.PersonByLink(ctx, link, purpose, of.CreatedAt)
	if err != nil {
		return uuid.Nil, err
	}
	of.PersonID = whose.ID
	ctx = as(ctx, whose.ID)
	err = s.revoking(ctx, whose.ID, func(tx pgx.Tx) error {
		person, err := lockPerson(ctx, tx, of.PersonID)
		if err != nil {
			return err
		}
		var verifies bool
		if err := tx.QueryRow(ctx, `DELETE FROM links WHERE hash = $1 RETURNING verifies`,
			link[:]).Scan(&verifies); err != nil {
			return found(err)
		}
		switch {
		case person.Verified && !verifies:
			return ErrNotFound
		case verifies && !person.Verified:
			if err := verify(ctx, tx, of.PersonID, of.CreatedAt); err != nil {
				return err
			}
		}
		if err := do(ctx, tx, of.PersonID); err != nil {
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
	if err := forgetCredentials(ctx, tx, personID); err != nil {
		return err
	}
	if err := record(ctx, tx, event.MemberJoined, personID, uuid.Nil, now); err != nil {
		return err
	}
	return endAll(ctx, tx, personID, now)
}

// forgetCredentials deletes the password, the passkeys and the stored browsers of a person, because another person may
// have set them.
func forgetCredentials(ctx context.Context, tx pgx.Tx, personID uuid.UUID) error {
	if _, err := tx.Exec(ctx, `DELETE FROM known_browsers WHERE person_id = $1`, personID); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `DELETE FROM passkeys WHERE person_id = $1`, personID); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `UPDATE people SET password_hash = NULL WHERE id = $1`, personID)
	return err
}

// endAll ends all sessions and links of a person, and disconnects all programs that they connected by `slotmesh login`.
func endAll(ctx context.Context, tx pgx.Tx, personID uuid.UUID, now time.Time) error {
	if err := endDevices(ctx, tx, personID, now); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `DELETE FROM links WHERE person_id = $1`, personID); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `DELETE FROM sessions WHERE person_id = $1`, personID)
	return err
}

// endUnverified ends all sessions of a person, disconnects their programs, and deletes the links that do not verify
// their address. It keeps the links that were mailed, because another business may have sent them.
func endUnverified(ctx context.Context, tx pgx.Tx, personID uuid.UUID, now time.Time) error {
	if err := endDevices(ctx, tx, personID, now); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `DELETE FROM links WHERE person_id = $1 AND NOT verifies`, personID); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `DELETE FROM sessions WHERE person_id = $1`, personID)
	return err
}
