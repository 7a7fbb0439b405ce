package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/postgres"
	"github.com/slotmesh/slotmesh/services/console/internal/access"
)

// Person is somebody who signs in.
type Person struct {
	ID        uuid.UUID
	Email     string // in small letters
	Name      string
	Language  string // BCP 47; "" where it is not known
	Operator  bool
	CreatedAt time.Time
}

const personColumns = `people.id, people.email, people.name, people.language, people.operator, people.created_at`

// AddPerson keeps a person, and returns who has the address then: somebody who was known before stays as they are.
func (s *Store) AddPerson(ctx context.Context, p Person) (Person, error) {
	return postgres.Row(ctx, s.pool, pgx.RowToStructByPos[Person], "add a person", `
		WITH added AS (
		    INSERT INTO people (id, email, name, language, operator, created_at) VALUES ($1, $2, $3, $4, $5, $6)
		    ON CONFLICT (email) DO NOTHING
		    RETURNING `+personColumns+`
		)
		SELECT * FROM added UNION ALL SELECT `+personColumns+` FROM people WHERE email = $2 LIMIT 1`,
		p.ID, p.Email, p.Name, p.Language, p.Operator, p.CreatedAt)
}

// membersOf returns what a person is in businesses.
func (s *Store) membersOf(ctx context.Context, personID uuid.UUID) ([]access.Member, error) {
	return postgres.Rows(ctx, s.pool, scanMember, "read a person's businesses", `
		SELECT business_id, role, coalesce(staff_id, '00000000-0000-0000-0000-000000000000')
		FROM members WHERE person_id = $1 ORDER BY business_id`, personID)
}

func scanMember(row pgx.CollectableRow) (access.Member, error) {
	var m access.Member
	err := row.Scan(&m.BusinessID, &m.Role, &m.StaffID)
	return m, err
}

// AddMember makes a person a member of a business at the instant now; who is one already gets the role.
func (s *Store) AddMember(ctx context.Context, personID uuid.UUID, m access.Member, now time.Time) error {
	_, err := s.pool.Exec(ctx, `
		INSERT INTO members (business_id, person_id, role, staff_id, created_at)
		VALUES ($1, $2, $3, nullif($4, '00000000-0000-0000-0000-000000000000'::uuid), $5)
		ON CONFLICT (business_id, person_id) DO UPDATE SET role = excluded.role, staff_id = excluded.staff_id`,
		m.BusinessID, personID, m.Role, m.StaffID, now)
	if err != nil {
		return fmt.Errorf("add a member: %w", err)
	}
	return nil
}
