package store

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/platform/request"
)

// Key is an API key as it is stored, without its secret.
type Key struct {
	BusinessID uuid.UUID
	ID         uuid.UUID
	Name       string
	Scope      string // one of the booking.Scope… values
	Prefix     string // the first eight digits of the secret
	CreatedAt  time.Time
	CreatedBy  *uuid.UUID // the person or token that made it; nil: unknown
	ExpiresAt  *time.Time // nil: it does not expire
	LastUsedAt *time.Time // to the minute
	RevokedAt  *time.Time // nil: it is not revoked
}

const keyColumns = `business_id, id, name, scope, prefix, created_at, created_by, expires_at, last_used_at, revoked_at`

func scanKey(row pgx.Row, more ...any) (Key, error) {
	var k Key
	err := row.Scan(append([]any{&k.BusinessID, &k.ID, &k.Name, &k.Scope, &k.Prefix, &k.CreatedAt, &k.CreatedBy,
		&k.ExpiresAt,
		&k.LastUsedAt, &k.RevokedAt}, more...)...)
	k.CreatedAt = k.CreatedAt.UTC()
	k.ExpiresAt, k.LastUsedAt, k.RevokedAt = utc(k.ExpiresAt), utc(k.LastUsedAt), utc(k.RevokedAt)
	return k, err
}

// KeyByHash returns the key with this hash, even if it is revoked or expired. Errors: [ErrNotFound].
func (s *Store) KeyByHash(ctx context.Context, hash [sha256.Size]byte) (Key, error) {
	var stored []byte
	key, err := scanKey(s.pool.QueryRow(ctx, `SELECT `+keyColumns+`, hash FROM api_keys WHERE hash = $1`, hash[:]),
		&stored)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return Key{}, ErrNotFound
	case err != nil:
		return Key{}, fmt.Errorf("look up an API key: %w", err)
	case subtle.ConstantTimeCompare(stored, hash[:]) != 1:
		return Key{}, ErrNotFound
	}
	return key, nil
}

// TouchKey stores the argument now as the key's last use, unless the stored use is
// later than the argument since. This limits the writes for a key in constant use.
func (s *Store) TouchKey(ctx context.Context, businessID, id uuid.UUID, now, since time.Time) error {
	_, err := s.pool.Exec(ctx, `
		UPDATE api_keys SET last_used_at = $3
		WHERE business_id = $1 AND id = $2 AND (last_used_at IS NULL OR last_used_at <= $4)`, businessID, id, now, since)
	if err != nil {
		return fmt.Errorf("note the use of an API key: %w", err)
	}
	return nil
}

// KeyMadeError means that an earlier request with the same Idempotency-Key created
// the API key with this ID. Only that request's answer contained the secret.
type KeyMadeError struct{ ID uuid.UUID }

func (e *KeyMadeError) Error() string { return "the key was made as " + e.ID.String() }

var createKeySQL = `
WITH made AS (
    INSERT INTO api_keys (business_id, id, name, scope, hash, prefix, created_at, created_by, expires_at)
    VALUES (@business_id, @id, @name, @scope, @hash, @prefix, @created_at, @created_by, @expires_at)
    RETURNING *
)
` + recordKeyCreated

// MaxKeys is the maximum number of valid API keys of a business.
const MaxKeys = 100

// ErrTooManyKeys means that a business already has [MaxKeys] keys.
var ErrTooManyKeys = errors.New("too many API keys")

// countLive counts rows of a business by the query. Before that, it acquires an advisory lock for the business and the
// kind of row that the argument what names. Therefore, of two concurrent additions, the second one counts the first.
func countLive(ctx context.Context, tx pgx.Tx, what string, businessID uuid.UUID, query string,
	args ...any) (int, error) {
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended($1 || ' ' || $2::uuid::text, 0))`, what,
		businessID); err != nil {
		return 0, err
	}
	var n int
	err := tx.QueryRow(ctx, query, append([]any{businessID}, args...)...).Scan(&n)
	return n, err
}

// CreateKey stores an API key with the hash of its secret, once for each Idempotency-Key.
// CreatedAt is stored in microseconds. Errors: [*KeyMadeError], [ErrTooManyKeys].
func (s *Store) CreateKey(ctx context.Context, key Key, hash [sha256.Size]byte) error {
	made, err := postgres.WriteIdempotently(ctx, s.pool, key.BusinessID,
		func(ctx context.Context, tx pgx.Tx) (KeyMadeError, error) {
			n, err := countLive(ctx, tx, "api_keys", key.BusinessID, `
			SELECT count(*) FROM api_keys WHERE business_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)`, key.CreatedAt)
			if err == nil && n >= MaxKeys {
				err = ErrTooManyKeys
			}
			if err != nil {
				return KeyMadeError{}, err
			}
			_, err = tx.Exec(ctx, createKeySQL, eventlog.Add(ctx, pgx.NamedArgs{
				"business_id": key.BusinessID, "id": key.ID, "name": key.Name, "scope": key.Scope, "hash": hash[:],
				"prefix":     key.Prefix,
				"created_at": key.CreatedAt, "created_by": key.CreatedBy, "expires_at": key.ExpiresAt,
			}, key.CreatedAt))
			return KeyMadeError{ID: key.ID}, err
		})
	switch {
	case err != nil:
		return fmt.Errorf("store an API key: %w", err)
	case made.ID != key.ID:
		return &made
	}
	return nil
}

// Keys returns a page of a business's keys, oldest first, and the cursor of the next page; ""
// after the last. Fault: invalid_parameter for an invalid cursor.
func (s *Store) Keys(ctx context.Context, businessID uuid.UUID, page request.Page) ([]Key, string, error) {
	after, afterID, err := page.AfterTime()
	if err != nil {
		return nil, "", err
	}
	keys, err := postgres.Rows(ctx, s.pool, func(row pgx.CollectableRow) (Key, error) {
		return scanKey(row)
	}, "list API keys", `
		SELECT `+keyColumns+` FROM api_keys
		WHERE business_id = $1 AND ($2::timestamptz IS NULL OR (created_at, id) > ($2, $3))
		ORDER BY created_at, id
		LIMIT $4`, businessID, after, afterID, page.Limit+1)
	if err != nil {
		return nil, "", err
	}
	keys, next := request.Cut(keys, page.Limit, func(k Key) string { return request.ByTime(k.CreatedAt, k.ID) })
	return keys, next, nil
}

// revokeKeysSQL revokes one API key of a business, or all of them if the id is null. It returns
// whether the key exists. If a key is already revoked, the time of its revocation stays.
var revokeKeysSQL = `
WITH revoked AS (
    UPDATE api_keys SET revoked_at = @now, sequence = sequence + 1
    WHERE business_id = @business_id AND (@id::uuid IS NULL OR id = @id) AND revoked_at IS NULL
    RETURNING *
), recorded AS (
    ` + recordKeyRevoked + `
)
SELECT EXISTS (SELECT FROM api_keys WHERE business_id = @business_id AND id = @id)`

// RevokeKey revokes an API key, once for each Idempotency-Key. After RevokeKey returns, no booking with the
// key is written. If the key is already revoked, the time of its revocation stays. Errors: [ErrNotFound].
func (s *Store) RevokeKey(ctx context.Context, businessID, id uuid.UUID, now time.Time) error {
	return s.revokeKeys(ctx, businessID, &id, now)
}

// RevokeAllKeys revokes every key of a business, once for each Idempotency-Key.
func (s *Store) RevokeAllKeys(ctx context.Context, businessID uuid.UUID, now time.Time) error {
	return s.revokeKeys(ctx, businessID, nil, now)
}

func (s *Store) revokeKeys(ctx context.Context, businessID uuid.UUID, id *uuid.UUID, now time.Time) error {
	_, err := postgres.WriteIdempotently(ctx, s.pool, businessID, func(ctx context.Context, tx pgx.Tx) (struct{},
		error) {
		if _, err := tx.Exec(ctx, lockSalesSQL, businessID); err != nil {
			return struct{}{}, err
		}
		var known bool
		err := tx.QueryRow(ctx, revokeKeysSQL,
			eventlog.Add(ctx, pgx.NamedArgs{"business_id": businessID, "id": id, "now": now}, now)).Scan(&known)
		if err == nil && id != nil && !known {
			err = ErrNotFound
		}
		return struct{}{}, err
	})
	if err != nil {
		return fmt.Errorf("revoke API keys: %w", err)
	}
	return nil
}
