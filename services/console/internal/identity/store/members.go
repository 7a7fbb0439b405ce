package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

// ErrLastOwner means that the change would leave the business without an owner.
var ErrLastOwner = errors.New("is the last owner")

// TeamMember is a person with their role in one business.
type TeamMember struct {
	access.Member
	Person   Person
	JoinedAt time.Time
}

const teamSQL = `
	SELECT members.business_id, members.role, coalesce(members.staff_id, '00000000-0000-0000-0000-000000000000'), members.locations, members.created_at, ` + personColumns + `
	FROM members JOIN people ON people.id = members.person_id WHERE members.business_id = $1 `

func scanTeamMember(row pgx.CollectableRow) (TeamMember, error) {
	var m TeamMember
	err := row.Scan(append([]any{&m.BusinessID, &m.Role, &m.StaffID, &m.Locations, &m.JoinedAt},
		m.Person.scanTargets()...)...)
	return m, err
}

// ListMembers lists the members of a business in the order in which they joined. It returns the cursor of the next
// page, or "" after the last page. Fault: invalid_parameter for a cursor that ListMembers did not return.
func (s *Store) ListMembers(ctx context.Context, businessID uuid.UUID,
	page request.Page) ([]TeamMember, string, error) {
	after, afterID, err := page.AfterTime()
	if err != nil {
		return nil, "", err
	}
	list, err := postgres.Rows(ctx, s.pool, scanTeamMember, "list members", teamSQL+`
		AND ($2::timestamptz IS NULL OR (members.created_at, members.person_id) > ($2, $3)) ORDER BY members.created_at, members.person_id LIMIT $4`,
		businessID, after, afterID, page.Limit+1)
	if err != nil {
		return nil, "", err
	}
	list, next := request.Cut(list, page.Limit, func(m TeamMember) string {
		return request.ByTime(m.JoinedAt, m.Person.ID)
	})
	return list, next, nil
}

// maxOwners is the maximum number of owners of one business that [Store.ListOwners] returns.
const maxOwners = 100

// ListOwners returns the owners of a business, at most 100, in the order in which they joined.
func (s *Store) ListOwners(ctx context.Context, businessID uuid.UUID) ([]Person, error) {
	return postgres.Rows(ctx, s.pool, pgx.RowToStructByPos[Person], "list owners", `
		SELECT `+personColumns+` FROM members JOIN people ON people.id = members.person_id
		WHERE members.business_id = $1 AND members.role = 'owner' ORDER BY members.created_at, members.person_id LIMIT $2`, businessID, maxOwners)
}

// FindVerifiedMembers returns the e-mail addresses in `emails` that belong to verified people. Each of these people is
// a member of the business, or an operator at the instant `now`. The addresses must be in lower case.
func (s *Store) FindVerifiedMembers(
	ctx context.Context, businessID uuid.UUID, emails []string, now time.Time,
) ([]string, error) {
	return postgres.Rows(ctx, s.pool, pgx.RowTo[string], "look up verified members", `
		SELECT email FROM people WHERE email = ANY ($2) AND verified_at IS NOT NULL
		  AND (operator AND `+fmt.Sprintf(notLapsedSQL, "$3")+`
		       OR EXISTS (SELECT FROM members WHERE person_id = people.id AND business_id = $1))`,
		businessID, emails, now.Add(-GroupOperatorLifetime))
}

// FindVerifiedAddress returns the verified e-mail address of a person or of the person who created a token, directly or
// through other tokens. The argument `id` is the id of the person or of the token. Errors: [ErrNotFound].
func (s *Store) FindVerifiedAddress(ctx context.Context, id uuid.UUID) (string, error) {
	address, err := postgres.Row(ctx, s.pool, pgx.RowTo[string], "find a verified address", `
		WITH RECURSIVE makers AS (
		    SELECT $1::uuid AS id
		    UNION SELECT tokens.created_by FROM tokens JOIN makers ON tokens.id = makers.id
		)
		SELECT people.email FROM people JOIN makers ON makers.id = people.id WHERE people.verified_at IS NOT NULL`, id)
	return address, toNotFound(err)
}

// FindMember returns one member of a business. Errors: [ErrNotFound].
func (s *Store) FindMember(ctx context.Context, businessID, personID uuid.UUID) (TeamMember, error) {
	m, err := postgres.Row(ctx, s.pool, scanTeamMember, "read a member", teamSQL+`AND members.person_id = $2`,
		businessID, personID)
	return m, toNotFound(err)
}

// ChangeMember gives a member another role and other locations, idempotently. If `to.Locations` is nil, the member
// keeps the locations; but an owner has none. If the role or the locations change, ChangeMember revokes the tokens that
// the member created for the business. If the member then belongs to no other business, ChangeMember also ends their
// sessions. Errors: [ErrRevoked], [ErrNotFound], [ErrLastOwner], the errors of postgres.WriteIdempotently. Faults:
// business_not_found, forbidden; outcome_unknown.
func (s *Store) ChangeMember(ctx context.Context, by access.Principal, personID uuid.UUID, to access.Member,
	now time.Time) (TeamMember, error) {
	return runMemberChange(ctx, s, by, to.BusinessID, personID, to.Role, to.Locations, now,
		func(ctx context.Context, tx pgx.Tx) (TeamMember, error) {
			_, err := tx.Exec(ctx, `
			UPDATE members SET role = $3, staff_id = nullif($4, '00000000-0000-0000-0000-000000000000'::uuid),
			    locations = CASE WHEN $3 = 'owner' THEN '{}' ELSE coalesce($5, locations) END
			WHERE business_id = $1 AND person_id = $2`, to.BusinessID, personID, to.Role, to.StaffID, to.Locations)
			if err != nil {
				return TeamMember{}, err
			}
			if err := recordEvent(ctx, tx, event.MemberChanged, personID, to.BusinessID, now); err != nil {
				return TeamMember{}, err
			}
			return postgres.Row(ctx, tx, scanTeamMember, "read a member", teamSQL+`AND members.person_id = $2`,
				to.BusinessID, personID)
		})
}

// AddOwner makes the signed-in person the owner of a business that is about to be created. If the person already belongs
// to the business, AddOwner changes nothing and returns false. The argument `limit` is the maximum number of businesses that the person may
// own before this one. Errors: [ErrRevoked], [ErrTooManyBusinesses].
func (s *Store) AddOwner(ctx context.Context, by access.Principal, businessID uuid.UUID, limit int,
	now time.Time) (bool, error) {
	isNew := false
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := s.authorize(ctx, tx, by, by.ID); err != nil {
			return err
		}
		members, err := postgres.Rows(ctx, tx, scanMember, "read a person's businesses", membersSQL, by.ID)
		if err != nil {
			return err
		}
		owned := 0
		for _, m := range members {
			if m.BusinessID == businessID {
				return nil
			}
			if m.Role == access.Owner {
				owned++
			}
		}
		if owned >= limit {
			return ErrTooManyBusinesses
		}
		isNew = true
		owner := access.Member{BusinessID: businessID, Role: access.Owner}
		return insertMember(ctx, tx, by.ID, owner, members, event.MemberJoined, now)
	})
	return isNew && err == nil, err
}

// DropOwner reverts [Store.AddOwner] for a business that was not created. Errors: [ErrRevoked].
func (s *Store) DropOwner(ctx context.Context, by access.Principal, businessID uuid.UUID, now time.Time) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := s.authorize(ctx, tx, by, by.ID); err != nil {
			return err
		}
		if err := recordEvent(ctx, tx, event.MemberRemoved, by.ID, businessID, now); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `DELETE FROM members WHERE business_id = $1 AND person_id = $2`, businessID, by.ID)
		return err
	})
}

// RemoveMember removes a person from a business, idempotently. It revokes the tokens that the person created for the
// business. If the person belongs to no other business, RemoveMember also ends their sessions. RemoveMember has the
// same errors and faults as [Store.ChangeMember].
func (s *Store) RemoveMember(ctx context.Context, by access.Principal, businessID, personID uuid.UUID,
	now time.Time) error {
	_, err := runMemberChange(ctx, s, by, businessID, personID, "", nil, now, func(ctx context.Context,
		tx pgx.Tx) (struct{}, error) {
		if err := recordEvent(ctx, tx, event.MemberRemoved, personID, businessID, now); err != nil {
			return struct{}{}, err
		}
		_, err := tx.Exec(ctx, `DELETE FROM members WHERE business_id = $1 AND person_id = $2`, businessID, personID)
		return struct{}{}, err
	})
	return err
}

// runMemberChange runs, idempotently, the function `change`, which changes or removes a member. The argument `to` is
// the role of the member after the change, or "" if the change removes the member. The argument `locations` has the
// member's locations after the change; nil keeps the locations.
//
// Before the change, runMemberChange locks the person, and then all owners of the business in a fixed order. If the
// last two owners demote each other at the same time, these locks make the second demotion wait and fail with
// [ErrLastOwner].
func runMemberChange[T any](
	ctx context.Context, s *Store, by access.Principal, businessID, personID uuid.UUID, to access.Role,
	locations []uuid.UUID, now time.Time,
	change func(context.Context, pgx.Tx) (T, error),
) (T, error) {
	return runRevocation(ctx, s.pool, personID, func() (T, error) {
		return postgres.WriteIdempotently(ctx, s.pool, businessID, func(ctx context.Context, tx pgx.Tx) (T, error) {
			var none T
			if _, err := s.authorizeTeamWrite(ctx, tx, by, businessID, personID); err != nil {
				return none, err
			}
			from, err := lockMember(ctx, tx, businessID, personID, to)
			if err != nil {
				return none, err
			}
			changed, err := change(ctx, tx)
			if err != nil || to == from.Role && (locations == nil || slices.Equal(locations, from.Locations)) {
				return changed, err
			}
			if err := revokeTokensOf(ctx, tx, businessID, personID, now); err != nil {
				return none, fmt.Errorf("end a member's tokens: %w", err)
			}
			return changed, endSessionsOfFormerMember(ctx, tx, businessID, personID, now)
		})
	})
}

// endSessionsOfFormerMember ends the sessions of a person who belongs to no other business and is not an operator. It
// keeps the sessions of any other person, because that person still uses the sessions for other businesses. Such a
// session gives no access to the business that the person left, because every request reads the person's current
// rights.
func endSessionsOfFormerMember(ctx context.Context, tx pgx.Tx, businessID, personID uuid.UUID, now time.Time) error {
	var elsewhere bool
	err := tx.QueryRow(ctx, `
		SELECT operator OR EXISTS (SELECT FROM members WHERE person_id = people.id AND business_id <> $2) FROM people WHERE id = $1`,
		personID, businessID).Scan(&elsewhere)
	if err != nil || elsewhere {
		return err
	}
	return endUnverifiedAccess(ctx, tx, personID, now)
}

// lockMember takes the locks that [runMemberChange] describes, and returns the member before the change.
func lockMember(ctx context.Context, tx pgx.Tx, businessID, personID uuid.UUID, to access.Role) (access.Member, error) {
	if _, err := lockPerson(ctx, tx, personID); err != nil {
		return access.Member{}, err
	}
	owners, err := postgres.Rows(ctx, tx, pgx.RowTo[uuid.UUID], "lock the owners", `
		SELECT person_id FROM members WHERE business_id = $1 AND role = 'owner' ORDER BY person_id FOR UPDATE`, businessID)
	if err != nil {
		return access.Member{}, err
	}
	from, err := postgres.Row(ctx, tx, scanMember, "lock a member", `
		SELECT business_id, role, coalesce(staff_id, '00000000-0000-0000-0000-000000000000'), locations
		FROM members WHERE business_id = $1 AND person_id = $2 FOR UPDATE`, businessID, personID)
	if err != nil {
		return access.Member{}, toNotFound(err)
	}
	if from.Role == access.Owner && to != access.Owner && len(owners) == 1 {
		return access.Member{}, ErrLastOwner
	}
	return from, nil
}
