package store

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/jackc/pgx/v5"
)

// SignInVouched creates a session of a person whose address an identity provider has verified, in one transaction. The
// first verification of an address ends everything that others may have done as this person. If operator is not nil, it
// sets whether the person is an operator, by their group. A change of this right ends the person's sessions and the
// tokens that they made as an operator. The right lapses [GroupOperatorGood] after the last such sign-in.
func (s *Store) SignInVouched(ctx context.Context, operator *bool, of Session, session [sha256.Size]byte) error {
	ctx = as(ctx, of.PersonID)
	return s.revoking(ctx, of.PersonID, func(tx pgx.Tx) error {
		if err := lapse(ctx, tx, of.PersonID, of.CreatedAt); err != nil {
			return err
		}
		person, err := lockPerson(ctx, tx, of.PersonID)
		if err != nil {
			return err
		}
		if !person.Verified {
			if err := verify(ctx, tx, person.ID, of.CreatedAt); err != nil {
				return err
			}
		}
		if operator != nil {
			if err := followGroup(ctx, tx, person, *operator, of.CreatedAt); err != nil {
				return err
			}
		}
		return addSession(ctx, tx, of, session)
	})
}

// followGroup sets whether a person is an operator, by their group at the instant now. An operator who was appointed by
// another operator keeps the right without an expiry while the group agrees.
func followGroup(ctx context.Context, tx pgx.Tx, person Person, operator bool, now time.Time) error {
	switch {
	case operator && person.Operator:
		_, err := tx.Exec(ctx, `UPDATE people SET operator_vouched_at = $2 WHERE id = $1 AND operator_vouched_at IS NOT NULL`, person.ID, now)
		return err
	case operator:
		if _, err := tx.Exec(ctx, `UPDATE people SET operator = true, operator_vouched_at = $2 WHERE id = $1`, person.ID, now); err != nil {
			return err
		}
	case person.Operator:
		if err := demote(ctx, tx, person.ID, now); err != nil {
			return err
		}
	default:
		return nil
	}
	return endAll(ctx, tx, person.ID, now)
}
