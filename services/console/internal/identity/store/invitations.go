package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

// InvitationLifetime is how long a person can accept an invitation.
const InvitationLifetime = 7 * 24 * time.Hour

// maxInvitations is the maximum number of open invitations of a business.
const maxInvitations = 200

// ErrTooManyInvitations means that a business already has the maximum number of open invitations.
var ErrTooManyInvitations = errors.New("has too many open invitations")

// Invitation invites a person who already has an account into a business. Until the person accepts, the business sees
// only the person's e-mail address.
type Invitation struct {
	access.Member
	ID        uuid.UUID
	Email     string // in lower case
	CreatedAt time.Time
	ExpiresAt time.Time
}

const invitationColumns = `business_id, role, coalesce(staff_id, '00000000-0000-0000-0000-000000000000'), locations, id, email, created_at, expires_at`

func scanInvitation(row pgx.CollectableRow) (Invitation, error) {
	var i Invitation
	err := row.Scan(&i.BusinessID, &i.Role, &i.StaffID, &i.Locations, &i.ID, &i.Email, &i.CreatedAt, &i.ExpiresAt)
	return i, err
}

// Invite makes a person a member of a business at once. But if `mustAccept` returns true, Invite stores an invitation
// that the person must accept. Invite is idempotent. The function `mustAccept` receives the principal with their
// current rights, the person, and the person's memberships. Invite returns the stored invitation; its id is the nil
// UUID if the person is a member now. Invite does not change a member who already has the role in `m`.
//
// If a person whose address is not verified becomes a member, Invite deletes their credentials, because an earlier
// inviter may have set these credentials. Errors: [ErrRevoked], [ErrAlreadyMember], [ErrTooManyBusinesses],
// [ErrTooManyInvitations], the errors of postgres.WriteIdempotently. Faults: business_not_found, forbidden.
func (s *Store) Invite(
	ctx context.Context, by access.Principal, personID uuid.UUID, m access.Member, now time.Time,
	mustAccept func(access.Principal, Person, []access.Member) bool,
) (Invitation, error) {
	return postgres.WriteIdempotently(ctx, s.pool, m.BusinessID, func(ctx context.Context, tx pgx.Tx) (Invitation,
		error) {
		by, err := s.authorizeTeamWrite(ctx, tx, by, m.BusinessID, personID)
		if err != nil {
			return Invitation{}, err
		}
		person, err := lockPerson(ctx, tx, personID)
		if err != nil {
			return Invitation{}, err
		}
		members, err := postgres.Rows(ctx, tx, scanMember, "read a person's businesses", membersSQL, personID)
		if err != nil {
			return Invitation{}, err
		}
		if i := slices.IndexFunc(members, func(k access.Member) bool { return k.BusinessID == m.BusinessID }); i >= 0 {
			if !members[i].Equal(m) {
				return Invitation{}, ErrAlreadyMember
			}
			return Invitation{}, nil
		}
		if mustAccept(by, person, members) {
			return insertInvitation(ctx, tx, by.ID, Invitation{
				Member: m, ID: uuid.New(), Email: person.Email, CreatedAt: now,
				ExpiresAt: now.Add(InvitationLifetime).UTC().Truncate(time.Second),
			})
		}
		if !person.IsVerified {
			if err := errors.Join(deleteCredentials(ctx, tx, personID),
				endUnverifiedAccess(ctx, tx, personID, now)); err != nil {
				return Invitation{}, err
			}
		}
		return Invitation{}, insertMember(ctx, tx, personID, m, members, event.MemberInvited, now)
	})
}

// insertMember makes a person a member of a business, and deletes the invitation with which the business invited them.
func insertMember(ctx context.Context, tx pgx.Tx, personID uuid.UUID, m access.Member, members []access.Member,
	eventType event.Type, now time.Time) error {
	if len(members) >= catalog.MaxListed {
		return ErrTooManyBusinesses
	}
	_, err := tx.Exec(ctx, `
		WITH dropped AS (
		    DELETE FROM invitations WHERE business_id = $1 AND email = (SELECT email FROM people WHERE id = $2)
		)
		INSERT INTO members (business_id, person_id, role, staff_id, created_at, locations)
		VALUES ($1, $2, $3, nullif($4, '00000000-0000-0000-0000-000000000000'::uuid), $5, coalesce($6, '{}'::uuid[]))`,
		m.BusinessID, personID, m.Role, m.StaffID, now, m.Locations)
	if err != nil {
		return fmt.Errorf("add a member: %w", err)
	}
	return recordEvent(ctx, tx, eventType, personID, m.BusinessID, now)
}

// invitationEventSQL is the SQL expression for the data of an invitation that an event contains. It leaves out the
// e-mail address.
const invitationEventSQL = `jsonb_build_object('id', id, 'role', role, 'staff_id', staff_id)`

// insertInvitation stores an invitation. The argument `maker` is the id of the principal who sent the invitation. If
// the business already has an invitation to the same address, insertInvitation replaces this invitation and keeps its
// id.
func insertInvitation(ctx context.Context, tx pgx.Tx, maker uuid.UUID, i Invitation) (Invitation, error) {
	var others int
	err := tx.QueryRow(ctx,
		`SELECT count(*) FROM invitations WHERE business_id = $1 AND email <> $2 AND expires_at > $3`, i.BusinessID,
		i.Email, i.CreatedAt).Scan(&others)
	if err == nil && others >= maxInvitations {
		return Invitation{}, ErrTooManyInvitations
	}
	if err != nil {
		return Invitation{}, err
	}
	_, err = tx.Exec(ctx, `
		WITH made AS (
		    INSERT INTO invitations (business_id, email, id, role, staff_id, locations, created_at, expires_at, made_by)
		    VALUES (@business_id, @email, @id, @role, @staff_id, coalesce(@locations, '{}'::uuid[]), @created_at, @expires_at, @made_by)
		    ON CONFLICT (business_id, email) DO UPDATE SET role = excluded.role, staff_id = excluded.staff_id, locations = excluded.locations, created_at = excluded.created_at,
		        expires_at = excluded.expires_at, made_by = excluded.made_by, sequence = invitations.sequence + 1, hash = NULL
		    RETURNING *
		)
		`+eventlog.Record(event.Member, event.MemberInvited, "made", invitationEventSQL),
		eventlog.Add(ctx, pgx.NamedArgs{
			"business_id": i.BusinessID, "email": i.Email, "id": i.ID, "role": i.Role, "staff_id": OrNull(i.StaffID),
			"locations":  i.Locations,
			"created_at": i.CreatedAt, "expires_at": i.ExpiresAt, "made_by": OrNull(maker),
		}, i.CreatedAt))
	if err != nil {
		return Invitation{}, fmt.Errorf("keep an invitation: %w", err)
	}
	return postgres.Row(ctx, tx, scanInvitation, "read an invitation", `SELECT `+invitationColumns+
		` FROM invitations WHERE business_id = $1 AND email = $2`, i.BusinessID, i.Email)
}

// SetInvitationSecret stores the hash of the secret of a new mailed link for an invitation. So the links in earlier
// mails of the invitation no longer work. Errors: [ErrRevoked], [ErrNotFound]. Faults: business_not_found, forbidden.
func (s *Store) SetInvitationSecret(ctx context.Context, by access.Principal, businessID, id uuid.UUID,
	hash [sha256.Size]byte) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := s.authorizeTeamWrite(ctx, tx, by, businessID); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, `UPDATE invitations SET hash = $2 WHERE id = $1 AND business_id = $3`, id, hash[:],
			businessID)
		if err == nil && tag.RowsAffected() == 0 {
			return ErrNotFound
		}
		if err != nil {
			return fmt.Errorf("keep an invitation's secret: %w", err)
		}
		return nil
	})
}

// ListInvitations lists the open invitations of a business, oldest first.
func (s *Store) ListInvitations(ctx context.Context, businessID uuid.UUID, now time.Time) ([]Invitation, error) {
	return postgres.Rows(ctx, s.pool, scanInvitation, "list invitations", `
		SELECT `+invitationColumns+` FROM invitations WHERE business_id = $1 AND expires_at > $2 ORDER BY created_at, id LIMIT $3`, businessID, now, maxInvitations)
}

// ListInvitationsTo lists the open invitations to an e-mail address, oldest first, but at most maxInvitations of them.
func (s *Store) ListInvitationsTo(ctx context.Context, email string, now time.Time) ([]Invitation, error) {
	return postgres.Rows(ctx, s.pool, scanInvitation, "list invitations", `
		SELECT `+invitationColumns+` FROM invitations WHERE email = $1 AND expires_at > $2 ORDER BY created_at, id LIMIT $3`, email, now, maxInvitations)
}

// FindInvitationByHash returns the invitation with a mailed link whose secret has the given hash, if the invitation is
// open at the instant `now`. Errors: [ErrNotFound].
func (s *Store) FindInvitationByHash(ctx context.Context, hash [sha256.Size]byte, now time.Time) (Invitation, error) {
	i, err := postgres.Row(ctx, s.pool, scanInvitation, "look up an invitation", `
		SELECT `+invitationColumns+` FROM invitations WHERE hash = $1 AND expires_at > $2`, hash[:], now)
	return i, toNotFound(err)
}

// AcceptInvitation makes a person a member of the business that has invited their address, and deletes the invitation.
// The caller must have verified the address. Errors: [ErrNotFound], [ErrTooManyBusinesses].
func (s *Store) AcceptInvitation(ctx context.Context, id uuid.UUID, email string, now time.Time) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return acceptInvitation(ctx, tx, id, email, now) })
}

// AcceptOwnInvitation does the same as [Store.AcceptInvitation] for the signed-in person. It also returns [ErrRevoked].
func (s *Store) AcceptOwnInvitation(ctx context.Context, by access.Principal, id uuid.UUID, email string,
	now time.Time) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := s.authorize(ctx, tx, by, by.ID); err != nil {
			return err
		}
		return acceptInvitation(ctx, tx, id, email, now)
	})
}

func acceptInvitation(ctx context.Context, tx pgx.Tx, id uuid.UUID, email string, now time.Time) error {
	personID, err := postgres.Row(ctx, tx, pgx.RowTo[uuid.UUID], "look up a person",
		`SELECT id FROM people WHERE email = $1`, email)
	if err != nil {
		return toNotFound(err)
	}
	person, err := lockPerson(ctx, tx, personID)
	if err != nil {
		return err
	}
	if !person.IsVerified {
		return ErrNotFound
	}
	i, err := postgres.Row(ctx, tx, scanInvitation, "mark an invitation as used", `
			DELETE FROM invitations WHERE id = $1 AND email = $2 AND expires_at > $3 RETURNING `+invitationColumns, id, email, now)
	if err != nil {
		return toNotFound(err)
	}
	members, err := postgres.Rows(ctx, tx, scanMember, "read a person's businesses", membersSQL, personID)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(members, func(k access.Member) bool { return k.BusinessID == i.BusinessID }) {
		return nil
	}
	return insertMember(withPersonActor(ctx, personID), tx, personID, i.Member, members, event.MemberJoined, now)
}

// buildEndInvitationSQL returns an SQL statement that deletes invitations and records an event for each. The argument
// `where` is the SQL condition that selects the invitations.
func buildEndInvitationSQL(where string) string {
	return `
		WITH ended AS (
		    DELETE FROM invitations WHERE ` + where + `
		    RETURNING business_id, id, role, staff_id, sequence + 1 AS sequence
		)
		` + eventlog.Record(event.Member, event.MemberRemoved, "ended", invitationEventSQL)
}

// WithdrawInvitation deletes an invitation that the invited person has not accepted yet. If the invitation is no longer
// open, nothing changes. Errors: [ErrRevoked]. Faults: business_not_found, forbidden.
func (s *Store) WithdrawInvitation(ctx context.Context, by access.Principal, businessID, id uuid.UUID,
	now time.Time) error {
	_, err := postgres.WriteIdempotently(ctx, s.pool, businessID, func(ctx context.Context, tx pgx.Tx) (struct{},
		error) {
		if _, err := s.authorizeTeamWrite(ctx, tx, by, businessID); err != nil {
			return struct{}{}, err
		}
		_, err := tx.Exec(ctx, buildEndInvitationSQL(`business_id = @business_id AND id = @id`),
			eventlog.Add(ctx, pgx.NamedArgs{"business_id": businessID, "id": id}, now))
		return struct{}{}, err
	})
	if err != nil {
		return fmt.Errorf("withdraw an invitation: %w", err)
	}
	return nil
}

// DeclineInvitation deletes an open invitation to the signed-in person. The argument `email` is the person's address.
// If the invitation is no longer open, nothing changes. Errors: [ErrRevoked].
func (s *Store) DeclineInvitation(ctx context.Context, by access.Principal, id uuid.UUID, email string,
	now time.Time) error {
	return s.runOwnWrite(ctx, by, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, buildEndInvitationSQL(`email = @email AND id = @id`),
			eventlog.Add(ctx, pgx.NamedArgs{"email": email, "id": id}, now))
		if err != nil {
			return fmt.Errorf("decline an invitation: %w", err)
		}
		return nil
	})
}
