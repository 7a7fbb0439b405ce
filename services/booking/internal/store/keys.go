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

// Key is a stored API key, without its secret.
type Key struct {
	BusinessID uuid.UUID
	ID         uuid.UUID
	Name       string
	Scope      string // one of the constants booking.Scope…
	Prefix     string // the first eight digits of the secret
	CreatedAt  time.Time
	CreatedBy  *uuid.UUID // the person or token that made the key; nil: unknown
	ExpiresAt  *time.Time // nil: the key does not expire
	LastUsedAt *time.Time // the last use, stored at most once a minute; nil: never used
	RevokedAt  *time.Time // nil: the key is not revoked
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

// KeyByHash returns the API key with the given hash, even if the key is revoked or expired. Errors: [ErrNotFound].
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

// TouchKey stores the argument `now` as the last use of the key. It does nothing if the stored last use
// is later than the argument `since`. This limits the number of writes for a key that is used often.
func (s *Store) TouchKey(ctx context.Context, businessID, id uuid.UUID, now, since time.Time) error {
	_, err := s.pool.Exec(ctx, `
		UPDATE api_keys SET last_used_at = $3
		WHERE business_id = $1 AND id = $2 AND (last_used_at IS NULL OR last_used_at <= $4)`, businessID, id, now, since)
	if err != nil {
		return fmt.Errorf("store the use of an API key: %w", err)
	}
	return nil
}

// KeyExistsError means that an earlier request with the same Idempotency-Key made
// the API key with this ID. Only the answer to that request contained the secret.
type KeyExistsError struct{ ID uuid.UUID }

func (e *KeyExistsError) Error() string { return "the key was made as " + e.ID.String() }

var createKeySQL = `
WITH made AS (
    INSERT INTO api_keys (business_id, id, name, scope, hash, prefix, created_at, created_by, expires_at)
    VALUES (@business_id, @id, @name, @scope, @hash, @prefix, @created_at, @created_by, @expires_at)
    RETURNING *
)
` + recordKeyCreated

// MaxKeys is the maximum number of API keys of a business. Revoked and expired keys do not count.
const MaxKeys = 100

// ErrTooManyKeys means that the business already has [MaxKeys] keys.
var ErrTooManyKeys = errors.New("too many API keys")

// countLive runs the query `query`, which counts rows of the business. Before that, it acquires an
// advisory lock for the business and the kind of row in the argument `what`. Therefore, if two
// transactions add a row concurrently, the second transaction counts after the first one has committed.
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

// CreateKey stores an API key with the hash of its secret, at most once for each Idempotency-Key.
// The database stores CreatedAt in microseconds. Errors: [*KeyExistsError], [ErrTooManyKeys].
func (s *Store) CreateKey(ctx context.Context, key Key, hash [sha256.Size]byte) error {
	existing, err := postgres.WriteIdempotently(ctx, s.pool, key.BusinessID,
		func(ctx context.Context, tx pgx.Tx) (KeyExistsError, error) {
			n, err := countLive(ctx, tx, "api_keys", key.BusinessID, `
			SELECT count(*) FROM api_keys WHERE business_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)`, key.CreatedAt)
			if err == nil && n >= MaxKeys {
				err = ErrTooManyKeys
			}
			if err != nil {
				return KeyExistsError{}, err
			}
			_, err = tx.Exec(ctx, createKeySQL, eventlog.Add(ctx, pgx.NamedArgs{
				"business_id": key.BusinessID, "id": key.ID, "name": key.Name, "scope": key.Scope, "hash": hash[:],
				"prefix":     key.Prefix,
				"created_at": key.CreatedAt, "created_by": key.CreatedBy, "expires_at": key.ExpiresAt,
			}, key.CreatedAt))
			return KeyExistsError{ID: key.ID}, err
		})
	switch {
	case err != nil:
		return fmt.Errorf("store an API key: %w", err)
	case existing.ID != key.ID:
		return &existing
	}
	return nil
}

// Keys returns a page of the API keys of a business, oldest first. It also returns the cursor
// of the next page, or "" after the last page. Fault: invalid_parameter for an invalid cursor.
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

// revokeKeysSQL revokes one API key of a business, or all of them if the id is null. It does not change
// the revocation time of a revoked key. It returns whether the business has a key with the given id.
var revokeKeysSQL = `
WITH revoked AS (
    UPDATE api_keys SET revoked_at = @now, sequence = sequence + 1
    WHERE business_id = @business_id AND (@id::uuid IS NULL OR id = @id) AND revoked_at IS NULL
    RETURNING *
), recorded AS (
    ` + recordKeyRevoked + `
)
SELECT EXISTS (SELECT FROM api_keys WHERE business_id = @business_id AND id = @id)`

// RevokeKey revokes an API key, at most once for each Idempotency-Key. After RevokeKey returns, no booking with
// the key can commit. RevokeKey does not change the revocation time of a revoked key. Errors: [ErrNotFound].
func (s *Store) RevokeKey(ctx context.Context, businessID, id uuid.UUID, now time.Time) error {
	return s.revokeKeys(ctx, businessID, &id, now)
}

// RevokeAllKeys revokes every API key of a business, at most once for each Idempotency-Key.
// After RevokeAllKeys returns, no booking with one of the keys can commit.
func (s *Store) RevokeAllKeys(ctx context.Context, businessID uuid.UUID, now time.Time) error {
	return s.revokeKeys(ctx, businessID, nil, now)
}

func (s *Store) revokeKeys(ctx context.Context, businessID uuid.UUID, id *uuid.UUID, now time.Time) error {
	_, err := postgres.WriteIdempotently(ctx, s.pool, businessID, func(ctx context.Context, tx pgx.Tx) (struct{},
		error) {
		if _, err := tx.Exec(ctx, lockSalesSQL, businessID); err != nil {
			return struct{}{}, err
		}
		var isKnown bool
		err := tx.QueryRow(ctx, revokeKeysSQL,
			eventlog.Add(ctx, pgx.NamedArgs{"business_id": businessID, "id": id, "now": now}, now)).Scan(&isKnown)
		if err == nil && id != nil && !isKnown {
			err = ErrNotFound
		}
		return struct{}{}, err
	})
	if err != nil {
		return fmt.Errorf("revoke API keys: %w", err)
	}
	return nil
}
