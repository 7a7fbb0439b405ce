package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

// Person is a person who can sign in.
type Person struct {
	ID         uuid.UUID
	Email      string // in lower case
	Name       string
	Language   string // BCP 47; "" if the person's language is unknown
	IsOperator bool
	// OperatorByGroupAt is the time of the last sign-in at which a group of the identity provider made the person an
	// operator. It is nil if no group did.
	OperatorByGroupAt *time.Time
	CreatedAt         time.Time
	IsVerified        bool // the person has proved that they own the address
	HasPassword       bool // the person has a password
	HasPasskey        bool // the person has at least one passkey
}

const personColumns = `people.id, people.email, people.name, people.language, people.operator, people.operator_vouched_at, people.created_at, people.verified_at IS NOT NULL, people.password_hash IS NOT NULL,
	EXISTS (SELECT FROM passkeys WHERE passkeys.person_id = people.id)`

// scanTargets returns pointers to the fields of a person, in the order of personColumns, as the targets for scanning a
// row.
func (p *Person) scanTargets() []any {
	return []any{&p.ID, &p.Email, &p.Name, &p.Language, &p.IsOperator, &p.OperatorByGroupAt, &p.CreatedAt,
		&p.IsVerified,
		&p.HasPassword, &p.HasPasskey}
}

// AddPerson adds a person whom a principal invites into a business. If businessID is the nil UUID, the principal
// invites the person to become an operator. The new person is neither an operator nor verified. If a person with the
// address exists, AddPerson changes nothing and returns this person. Errors: [ErrRevoked]. Faults: business_not_found,
// forbidden.
func (s *Store) AddPerson(ctx context.Context, by access.Principal, businessID uuid.UUID, p Person) (Person, error) {
	var added Person
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := s.authorizeTeamWrite(ctx, tx, by, businessID); err != nil {
			return err
		}
		var err error
		added, err = addPerson(ctx, tx, p)
		return err
	})
	return added, err
}

// AddUninvitedPerson does the same as [Store.AddPerson], without an inviter: for a person whose identity the identity
// provider has confirmed, or for a person who signs up.
func (s *Store) AddUninvitedPerson(ctx context.Context, p Person) (Person, error) {
	var added Person
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		var err error
		added, err = addPerson(ctx, tx, p)
		return err
	})
	return added, err
}

func addPerson(ctx context.Context, tx pgx.Tx, p Person) (Person, error) {
	_, err := tx.Exec(ctx, `
		INSERT INTO people (id, email, name, language, operator, created_at) VALUES ($1, $2, $3, $4, false, $5)
		ON CONFLICT (email) DO NOTHING`, p.ID, p.Email, p.Name, p.Language, p.CreatedAt)
	if err != nil {
		return Person{}, fmt.Errorf("add a person: %w", err)
	}
	return postgres.Row(ctx, tx, pgx.RowToStructByPos[Person], "read a person",
		`SELECT `+personColumns+` FROM people WHERE email = $1`, p.Email)
}

// SetLanguage stores the language of the signed-in person, a BCP 47 tag. Errors: [ErrRevoked].
func (s *Store) SetLanguage(ctx context.Context, by access.Principal, language string) error {
	return s.runOwnWrite(ctx, by, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `UPDATE people SET language = $2 WHERE id = $1`, by.ID, language); err != nil {
			return fmt.Errorf("note a person's language: %w", err)
		}
		return nil
	})
}

// MakeOperator makes a person an operator at the instant `now`, idempotently, and ends their sessions. It deletes all
// credentials of a person whose address is not verified, because another person may have set them. Errors:
// [ErrRevoked]. Fault: forbidden.
func (s *Store) MakeOperator(ctx context.Context, by access.Principal, personID uuid.UUID, now time.Time) error {
	_, err := postgres.WriteIdempotently(ctx, s.pool, uuid.Nil, func(ctx context.Context, tx pgx.Tx) (struct{}, error) {
		if _, err := s.authorizeTeamWrite(ctx, tx, by, uuid.Nil, personID); err != nil {
			return struct{}{}, err
		}
		person, err := lockPerson(ctx, tx, personID)
		if err != nil {
			return struct{}{}, err
		}
		if _, err := tx.Exec(ctx, `UPDATE people SET operator = true, operator_vouched_at = NULL WHERE id = $1`,
			personID); err != nil {
			return struct{}{}, err
		}
		if !person.IsVerified {
			if err := deleteCredentials(ctx, tx, personID); err != nil {
				return struct{}{}, err
			}
		}
		return struct{}{}, endAllAccess(ctx, tx, personID, now)
	})
	if err != nil {
		return fmt.Errorf("make an operator: %w", err)
	}
	return nil
}

// FindNames maps the ids of people to their names. A person without a name has their e-mail address instead. The result
// has no entry for an unknown id.
func (s *Store) FindNames(ctx context.Context, people []uuid.UUID) (map[uuid.UUID]string, error) {
	list, err := postgres.Rows(ctx, s.pool, pgx.RowToStructByPos[struct {
		ID   uuid.UUID
		Name string
	}], "read names", `SELECT id, coalesce(nullif(name, ''), email) FROM people WHERE id = ANY ($1)`, people)
	names := make(map[uuid.UUID]string, len(list))
	for _, p := range list {
		names[p.ID] = p.Name
	}
	return names, err
}

// ListMembershipsOf returns the memberships of a person.
func (s *Store) ListMembershipsOf(ctx context.Context, personID uuid.UUID) ([]access.Member, error) {
	return postgres.Rows(ctx, s.pool, scanMember, "read a person's businesses", membersSQL, personID)
}

const membersSQL = `
	SELECT business_id, role, coalesce(staff_id, '00000000-0000-0000-0000-000000000000'), locations
	FROM members WHERE person_id = $1 ORDER BY business_id`

func scanMember(row pgx.CollectableRow) (access.Member, error) {
	var m access.Member
	err := row.Scan(&m.BusinessID, &m.Role, &m.StaffID, &m.Locations)
	return m, err
}

// ErrAlreadyMember means that a person is already a member of the business, with another role.
var ErrAlreadyMember = errors.New("is a member with another role")

// ErrTooManyBusinesses means that a person already belongs to the maximum number of businesses.
var ErrTooManyBusinesses = errors.New("belongs to too many businesses")

// lockPerson takes the lock of [lockRights] and the row lock of a person, and returns the person. Until the transaction
// ends, no other transaction can change the person's rights, or make a change that a right of the person permits.
func lockPerson(ctx context.Context, tx pgx.Tx, id uuid.UUID) (Person, error) {
	if err := lockRights(ctx, tx, uuid.Nil, id); err != nil {
		return Person{}, err
	}
	p, err := postgres.Row(ctx, tx, pgx.RowToStructByPos[Person], "lock a person",
		`SELECT `+personColumns+` FROM people WHERE id = $1 FOR UPDATE`, id)
	return p, toNotFound(err)
}
