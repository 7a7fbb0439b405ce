package store

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/postgres"
)

// Link signs a person in, once.
type Link struct {
	PersonID  uuid.UUID
	Verifies  bool // whoever has it is the person, as an operator says
	ExpiresAt time.Time
}

// AddLink keeps a link by the hash of its secret.
func (s *Store) AddLink(ctx context.Context, l Link, hash [sha256.Size]byte) error {
	_, err := s.pool.Exec(ctx, `INSERT INTO links (hash, person_id, verifies, expires_at) VALUES ($1, $2, $3, $4)`, hash[:], l.PersonID, l.Verifies, l.ExpiresAt)
	if err != nil {
		return fmt.Errorf("add a link: %w", err)
	}
	return nil
}

// PersonByLink returns whom a link signs in that is good at the instant now, and uses nothing up. Errors: [ErrNotFound].
func (s *Store) PersonByLink(ctx context.Context, hash [sha256.Size]byte, now time.Time) (Person, error) {
	p, err := postgres.Row(ctx, s.pool, pgx.RowToStructByPos[Person], "look up a link", `
		SELECT `+personColumns+` FROM links JOIN people ON people.id = links.person_id
		WHERE links.hash = $1 AND links.expires_at > $2`, hash[:], now)
	return p, found(err)
}

// SignInByLink uses a link up and keeps a session of its person, in one transaction. The first link that verifies a person ends whatever others
// may have done as them; one that does not is good for nobody who is verified. Errors: [ErrNotFound].
func (s *Store) SignInByLink(ctx context.Context, link [sha256.Size]byte, of Session, session [sha256.Size]byte) (uuid.UUID, error) {
	whose, err := s.PersonByLink(ctx, link, of.CreatedAt)
	if err != nil {
		return uuid.Nil, err
	}
	of.PersonID = whose.ID
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		person, err := lockPerson(ctx, tx, of.PersonID)
		if err != nil {
			return err
		}
		var verifies bool
		if err := tx.QueryRow(ctx, `DELETE FROM links WHERE hash = $1 RETURNING verifies`, link[:]).Scan(&verifies); err != nil {
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
		return addSession(ctx, tx, of, session)
	})
	return of.PersonID, err
}

// verify notes that a person is who they are, and ends the sessions and links from before.
func verify(ctx context.Context, tx pgx.Tx, personID uuid.UUID, now time.Time) error {
	if _, err := tx.Exec(ctx, `UPDATE people SET verified_at = $2 WHERE id = $1`, personID, now); err != nil {
		return err
	}
	return endAll(ctx, tx, personID)
}

// endAll ends every session and link of a person.
func endAll(ctx context.Context, tx pgx.Tx, personID uuid.UUID) error {
	if _, err := tx.Exec(ctx, `DELETE FROM links WHERE person_id = $1`, personID); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `DELETE FROM sessions WHERE person_id = $1`, personID)
	return err
}
