package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

// A session ends after MaxSessionIdle without a request, and at the latest MaxSessionAge after the sign-in
// (accounts.md).
const (
	MaxSessionIdle = 12 * time.Hour
	MaxSessionAge  = 7 * 24 * time.Hour
)

// Session is the sign-in of a person in one browser.
type Session struct {
	ID         uuid.UUID
	PersonID   uuid.UUID
	Client     string // the browser's User-Agent
	CreatedAt  time.Time
	LastSeenAt time.Time // time of the last request, accurate to one minute
}

// SignedInSession is a session with the signed-in person and the person's current memberships.
type SignedInSession struct {
	Session
	Person  Person
	Members []access.Member // empty for an operator
}

// addSession stores a session with the hash of its secret. If the person's operator right has lapsed, addSession
// removes this right first. Otherwise a later removal of the right would also end the new session.
func addSession(ctx context.Context, tx pgx.Tx, of Session, hash [sha256.Size]byte) error {
	if err := demoteLapsed(ctx, tx, of.PersonID, of.CreatedAt); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO sessions (hash, id, person_id, client, created_at, last_seen_at) VALUES ($1, $2, $3, $4, $5, $5)`,
		hash[:], of.ID, of.PersonID, of.Client, of.CreatedAt)
	if err != nil {
		return fmt.Errorf("add a session: %w", err)
	}
	return nil
}

// ListSessions lists those sessions of a person that have not ended at the instant `now`, newest first.
func (s *Store) ListSessions(ctx context.Context, personID uuid.UUID, now time.Time) ([]Session, error) {
	return postgres.Rows(ctx, s.pool, pgx.RowToStructByPos[Session], "list sessions", `
		SELECT id, person_id, client, created_at, last_seen_at FROM sessions
		WHERE person_id = $1 AND last_seen_at > $2 AND created_at > $3
		ORDER BY created_at DESC, id LIMIT 100`, personID, now.Add(-MaxSessionIdle), now.Add(-MaxSessionAge))
}

// EndSession ends a session of a person. If the session has already ended, nothing changes. Fault: outcome_unknown.
func (s *Store) EndSession(ctx context.Context, personID, id uuid.UUID) error {
	return s.revokeInTransaction(ctx, personID, func(tx pgx.Tx) error {
		if err := lockRights(ctx, tx, uuid.Nil, personID); err != nil {
			return err
		}
		return endSession(ctx, tx, personID, id)
	})
}

// EndOwnSession ends a session of the signed-in person, as [Store.EndSession] does. Errors: [ErrRevoked].
func (s *Store) EndOwnSession(ctx context.Context, by access.Principal, id uuid.UUID) error {
	return s.revokeInTransaction(ctx, by.ID, func(tx pgx.Tx) error {
		if _, err := s.authorize(ctx, tx, by, by.ID); err != nil {
			return err
		}
		return endSession(ctx, tx, by.ID, id)
	})
}

func endSession(ctx context.Context, tx pgx.Tx, personID, id uuid.UUID) error {
	if _, err := tx.Exec(ctx, `DELETE FROM sessions WHERE person_id = $1 AND id = $2`, personID, id); err != nil {
		return fmt.Errorf("end a session: %w", err)
	}
	return nil
}

// maxUnusedSignUp is how long a person is stored who signed up but never used the link.
const maxUnusedSignUp = 24 * time.Hour

// Sweep demotes the operators whose right has lapsed at the instant `now`. It also deletes all rows that are no longer
// valid: sessions, links, challenges, sign-ins of programs, known browsers, invitations, records of writes in progress,
// and people who signed up but never used the link.
func (s *Store) Sweep(ctx context.Context, now time.Time) error {
	_, sessions := s.pool.Exec(ctx, `DELETE FROM sessions WHERE last_seen_at <= $1 OR created_at <= $2`,
		now.Add(-MaxSessionIdle), now.Add(-MaxSessionAge))
	_, links := s.pool.Exec(ctx, `DELETE FROM links WHERE expires_at <= $1`, now)
	_, challenges := s.pool.Exec(ctx, `DELETE FROM challenges WHERE expires_at <= $1`, now)
	_, devices := s.pool.Exec(ctx, `DELETE FROM device_logins WHERE expires_at <= $1`, now)
	_, browsers := s.pool.Exec(ctx, `DELETE FROM known_browsers WHERE signed_in_at <= $1`, now.Add(-BrowserLifetime))
	_, invitations := s.pool.Exec(ctx, `DELETE FROM invitations WHERE expires_at <= $1`, now)
	_, writes := s.pool.Exec(ctx, `DELETE FROM writes_under_way WHERE ends_at <= clock_timestamp()`)
	_, signUps := s.pool.Exec(ctx, `
		DELETE FROM people WHERE verified_at IS NULL AND password_hash IS NULL AND NOT operator AND created_at <= $1
		  AND NOT EXISTS (SELECT FROM members WHERE person_id = people.id)
		  AND NOT EXISTS (SELECT FROM links WHERE person_id = people.id)
		  AND NOT EXISTS (SELECT FROM sessions WHERE person_id = people.id)
		  AND NOT EXISTS (SELECT FROM passkeys WHERE person_id = people.id)
		  AND NOT EXISTS (SELECT FROM challenges WHERE person_id = people.id)
		  AND NOT EXISTS (SELECT FROM known_browsers WHERE person_id = people.id)
		  AND NOT EXISTS (SELECT FROM device_logins WHERE person_id = people.id)
		  AND NOT EXISTS (SELECT FROM tokens WHERE created_by = people.id)`, now.Add(-maxUnusedSignUp))
	return errors.Join(s.demoteAllLapsed(ctx, now), sessions, links, challenges, devices, browsers, invitations, writes,
		signUps)
}

// validSessionSQL is the SQL condition for a valid session: the session has not ended, and the operator right of the
// session's person has not lapsed. [newValidSessionArgs] returns the parameters of the condition.
var validSessionSQL = `sessions.last_seen_at > $2 AND sessions.created_at > $3 AND ` + fmt.Sprintf(notLapsedSQL, "$4")

// newValidSessionArgs returns the parameters of [validSessionSQL] at the instant `now`. The first parameter is `key`,
// which identifies the session.
func newValidSessionArgs(key any, now time.Time) []any {
	return []any{key, now.Add(-MaxSessionIdle), now.Add(-MaxSessionAge), now.Add(-GroupOperatorLifetime)}
}

// FindSessionByHash returns the session whose secret has the given hash, if the session is valid at the instant `now`.
// It updates the time of the session's last request, at most once a minute. Errors: [ErrNotFound].
func (s *Store) FindSessionByHash(ctx context.Context, hash [sha256.Size]byte, now time.Time) (SignedInSession, error) {
	signed, err := postgres.Row(ctx, s.pool, scanSignedInSession, "look up a session", `
		SELECT sessions.id, sessions.person_id, sessions.client, sessions.created_at, sessions.last_seen_at, `+personColumns+`
		FROM sessions JOIN people ON people.id = sessions.person_id
		WHERE sessions.hash = $1 AND `+validSessionSQL, newValidSessionArgs(hash[:], now)...)
	if err != nil {
		return SignedInSession{}, toNotFound(err)
	}
	if !signed.Person.IsOperator {
		if signed.Members, err = s.ListMembershipsOf(ctx, signed.PersonID); err != nil {
			return SignedInSession{}, err
		}
	}
	if now.Sub(signed.LastSeenAt) < time.Minute {
		return signed, nil
	}
	if _, err := s.pool.Exec(ctx, `UPDATE sessions SET last_seen_at = greatest(last_seen_at, $2) WHERE hash = $1`,
		hash[:], now); err != nil {
		return SignedInSession{}, fmt.Errorf("note the use of a session: %w", err)
	}
	return signed, nil
}

func scanSignedInSession(row pgx.CollectableRow) (SignedInSession, error) {
	var s SignedInSession
	err := row.Scan(append([]any{&s.ID, &s.PersonID, &s.Client, &s.CreatedAt, &s.LastSeenAt},
		s.Person.scanTargets()...)...)
	return s, err
}
