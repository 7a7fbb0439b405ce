package store

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

// Erase deletes all data of the given businesses from console's tables (lifecycle.md §6): members, tokens, invitations,
// events and idempotency results. It also deletes the people who belonged only to these businesses and are not
// operators. Erase returns the number of deleted rows. The rows of deleted people's sessions, links and credentials are
// not counted.
//
// If one of these people is invited to another business at the same time, Erase returns an error. The next call then
// keeps the person.
func (s *Store) Erase(ctx context.Context, businesses []uuid.UUID) (int64, error) {
	var remaining int64
	err := s.pool.QueryRow(ctx, `
		WITH left_them AS (
		    DELETE FROM members WHERE business_id = ANY ($1) RETURNING person_id
		), gone AS (
		    DELETE FROM people WHERE NOT operator AND id IN (SELECT person_id FROM left_them)
		      AND NOT EXISTS (SELECT FROM members WHERE members.person_id = people.id AND members.business_id <> ALL ($1))
		    RETURNING id
		), sessions_of AS (
		    DELETE FROM sessions WHERE person_id IN (SELECT id FROM gone)
		), links_of AS (
		    DELETE FROM links WHERE person_id IN (SELECT id FROM gone)
		), passkeys_of AS (
		    DELETE FROM passkeys WHERE person_id IN (SELECT id FROM gone)
		), challenges_of AS (
		    DELETE FROM challenges WHERE person_id IN (SELECT id FROM gone)
		), browsers_of AS (
		    DELETE FROM known_browsers WHERE person_id IN (SELECT id FROM gone)
		), devices_of AS (
		    DELETE FROM device_logins WHERE person_id IN (SELECT id FROM gone)
		)
		SELECT (SELECT count(*) FROM left_them) + (SELECT count(*) FROM gone)`, businesses).Scan(&remaining)
	if err != nil {
		return 0, fmt.Errorf("erase members: %w", err)
	}
	n, err := postgres.Erase(ctx, s.pool, businesses, []postgres.Erasable{
		{Table: "device_logins"}, {Table: "invitations"}, {Table: "tokens"}, {Table: "refused_writes"},
		{Table: "made_writes"}, {Table: "events"},
	}...)
	return remaining + n, err
}
