package store

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/jackc/pgx/v5"
)

// SignInVerified creates a session of a person whose address the identity provider has verified, in one transaction. If
// the address was not verified before, SignInVerified ends all access that other people may have had as this person.
//
// The argument `operator` points to true if the provider's group makes the person an operator, and to false if not. It
// is nil if the provider does not decide who is an operator. If the operator right changes, SignInVerified ends the
// person's sessions, and revokes the tokens that they created as an operator. A right from the group lapses
// [GroupOperatorLifetime] after the person's last sign-in by the provider.
func (s *Store) SignInVerified(ctx context.Context, operator *bool, of Session, session [sha256.Size]byte) error {
	ctx = withPersonActor(ctx, of.PersonID)
	return s.revokeInTransaction(ctx, of.PersonID, func(tx pgx.Tx) error {
		if err := demoteLapsed(ctx, tx, of.PersonID, of.CreatedAt); err != nil {
			return err
		}
		person, err := lockPerson(ctx, tx, of.PersonID)
		if err != nil {
			return err
		}
		if !person.IsVerified {
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

// followGroup gives a person the operator right if the provider's group contains the person. Otherwise it removes this
// right. The argument `operator` reports whether the group contains the person. The argument `now` is the time of the
// sign-in. A right that another operator gave does not lapse with time. But followGroup also removes such a right if
// the group does not contain the person.
func followGroup(ctx context.Context, tx pgx.Tx, person Person, operator bool, now time.Time) error {
	switch {
	case operator && person.IsOperator:
		_, err := tx.Exec(ctx, `UPDATE people SET operator_vouched_at = $2 WHERE id = $1 AND operator_vouched_at IS NOT NULL`, person.ID, now)
		return err
	case operator:
		if _, err := tx.Exec(ctx, `UPDATE people SET operator = true, operator_vouched_at = $2 WHERE id = $1`,
			person.ID, now); err != nil {
			return err
		}
	case person.IsOperator:
		if err := demote(ctx, tx, person.ID, now); err != nil {
			return err
		}
	default:
		return nil
	}
	return endAllAccess(ctx, tx, person.ID, now)
}
