package store

import (
	"context"
	"crypto/sha256"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// SignInVouched keeps a session of a person of whom a provider says that the address is theirs, in one transaction. The first time that they are vouched
// for ends whatever others may have done as them. Where operator is not nil, it says whether they are one from now on; a change ends their sessions, and the tokens
// of operators that they made.
func (s *Store) SignInVouched(ctx context.Context, operator *bool, of Session, session [sha256.Size]byte) error {
	ctx = as(ctx, of.PersonID)
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		person, err := lockPerson(ctx, tx, of.PersonID)
		if err != nil {
			return err
		}
		if !person.Verified {
			if err := verify(ctx, tx, person.ID, of.CreatedAt); err != nil {
				return err
			}
		}
		if operator != nil && *operator != person.Operator {
			if _, err := tx.Exec(ctx, `UPDATE people SET operator = $2 WHERE id = $1`, person.ID, *operator); err != nil {
				return err
			}
			if err := revokeMadeBy(ctx, tx, uuid.Nil, person.ID, of.CreatedAt); err != nil { // an operator's
				return err
			}
			if err := endAll(ctx, tx, person.ID); err != nil {
				return err
			}
		}
		return addSession(ctx, tx, of, session)
	})
}
