package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

// GroupOperatorLifetime is the lifetime of an operator right that comes from a group of the identity provider. The time
// begins at the person's last sign-in by the provider.
const GroupOperatorLifetime = 12 * time.Hour

// ErrLastOperator means that the change would leave the installation without an operator.
var ErrLastOperator = errors.New("is the last operator")

// Operator is a person with the operator right, with the number of their sessions and the time of their last request.
type Operator struct {
	Person
	Sessions   int        // number of sessions that have not ended
	LastSeenAt *time.Time // time of the last request in any session, accurate to one minute
}

// notLapsedSQL is the SQL condition that the operator right of a person has not lapsed. A right can lapse only if a
// group of the identity provider made the person an operator. The right has lapsed if the person's last sign-in by the
// provider was at or before the time in the parameter %s.
const notLapsedSQL = `(people.operator_vouched_at IS NULL OR people.operator_vouched_at > %s)`

// ListOperators lists the people who are operators at the instant `now`, in the order in which they were added. It also
// returns the cursor of the next page, or "" after the last page. Fault: invalid_parameter for a cursor that
// ListOperators did not return.
func (s *Store) ListOperators(ctx context.Context, now time.Time, page request.Page) ([]Operator, string, error) {
	after, afterID, err := page.AfterTime()
	if err != nil {
		return nil, "", err
	}
	list, err := postgres.Rows(ctx, s.pool, scanOperator, "list operators", `
		SELECT `+personColumns+`, live.n, live.last
		FROM people CROSS JOIN LATERAL (
		    SELECT count(*)::int AS n, max(last_seen_at) AS last FROM sessions WHERE person_id = people.id AND last_seen_at > $1 AND created_at > $2
		) AS live
		WHERE people.operator AND `+fmt.Sprintf(notLapsedSQL, "$3")+` AND ($4::timestamptz IS NULL OR (people.created_at, people.id) > ($4, $5))
		ORDER BY people.created_at, people.id LIMIT $6`,
		now.Add(-MaxSessionIdle), now.Add(-MaxSessionAge), now.Add(-GroupOperatorLifetime), after, afterID,
		page.Limit+1)
	if err != nil {
		return nil, "", err
	}
	list, next := request.Cut(list, page.Limit, func(o Operator) string { return request.ByTime(o.CreatedAt, o.ID) })
	return list, next, nil
}

func scanOperator(row pgx.CollectableRow) (Operator, error) {
	var o Operator
	err := row.Scan(append(o.scanTargets(), &o.Sessions, &o.LastSeenAt)...)
	return o, err
}

// DemoteOperator removes the operator right of a person, idempotently. It ends the person's sessions and links, and
// revokes the tokens that they created as an operator. Errors: [ErrRevoked], [ErrNotFound], [ErrLastOperator], the
// errors of postgres.WriteIdempotently. Faults: forbidden; outcome_unknown.
func (s *Store) DemoteOperator(ctx context.Context, by access.Principal, personID uuid.UUID, now time.Time) error {
	return s.runOperatorChange(ctx, by, personID, func(ctx context.Context, tx pgx.Tx) (struct{}, error) {
		// The transaction locks all operators in a fixed order. So if two operators demote each other at the same time,
		// one of them stays an operator.
		all, err := postgres.Rows(ctx, tx, pgx.RowTo[uuid.UUID], "lock the operators", `
			SELECT id FROM people WHERE operator AND `+fmt.Sprintf(notLapsedSQL, "$1")+` ORDER BY id FOR UPDATE`, now.Add(-GroupOperatorLifetime))
		if err != nil {
			return struct{}{}, err
		}
		if err := requireOneOf(personID, all); err != nil {
			return struct{}{}, err
		}
		if len(all) == 1 {
			return struct{}{}, ErrLastOperator
		}
		return struct{}{}, errors.Join(demote(ctx, tx, personID, now), endAllAccess(ctx, tx, personID, now))
	})
}

// runOperatorChange runs, idempotently, a change that removes rights of an operator. The argument `by` is the operator
// who makes the change. The argument `personID` is the id of the operator who loses rights.
func (s *Store) runOperatorChange(ctx context.Context, by access.Principal, personID uuid.UUID,
	change func(context.Context, pgx.Tx) (struct{}, error)) error {
	_, err := runRevocation(ctx, s.pool, personID, func() (struct{}, error) {
		return postgres.WriteIdempotently(ctx, s.pool, uuid.Nil, func(ctx context.Context, tx pgx.Tx) (struct{},
			error) {
			if _, err := s.authorizeTeamWrite(ctx, tx, by, uuid.Nil, personID); err != nil {
				return struct{}{}, err
			}
			return change(ctx, tx)
		})
	})
	return err
}

func requireOneOf(id uuid.UUID, all []uuid.UUID) error {
	for _, one := range all {
		if one == id {
			return nil
		}
	}
	return ErrNotFound
}

// SignOutOperator ends an operator's sessions and links, and revokes the tokens that they created as an operator,
// idempotently. The person stays an operator. Errors: [ErrRevoked], [ErrNotFound], the errors of
// postgres.WriteIdempotently. Faults: forbidden; outcome_unknown.
func (s *Store) SignOutOperator(ctx context.Context, by access.Principal, personID uuid.UUID, now time.Time) error {
	return s.runOperatorChange(ctx, by, personID, func(ctx context.Context, tx pgx.Tx) (struct{}, error) {
		person, err := lockPerson(ctx, tx, personID)
		if err == nil && !person.IsOperator {
			err = ErrNotFound
		}
		if err != nil {
			return struct{}{}, err
		}
		return struct{}{}, errors.Join(revokeOperatorTokens(ctx, tx, personID, now),
			endAllAccess(ctx, tx, personID, now))
	})
}

// demote removes the operator right of a person, and revokes the tokens that they created as an operator.
func demote(ctx context.Context, tx pgx.Tx, personID uuid.UUID, now time.Time) error {
	if _, err := tx.Exec(ctx, `UPDATE people SET operator = false, operator_vouched_at = NULL WHERE id = $1`,
		personID); err != nil {
		return fmt.Errorf("demote an operator: %w", err)
	}
	return revokeOperatorTokens(ctx, tx, personID, now)
}

// revokeOperatorTokens revokes the tokens that a person could create only as an operator, and the tokens that were
// created with these tokens. Two kinds of tokens need an operator as their creator: tokens with the role of an
// operator, and tokens of businesses to which the creator does not belong.
func revokeOperatorTokens(ctx context.Context, tx pgx.Tx, personID uuid.UUID, now time.Time) error {
	err := revoke(ctx, tx, `SELECT id FROM tokens WHERE created_by = @person_id AND NOT EXISTS (
		SELECT FROM members WHERE members.person_id = @person_id AND members.business_id = tokens.business_id)`,
		pgx.NamedArgs{"person_id": personID}, now)
	if err != nil {
		return fmt.Errorf("end an operator's tokens: %w", err)
	}
	return nil
}

// demoteLapsed demotes a person whom a group of the identity provider made an operator, and ends their sessions. If
// less than [GroupOperatorLifetime] has passed since the person's last sign-in by the provider, demoteLapsed changes
// nothing.
func demoteLapsed(ctx context.Context, tx pgx.Tx, personID uuid.UUID, now time.Time) error {
	if err := lockRights(ctx, tx, uuid.Nil, personID); err != nil {
		return err
	}
	var lapsed bool
	err := tx.QueryRow(ctx, `SELECT operator AND NOT `+fmt.Sprintf(notLapsedSQL, "$2")+
		` FROM people WHERE id = $1 FOR UPDATE`,
		personID, now.Add(-GroupOperatorLifetime)).Scan(&lapsed)
	if err != nil || !lapsed {
		return err
	}
	if err := demote(withPersonActor(ctx, personID), tx, personID, now); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `DELETE FROM sessions WHERE person_id = $1`, personID)
	return err
}

// demoteAllLapsed demotes all operators whose right has lapsed. The right of an operator can lapse only
// if a group of the identity provider made the person an operator.
func (s *Store) demoteAllLapsed(ctx context.Context, now time.Time) error {
	due, err := postgres.Rows(ctx, s.pool, pgx.RowTo[uuid.UUID], "list operators whose right lapses", `
		SELECT id FROM people WHERE operator AND NOT `+fmt.Sprintf(notLapsedSQL, "$1"), now.Add(-GroupOperatorLifetime))
	if err != nil {
		return err
	}
	for _, id := range due {
		if err := pgx.BeginFunc(ctx, s.pool,
			func(tx pgx.Tx) error { return demoteLapsed(ctx, tx, id, now) }); err != nil {
			return err
		}
	}
	return nil
}
