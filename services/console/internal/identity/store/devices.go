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

// The errors for a program that polls before it can get a token (RFC 8628, 3.5).
var (
	ErrPending = errors.New("nobody has answered yet")
	ErrTooSoon = errors.New("was asked again too soon")
	ErrDenied  = errors.New("was refused")
	ErrExpired = errors.New("has expired")
)

// DeviceLogin is the sign-in of a program (RFC 8628). The program waits until a person allows or denies the sign-in.
type DeviceLogin struct {
	UserCode  string // eight letters, which the program shows and the person types
	Client    string // name of the program's machine, which the program reports
	CreatedAt time.Time
	ExpiresAt time.Time
}

// AddDeviceLogin stores the sign-in of a program that waits for a person's answer. The argument `hash` is the hash of
// the secret with which the program polls.
func (s *Store) AddDeviceLogin(ctx context.Context, d DeviceLogin, hash [sha256.Size]byte) error {
	_, err := s.pool.Exec(ctx,
		`INSERT INTO device_logins (hash, user_code, client, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)`,
		hash[:], d.UserCode, d.Client, d.CreatedAt, d.ExpiresAt)
	if err != nil {
		return fmt.Errorf("keep a program that waits: %w", err)
	}
	return nil
}

// FindDeviceLogin returns the sign-in with a user code, if no person has answered it and it has not expired at the
// instant `now`. Errors: [ErrNotFound].
func (s *Store) FindDeviceLogin(ctx context.Context, userCode string, now time.Time) (DeviceLogin, error) {
	d, err := postgres.Row(ctx, s.pool, pgx.RowToStructByPos[DeviceLogin], "look up a program that waits", `
		SELECT user_code, client, created_at, expires_at FROM device_logins WHERE user_code = $1 AND person_id IS NULL AND expires_at > $2`, userCode, now)
	return d, toNotFound(err)
}

// AnswerDeviceLogin stores a person's answer to the sign-in of a program. The argument `allowed` has the rights that
// the program gets; nil denies the sign-in. Only the first answer is stored. Errors: [ErrRevoked]; [ErrNotFound] if no
// sign-in with the code waits for an answer.
func (s *Store) AnswerDeviceLogin(ctx context.Context, by access.Principal, userCode string, allowed *access.Member,
	now time.Time) error {
	m := access.Member{}
	if allowed != nil {
		m = *allowed
	}
	return s.runOwnWrite(ctx, by, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `
			UPDATE device_logins SET person_id = $2, allowed = $3, business_id = $4, role = $5, staff_id = $6,
			    locations = coalesce($8, '{}'::uuid[])
			WHERE user_code = $1 AND person_id IS NULL AND expires_at > $7`,
			userCode, by.ID, allowed != nil, m.BusinessID, m.Role, OrNull(m.StaffID), now, m.Locations)
		if err != nil {
			return fmt.Errorf("answer a program that waits: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return ErrNotFound
		}
		return nil
	})
}

// deviceAnswer is the stored state of a program's sign-in. It has the rights that the person granted, if the person has
// answered.
type deviceAnswer struct {
	expires   time.Time
	polled    *time.Time
	person    *uuid.UUID
	client    string
	isAllowed bool
	access.Member
}

func scanDeviceAnswer(row pgx.CollectableRow) (deviceAnswer, error) {
	var a deviceAnswer
	err := row.Scan(&a.expires, &a.polled, &a.person, &a.client, &a.isAllowed, &a.BusinessID, &a.Role, &a.StaffID,
		&a.Locations)
	return a, err
}

// RedeemDeviceLogin stores the token of a program after a person has allowed the program's sign-in. The argument `t` is
// the token without its creator, business and role, which RedeemDeviceLogin sets. If the person no longer has the
// rights that they granted, RedeemDeviceLogin denies the sign-in.
//
// The argument `every` is the minimum time between two calls for one program before the person answers. Errors:
// [ErrNotFound] for an unknown program; [ErrPending] before the answer; [ErrTooSoon] for a call that comes too soon
// after the previous call; [ErrExpired]; [ErrDenied].
func (s *Store) RedeemDeviceLogin(ctx context.Context, hash [sha256.Size]byte, every time.Duration, t Token,
	token [sha256.Size]byte) (Token, error) {
	var stored error // error for the caller; the transaction is committed in spite of it
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		person, err := lockAnswerer(ctx, tx, hash)
		if err != nil {
			return err
		}
		a, err := postgres.Row(ctx, tx, scanDeviceAnswer, "look up a program that waits", `
			SELECT expires_at, polled_at, person_id, client, coalesce(allowed, false), coalesce(business_id, '00000000-0000-0000-0000-000000000000'), coalesce(role, ''),
			       coalesce(staff_id, '00000000-0000-0000-0000-000000000000'), locations
			FROM device_logins WHERE hash = $1 FOR UPDATE`, hash[:])
		switch {
		case err != nil:
			return toNotFound(err)
		case a.person == nil && !a.expires.After(t.CreatedAt):
			stored = ErrExpired
			return endDeviceLogin(ctx, tx, hash)
		case a.person == nil || person == nil: // person is nil if the answer came after lockAnswerer
			stored = ErrPending
			if a.person == nil && a.polled != nil && t.CreatedAt.Sub(*a.polled) < every {
				stored = ErrTooSoon
			}
			_, err := tx.Exec(ctx, `UPDATE device_logins SET polled_at = $2 WHERE hash = $1`, hash[:], t.CreatedAt)
			return err
		}
		if err := endDeviceLogin(ctx, tx, hash); err != nil {
			return err
		}
		hasRole, err := stillHasRole(ctx, tx, *a.person, a.Member)
		if err == nil && (!a.isAllowed || !hasRole || !a.expires.After(t.CreatedAt)) {
			stored = ErrDenied
			return nil
		}
		if err != nil {
			return err
		}
		t.Member, t.CreatedBy, t.Device = a.Member, *a.person, a.client
		return insertToken(withPersonActor(ctx, *a.person), tx, t, token)
	})
	if err == nil {
		err = stored
	}
	return t, err
}

// ListDevices lists the tokens of the programs that a person connected by `slotmesh login`, newest first. It leaves out
// the tokens that are not valid at the instant `now`. The list has at most 100 tokens.
func (s *Store) ListDevices(ctx context.Context, personID uuid.UUID, now time.Time) ([]Token, error) {
	return postgres.Rows(ctx, s.pool, scanToken, "list the programs of a person", `
		SELECT `+tokenColumns+` FROM tokens
		WHERE created_by = $1 AND device IS NOT NULL AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)
		  AND coalesce(last_used_at, created_at) > $3
		ORDER BY created_at DESC, id LIMIT 100`, personID, now, now.Add(-MaxDeviceIdle))
}

// EndDevice revokes the token of a program that the signed-in person connected by `slotmesh login`, and the tokens that
// were created with this token. It does not change a token that is already revoked, or that belongs to another person.
// Errors: [ErrRevoked]. Fault: outcome_unknown.
func (s *Store) EndDevice(ctx context.Context, by access.Principal, id uuid.UUID, now time.Time) error {
	return s.revokeInTransaction(ctx, by.ID, func(tx pgx.Tx) error {
		if _, err := s.authorize(ctx, tx, by, by.ID); err != nil {
			return err
		}
		first := `SELECT id FROM tokens WHERE created_by = @person_id AND id = @id AND device IS NOT NULL`
		return revoke(ctx, tx, first, pgx.NamedArgs{"person_id": by.ID, "id": id}, now)
	})
}

// endDevices revokes the tokens of all programs that a person connected by `slotmesh login`, and the tokens that were
// created with these tokens. It also denies the sign-ins that the person has allowed but whose programs have not
// fetched a token yet.
func endDevices(ctx context.Context, tx pgx.Tx, personID uuid.UUID, now time.Time) error {
	if _, err := tx.Exec(ctx, `UPDATE device_logins SET allowed = false WHERE person_id = $1`, personID); err != nil {
		return fmt.Errorf("refuse the programs that wait: %w", err)
	}
	first := `SELECT id FROM tokens WHERE created_by = @person_id AND device IS NOT NULL`
	if err := revoke(ctx, tx, first, pgx.NamedArgs{"person_id": personID}, now); err != nil {
		return fmt.Errorf("end the programs of a person: %w", err)
	}
	return nil
}

func endDeviceLogin(ctx context.Context, tx pgx.Tx, hash [sha256.Size]byte) error {
	_, err := tx.Exec(ctx, `DELETE FROM device_logins WHERE hash = $1`, hash[:])
	return err
}

// lockAnswerer takes the lock of [lockPerson] for the person who allowed or denied a program's sign-in, and returns the
// person's id. It returns nil if the sign-in has no answer yet. The caller must lock the row of the sign-in only after
// this call. [endDevices] takes the two locks in the same order, so that the transactions cannot deadlock. Errors:
// [ErrNotFound].
func lockAnswerer(ctx context.Context, tx pgx.Tx, hash [sha256.Size]byte) (*uuid.UUID, error) {
	person, err := postgres.Row(ctx, tx, pgx.RowTo[*uuid.UUID], "look up a program that waits",
		`SELECT person_id FROM device_logins WHERE hash = $1`, hash[:])
	if err != nil || person == nil {
		return nil, toNotFound(err)
	}
	_, err = lockPerson(ctx, tx, *person)
	return person, err
}

// stillHasRole reports whether a person still has the role and the locations in the argument `member`. The person
// granted them to a program.
func stillHasRole(ctx context.Context, tx pgx.Tx, personID uuid.UUID, member access.Member) (bool, error) {
	person, err := lockPerson(ctx, tx, personID)
	if err != nil || member.Role == access.Operator {
		return person.IsOperator, err
	}
	members, err := postgres.Rows(ctx, tx, scanMember, "read a person's businesses", membersSQL, personID)
	for _, m := range members {
		if m.Equal(member) {
			return true, err
		}
	}
	return false, err
}
