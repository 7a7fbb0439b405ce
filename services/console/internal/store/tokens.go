package store

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/postgres"
	"github.com/slotmesh/slotmesh/services/console/internal/access"
)

// Token is a token of the admin API as it is kept: without its secret.
type Token struct {
	access.Member // the nil business for the role of an operator
	ID            uuid.UUID
	Name          string
	Prefix        string    // the first eight digits of the secret
	CreatedBy     uuid.UUID // the person or token; nil: the environment's token
	CreatedAt     time.Time
	ExpiresAt     *time.Time // nil: it does not expire
	LastUsedAt    *time.Time // to the minute
	RevokedAt     *time.Time
}

const tokenColumns = `business_id, role, coalesce(staff_id, '00000000-0000-0000-0000-000000000000'), id, name, prefix,
	coalesce(created_by, '00000000-0000-0000-0000-000000000000'), created_at, expires_at, last_used_at, revoked_at`

func scanToken(row pgx.CollectableRow) (Token, error) {
	var t Token
	err := row.Scan(&t.BusinessID, &t.Role, &t.StaffID, &t.ID, &t.Name, &t.Prefix, &t.CreatedBy, &t.CreatedAt, &t.ExpiresAt, &t.LastUsedAt, &t.RevokedAt)
	return t, err
}

// AddToken keeps a token by the hash of its secret.
func (s *Store) AddToken(ctx context.Context, t Token, hash [sha256.Size]byte) error {
	_, err := s.pool.Exec(ctx, `
		INSERT INTO tokens (business_id, id, name, role, staff_id, hash, prefix, created_by, created_at, expires_at)
		VALUES ($1, $2, $3, $4, nullif($5, '00000000-0000-0000-0000-000000000000'::uuid), $6, $7,
		        nullif($8, '00000000-0000-0000-0000-000000000000'::uuid), $9, $10)`,
		t.BusinessID, t.ID, t.Name, t.Role, t.StaffID, hash[:], t.Prefix, t.CreatedBy, t.CreatedAt, t.ExpiresAt)
	if err != nil {
		return fmt.Errorf("add a token: %w", err)
	}
	return nil
}

// TokenByHash returns the token with this hash that is good at the instant now, and notes to the minute that it was used. Errors:
// [ErrNotFound].
func (s *Store) TokenByHash(ctx context.Context, hash [sha256.Size]byte, now time.Time) (Token, error) {
	token, err := postgres.Row(ctx, s.pool, scanToken, "look up a token", `
		SELECT `+tokenColumns+` FROM tokens
		WHERE hash = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)`, hash[:], now)
	if err != nil {
		return Token{}, found(err)
	}
	if token.LastUsedAt != nil && now.Sub(*token.LastUsedAt) < time.Minute {
		return token, nil
	}
	if _, err := s.pool.Exec(ctx, `UPDATE tokens SET last_used_at = $3 WHERE business_id = $1 AND id = $2`, token.BusinessID, token.ID, now); err != nil {
		return Token{}, fmt.Errorf("note the use of a token: %w", err)
	}
	return token, nil
}
