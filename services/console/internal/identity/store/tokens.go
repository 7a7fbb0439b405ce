package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

// Token is a stored token of the admin API. It does not contain the secret.
type Token struct {
	access.Member // BusinessID is the nil UUID for the role of an operator
	ID            uuid.UUID
	Name          string
	Prefix        string    // the first eight digits of the secret
	CreatedBy     uuid.UUID // id of the creating person or token; nil UUID: the token in SLOTMESH_ADMIN_TOKEN
	CreatedAt     time.Time
	ExpiresAt     *time.Time // nil: the token does not expire
	LastUsedAt    *time.Time // accurate to one minute
	RevokedAt     *time.Time
	Device        string // name of the machine whose program `slotmesh login` connected; "" for other tokens
}

// MaxDeviceIdle is how long a token that `slotmesh login` created stays valid without use.
const MaxDeviceIdle = 30 * 24 * time.Hour

const tokenColumns = `business_id, role, coalesce(staff_id, '00000000-0000-0000-0000-000000000000'), locations, id, name, prefix,
	coalesce(created_by, '00000000-0000-0000-0000-000000000000'), created_at, expires_at, last_used_at, revoked_at, coalesce(device, '')`

func scanToken(row pgx.CollectableRow) (Token, error) {
	var t Token
	err := row.Scan(&t.BusinessID, &t.Role, &t.StaffID, &t.Locations, &t.ID, &t.Name, &t.Prefix, &t.CreatedBy,
		&t.CreatedAt, &t.ExpiresAt, &t.LastUsedAt, &t.RevokedAt, &t.Device)
	return t, err
}

// TokenExistsError means that an earlier request with the same Idempotency-Key created a token. Only the answer to that
// request contained the secret.
type TokenExistsError struct{ ID uuid.UUID }

func (e *TokenExistsError) Error() string { return "the token was made as " + e.ID.String() }

// AddToken stores a token with the hash of its secret, idempotently. Errors: [ErrRevoked] if the principal's own
// session or token has ended; [*TokenExistsError]. Faults: business_not_found, forbidden.
func (s *Store) AddToken(ctx context.Context, by access.Principal, t Token, hash [sha256.Size]byte) error {
	tokenExistsError, err := postgres.WriteIdempotently(ctx, s.pool, t.BusinessID,
		func(ctx context.Context, tx pgx.Tx) (TokenExistsError, error) {
			if _, err := s.authorizeTeamWrite(ctx, tx, by, t.BusinessID); err != nil {
				return TokenExistsError{}, err
			}
			return TokenExistsError{ID: t.ID}, insertToken(ctx, tx, t, hash)
		})
	switch {
	case err != nil:
		return fmt.Errorf("add a token: %w", err)
	case tokenExistsError.ID != t.ID:
		return &tokenExistsError
	}
	return nil
}

// MaxTokens is the maximum number of valid tokens of one business. All operators together have the same maximum.
const MaxTokens = 100

// ErrTooManyTokens means that the business already has [MaxTokens] valid tokens, or that [MaxTokens] valid tokens of
// operators exist.
var ErrTooManyTokens = errors.New("has too many tokens")

// insertToken stores a token with the hash of its secret. Errors: [ErrTooManyTokens].
func insertToken(ctx context.Context, tx pgx.Tx, t Token, hash [sha256.Size]byte) error {
	// The lock makes the second of two concurrent transactions wait, so that the second transaction counts the token of
	// the first.
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('tokens ' || $1::uuid::text, 0))`,
		t.BusinessID); err != nil {
		return err
	}
	var n int
	err := tx.QueryRow(ctx,
		`SELECT count(*) FROM tokens WHERE business_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)`,
		t.BusinessID, t.CreatedAt).Scan(&n)
	if err == nil && n >= MaxTokens {
		return ErrTooManyTokens
	}
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
			WITH made AS (
			    INSERT INTO tokens (business_id, id, name, role, staff_id, hash, prefix, created_by, created_at, expires_at, device, locations, root_id)
			    VALUES (@business_id, @id, @name, @role, @staff_id, @hash, @prefix, @created_by, @created_at, @expires_at, nullif(@device, ''), coalesce(@locations, '{}'::uuid[]),
			            coalesce((SELECT coalesce(root_id, created_by, id) FROM tokens WHERE id = @created_by), @created_by, @id))
			    RETURNING *
			)
			`+eventlog.Record(event.Token, event.TokenCreated, "made", tokenEventSQL),
		eventlog.Add(ctx, pgx.NamedArgs{
			"business_id": t.BusinessID, "id": t.ID, "name": t.Name, "role": t.Role, "staff_id": OrNull(t.StaffID),
			"hash": hash[:], "prefix": t.Prefix,
			"created_by": OrNull(t.CreatedBy), "created_at": t.CreatedAt, "expires_at": t.ExpiresAt, "device": t.Device,
			"locations": t.Locations,
		}, t.CreatedAt))
	return err
}

// ListTokens lists the tokens of the businesses whose ids are in the argument `of`, oldest first. If `of` is nil, it
// lists all tokens, including the tokens of operators. ListTokens returns the cursor of the next page, or "" after the
// last page. Fault: invalid_parameter for a cursor that ListTokens did not return.
func (s *Store) ListTokens(ctx context.Context, of []uuid.UUID, page request.Page) ([]Token, string, error) {
	after, afterID, err := page.AfterTime()
	if err != nil {
		return nil, "", err
	}
	list, err := postgres.Rows(ctx, s.pool, scanToken, "list tokens", `
		SELECT `+tokenColumns+` FROM tokens
		WHERE ($1::uuid[] IS NULL OR business_id = ANY ($1)) AND ($2::timestamptz IS NULL OR (created_at, id) > ($2, $3))
		ORDER BY created_at, id LIMIT $4`, of, after, afterID, page.Limit+1)
	if err != nil {
		return nil, "", err
	}
	list, next := request.Cut(list, page.Limit, func(t Token) string { return request.ByTime(t.CreatedAt, t.ID) })
	return list, next, nil
}

// FindToken returns a token, even if the token is revoked or expired. Errors: [ErrNotFound].
func (s *Store) FindToken(ctx context.Context, id uuid.UUID) (Token, error) {
	t, err := postgres.Row(ctx, s.pool, scanToken, "read a token", `SELECT `+tokenColumns+` FROM tokens WHERE id = $1`,
		id)
	return t, toNotFound(err)
}

// tokenEventSQL is the SQL expression for the data of a token that an event contains. It leaves out the hash of the
// secret and the time of the last use.
const tokenEventSQL = `jsonb_build_object('id', id, 'business_id', business_id, 'name', name, 'role', role, 'staff_id', staff_id, 'prefix', prefix,
    'created_at', created_at, 'expires_at', expires_at, 'revoked_at', revoked_at)`

// buildRevokedTokensSQL returns the beginning of an SQL statement: the definition of the table ended_tokens. This table
// has the ids of the tokens that the SQL query in the argument `first` returns. It also has the ids of all tokens that
// were created with these tokens, directly or through other tokens.
func buildRevokedTokensSQL(first string) string {
	return `WITH RECURSIVE ended_tokens AS (
		    ` + first + `
		    UNION SELECT t.id FROM tokens AS t JOIN ended_tokens ON t.created_by = ended_tokens.id
		)`
}

// revoke revokes the tokens whose ids the SQL query in the argument `first` returns; `args` are the parameters of the
// query. It also revokes the tokens that were created with these tokens, and ends the invitations that were sent with
// any of the revoked tokens. A token that is already revoked stays unchanged.
func revoke(ctx context.Context, tx pgx.Tx, first string, args pgx.NamedArgs, now time.Time) error {
	args = eventlog.Add(ctx, args, now)
	if _, err := tx.Exec(ctx,
		buildEndInvitationSQL(`made_by IN (`+buildRevokedTokensSQL(first)+` SELECT id FROM ended_tokens)`),
		args); err != nil {
		return fmt.Errorf("end the invitations of tokens: %w", err)
	}
	_, err := tx.Exec(ctx, buildRevokedTokensSQL(first)+`, revoked AS (
		    UPDATE tokens SET revoked_at = @event_at, sequence = tokens.sequence + 1 FROM ended_tokens WHERE tokens.id = ended_tokens.id AND revoked_at IS NULL
		    RETURNING tokens.*
		)
		`+eventlog.Record(event.Token, event.TokenRevoked, "revoked", tokenEventSQL), args)
	return err
}

// RevokeToken revokes a token of a business, and the tokens that were created with this token, idempotently. A token
// that is already revoked stays unchanged. Errors: [ErrRevoked], [ErrNotFound]. Faults: business_not_found, forbidden;
// outcome_unknown.
func (s *Store) RevokeToken(ctx context.Context, by access.Principal, businessID, id uuid.UUID, now time.Time) error {
	root, err := findTokenRoot(ctx, s.pool, id)
	if errors.Is(err, ErrRevoked) {
		return ErrNotFound
	}
	if err != nil {
		return err
	}
	_, err = runRevocation(ctx, s.pool, root, func() (struct{}, error) {
		return postgres.WriteIdempotently(ctx, s.pool, businessID, func(ctx context.Context, tx pgx.Tx) (struct{},
			error) {
			if _, err := s.authorizeTeamWrite(ctx, tx, by, businessID, root); err != nil {
				return struct{}{}, err
			}
			first := `SELECT id FROM tokens WHERE business_id = @business_id AND id = @id`
			return struct{}{}, revoke(ctx, tx, first, pgx.NamedArgs{"business_id": businessID, "id": id}, now)
		})
	})
	if err != nil {
		return fmt.Errorf("revoke a token: %w", err)
	}
	return nil
}

// revokeTokensOf revokes the tokens that a person created for a business, and the tokens that were created with these
// tokens. It also ends the person's invitations to the business: those sent directly, and those sent with one of these
// tokens.
func revokeTokensOf(ctx context.Context, tx pgx.Tx, businessID, personID uuid.UUID, now time.Time) error {
	args := pgx.NamedArgs{"business_id": businessID, "person_id": personID}
	_, err := tx.Exec(ctx, buildEndInvitationSQL(`business_id = @business_id AND made_by = @person_id`),
		eventlog.Add(ctx, maps.Clone(args), now))
	if err != nil {
		return fmt.Errorf("end a person's invitations: %w", err)
	}
	return revoke(ctx, tx, `SELECT id FROM tokens WHERE business_id = @business_id AND created_by = @person_id`, args,
		now)
}

// lapsedCreatorSQL is an SQL query for the person who created a token, directly or through other tokens. It returns a
// row only if a provider's group made this person an operator and the operator right has lapsed. The right has lapsed
// if the provider last confirmed the right at or before the parameter $3.
//
// If the person belongs to the business of the token, the query returns no row, because this token does not depend on
// the operator right.
const lapsedCreatorSQL = `
	WITH RECURSIVE makers AS (
	    SELECT tokens.created_by AS id
	    UNION SELECT t.created_by FROM tokens AS t JOIN makers ON t.id = makers.id
	)
	SELECT FROM people JOIN makers ON makers.id = people.id
	WHERE people.operator AND people.operator_vouched_at <= $3
	  AND NOT EXISTS (SELECT FROM members WHERE members.person_id = people.id AND members.business_id = tokens.business_id)`

// validTokenSQL is the SQL condition for a valid token. The token is not revoked and not expired, and the operator
// right of the person who created the token has not lapsed. The token of a program that `slotmesh login` connected must
// also have been used within [MaxDeviceIdle]. [newValidTokenArgs] returns the parameters of the condition.
const validTokenSQL = `revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2) AND NOT EXISTS (` +
	lapsedCreatorSQL + `)
	AND (device IS NULL OR coalesce(last_used_at, created_at) > $4)`

// newValidTokenArgs returns the parameters of [validTokenSQL] at the instant `now`. The first parameter is `key`, which
// identifies the token.
func newValidTokenArgs(key any, now time.Time) []any {
	return []any{key, now, now.Add(-GroupOperatorLifetime), now.Add(-MaxDeviceIdle)}
}

// ListTokensCreatedBy lists the tokens that a person created for a business, and the tokens that were created with
// these tokens. The oldest token comes first. The list includes revoked tokens.
func (s *Store) ListTokensCreatedBy(ctx context.Context, businessID, personID uuid.UUID) ([]Token, error) {
	return postgres.Rows(ctx, s.pool, scanToken, "list a person's tokens", `
		WITH RECURSIVE made AS (
		    SELECT id FROM tokens WHERE business_id = $1 AND created_by = $2
		    UNION SELECT t.id FROM tokens AS t JOIN made ON t.created_by = made.id
		)
		SELECT `+tokenColumns+` FROM tokens WHERE business_id = $1 AND id IN (SELECT id FROM made) ORDER BY created_at, id`, businessID, personID)
}

// RevokeTokensCreatedBy revokes the tokens that [Store.ListTokensCreatedBy] lists. A token that is already revoked
// stays unchanged. Faults: business_not_found, forbidden.
func (s *Store) RevokeTokensCreatedBy(ctx context.Context, by access.Principal, businessID, personID uuid.UUID,
	now time.Time) error {
	err := s.revokeInTransaction(ctx, personID, func(tx pgx.Tx) error {
		if _, err := s.authorizeTeamWrite(ctx, tx, by, businessID, personID); err != nil {
			return err
		}
		return revokeTokensOf(ctx, tx, businessID, personID, now)
	})
	if err != nil {
		return fmt.Errorf("end a person's tokens: %w", err)
	}
	return nil
}

// FindTokenByHash returns the token whose secret has the given hash, if the token is valid at the instant `now`. It
// updates the time of the token's last use, at most once a minute. Errors: [ErrNotFound].
func (s *Store) FindTokenByHash(ctx context.Context, hash [sha256.Size]byte, now time.Time) (Token, error) {
	token, err := postgres.Row(ctx, s.pool, scanToken, "look up a token", `
		SELECT `+tokenColumns+` FROM tokens WHERE hash = $1 AND `+validTokenSQL, newValidTokenArgs(hash[:], now)...)
	if err != nil {
		return Token{}, toNotFound(err)
	}
	if token.LastUsedAt != nil && now.Sub(*token.LastUsedAt) < time.Minute {
		return token, nil
	}
	if _, err := s.pool.Exec(ctx, `UPDATE tokens SET last_used_at = $3 WHERE business_id = $1 AND id = $2`,
		token.BusinessID, token.ID, now); err != nil {
		return Token{}, fmt.Errorf("note the use of a token: %w", err)
	}
	return token, nil
}
