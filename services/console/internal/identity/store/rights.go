package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

// ErrRevoked means that the principal's session or token has ended since the request was authenticated. It is a fault
// with code unauthorized.
var ErrRevoked = fault.New(fault.Unauthorized,
	"The session or token of this request has ended; sign in again, or send another token.")

// lockRights locks the rights of principals until the transaction ends. The principals in `changed` get an exclusive
// lock. The principal `reader` gets a shared lock, which only prevents changes of this principal's rights. Both
// arguments are ids of roots, as [findRoot] returns them. lockRights ignores the nil UUID. It locks in ascending order
// of ids, so that two transactions cannot deadlock.
func lockRights(ctx context.Context, tx pgx.Tx, reader uuid.UUID, changed ...uuid.UUID) error {
	all := append(slices.Clone(changed), reader)
	slices.SortFunc(all, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	for _, root := range slices.Compact(all) {
		if root == uuid.Nil {
			continue
		}
		lock := `SELECT pg_advisory_xact_lock_shared(hashtextextended('rights ' || $1::uuid::text, 0))`
		if slices.Contains(changed, root) {
			lock = `SELECT pg_advisory_xact_lock(hashtextextended('rights ' || $1::uuid::text, 0))`
		}
		if _, err := tx.Exec(ctx, lock, root); err != nil {
			return fmt.Errorf("lock rights: %w", err)
		}
	}
	return nil
}

// findRoot returns the root of a principal: the person or token from which the principal's rights derive. A person is
// their own root. The root of a token is the person who created the token, directly or through other tokens. If the
// first token of this chain was not created by a person, the first token is the root. The root of the admin token from
// the environment is the nil UUID. Errors: [ErrRevoked].
func findRoot(ctx context.Context, from postgres.Querier, by access.Principal) (uuid.UUID, error) {
	switch by.Kind {
	case access.Environment:
		return uuid.Nil, nil
	case access.Person:
		return by.ID, nil
	case access.Token:
		return findTokenRoot(ctx, from, by.ID)
	}
	return uuid.Nil, ErrRevoked
}

func findTokenRoot(ctx context.Context, from postgres.Querier, id uuid.UUID) (uuid.UUID, error) {
	root, err := postgres.Row(ctx, from, pgx.RowTo[uuid.UUID], "read a token's root",
		`SELECT coalesce(root_id, created_by, id) FROM tokens WHERE id = $1`, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return uuid.Nil, ErrRevoked
	}
	return root, err
}

// authorize returns a principal with their current rights, and locks these rights against changes until the transaction
// ends. The argument `changed` lists the people whose rights the transaction itself changes. A transaction must call
// authorize before it takes any other lock. Errors: [ErrRevoked].
func (s *Store) authorize(ctx context.Context, tx pgx.Tx, by access.Principal,
	changed ...uuid.UUID) (access.Principal, error) {
	root, err := findRoot(ctx, tx, by)
	if err != nil {
		return access.Principal{}, err
	}
	if err := lockRights(ctx, tx, root, changed...); err != nil {
		return access.Principal{}, err
	}
	return s.refreshPrincipal(ctx, tx, by)
}

// authorizeTeamWrite authorizes, as [authorize] does, a write about the team of a business. The principal must manage
// this team. If businessID is the nil UUID, the write is about the operators, and the principal must be an operator.
// Errors: [ErrRevoked]. Faults: business_not_found, forbidden.
func (s *Store) authorizeTeamWrite(ctx context.Context, tx pgx.Tx, by access.Principal, businessID uuid.UUID,
	changed ...uuid.UUID) (access.Principal, error) {
	now, err := s.authorize(ctx, tx, by, changed...)
	if err != nil {
		return now, err
	}
	if businessID == uuid.Nil && !now.IsOperator {
		return now, fault.New(fault.Forbidden, "Only operators change operators and their tokens.")
	}
	return now, now.Require(businessID, access.ManageTeam)
}

// refreshPrincipal returns a principal with their current rights. Errors: [ErrRevoked].
func (s *Store) refreshPrincipal(ctx context.Context, from postgres.Querier,
	by access.Principal) (access.Principal, error) {
	now, at := by, s.clock.Now()
	now.IsOperator, now.Members = false, nil
	var err error
	switch by.Kind {
	case access.Environment:
		return by, nil
	case access.Person:
		now.IsOperator, err = postgres.Row(ctx, from, pgx.RowTo[bool], "look up a session", `
			SELECT people.operator FROM sessions JOIN people ON people.id = sessions.person_id
			WHERE sessions.id = $1 AND people.id = $5 AND `+validSessionSQL, append(newValidSessionArgs(by.Session, at), by.ID)...)
		if err == nil && !now.IsOperator {
			now.Members, err = postgres.Rows(ctx, from, scanMember, "read a person's businesses", membersSQL, by.ID)
		}
	case access.Token:
		var m access.Member
		m, err = postgres.Row(ctx, from, scanMember, "look up a token", `
			SELECT business_id, role, coalesce(staff_id, '00000000-0000-0000-0000-000000000000'), locations FROM tokens WHERE id = $1 AND `+validTokenSQL,
			newValidTokenArgs(by.ID, at)...)
		if now.IsOperator = m.Role == access.Operator; !now.IsOperator {
			now.Members = []access.Member{m}
		}
	default:
		return access.Principal{}, ErrRevoked
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return access.Principal{}, ErrRevoked
	}
	return now, err
}

// runOwnWrite runs, in a transaction, a write of a principal about their own account. Errors: [ErrRevoked].
func (s *Store) runOwnWrite(ctx context.Context, by access.Principal, write func(pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := s.authorize(ctx, tx, by); err != nil {
			return err
		}
		return write(tx)
	})
}

// RefreshPrincipal returns a principal with their current rights. Errors: [ErrRevoked].
func (s *Store) RefreshPrincipal(ctx context.Context, by access.Principal) (access.Principal, error) {
	return s.refreshPrincipal(ctx, s.pool, by)
}

// BeginWrite records that a principal begins a write in another service, and returns the principal with their current
// rights and the id of the record. The argument `duration` is the maximum duration of the write. [Store.EndWrite] ends
// the write. The rights of the admin token from the environment cannot be revoked. So for this token, BeginWrite
// records nothing and returns the nil UUID. Errors: [ErrRevoked].
//
// BeginWrite commits the record before it reads the rights. So a revocation at the same time either sees the record and
// waits for the write, or has removed the rights before BeginWrite reads them.
func (s *Store) BeginWrite(ctx context.Context, by access.Principal,
	duration time.Duration) (access.Principal, uuid.UUID, error) {
	root, err := findRoot(ctx, s.pool, by)
	if err != nil || root == uuid.Nil {
		return by, uuid.Nil, err
	}
	id := uuid.New()
	_, err = s.pool.Exec(ctx, `INSERT INTO writes_under_way (id, root_id, ends_at) VALUES ($1, $2, clock_timestamp() + $3::interval)`, id, root, duration)
	if err != nil {
		return by, uuid.Nil, fmt.Errorf("note a write: %w", err)
	}
	now, err := s.RefreshPrincipal(ctx, by)
	if err != nil {
		return by, uuid.Nil, errors.Join(err, s.EndWrite(ctx, id))
	}
	return now, id, nil
}

// EndWrite records that a write in another service has ended. The argument `id` is the id that [Store.BeginWrite]
// returned. EndWrite ignores the nil UUID.
func (s *Store) EndWrite(ctx context.Context, id uuid.UUID) error {
	if id == uuid.Nil {
		return nil
	}
	if _, err := s.pool.Exec(ctx, `DELETE FROM writes_under_way WHERE id = $1`, id); err != nil {
		return fmt.Errorf("note that a write ended: %w", err)
	}
	return nil
}

// runRevocation runs the function `revoke`, a transaction that removes rights of principals with the given root. Then
// runRevocation waits until the earlier writes of these principals in other services have ended. The fault
// outcome_unknown means that the rights are removed, but that another service may still execute one of these writes.
func runRevocation[T any](ctx context.Context, pool *pgxpool.Pool, root uuid.UUID,
	revoke func() (T, error)) (T, error) {
	result, err := revoke()
	if err != nil || root == uuid.Nil {
		return result, err
	}
	if err := awaitWrites(ctx, pool, root); err != nil {
		return result, fault.Unknown(fmt.Errorf("wait for the unfinished writes of a revoked account: %w", err))
	}
	return result, nil
}

// revokeInTransaction is [runRevocation] for a function `revoke` that returns only an error. It runs `revoke` in one
// transaction.
func (s *Store) revokeInTransaction(ctx context.Context, root uuid.UUID, revoke func(pgx.Tx) error) error {
	_, err := runRevocation(ctx, s.pool, root, func() (struct{}, error) {
		return struct{}{}, pgx.BeginFunc(ctx, s.pool, revoke)
	})
	return err
}

const (
	minWritesPause = 5 * time.Millisecond
	maxWritesPause = 100 * time.Millisecond
)

// awaitWrites waits for the writes in other services that are in progress for principals with the given root. The
// caller has revoked rights before. Writes that begin after the call need no wait: they read the changed rights.
func awaitWrites(ctx context.Context, pool *pgxpool.Pool, root uuid.UUID) error {
	left, err := postgres.Rows(ctx, pool, pgx.RowTo[uuid.UUID], "list the unfinished writes", `
		SELECT id FROM writes_under_way WHERE root_id = $1 AND ends_at > clock_timestamp()`, root)
	for pause := minWritesPause; err == nil && len(left) > 0; pause = min(2*pause, maxWritesPause) {
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
		left, err = postgres.Rows(ctx, pool, pgx.RowTo[uuid.UUID], "list the unfinished writes", `
			SELECT id FROM writes_under_way WHERE id = ANY ($1) AND ends_at > clock_timestamp()`, left)
	}
	return err
}
