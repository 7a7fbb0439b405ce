package api

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
)

// Token has the SHA-256 hashes of the admin tokens from the environment. While an operator replaces the token of the
// installation, Token has the hashes of the old and the new token.
type Token struct{ sums [][sha256.Size]byte }

// NewToken returns the hashes of the admin tokens in the argument `clear`. Commas separate the tokens.
func NewToken(clear string) Token {
	var t Token
	for one := range strings.SplitSeq(clear, ",") {
		t.sums = append(t.sums, sha256.Sum256([]byte(one)))
	}
	return t
}

func principal(c *fiber.Ctx) identity.Principal { return authorize.Principal(c) }

// newEnvironmentPrincipal returns the principal of a request with an admin token from the environment. The principal's
// label in logs is the beginning of the token's SHA-256 hash: eight hex digits.
func newEnvironmentPrincipal(value string) identity.Principal {
	sum := sha256.Sum256([]byte(value))
	return identity.Principal{Kind: access.Environment, Label: hex.EncodeToString(sum[:4]), IsOperator: true}
}

// matches reports whether a token is one of the admin tokens. It compares hashes, so that the duration of the call
// reveals neither a token nor the token's length. It compares with all tokens, so that the duration does not reveal
// which token matched.
func (t Token) matches(value string) bool {
	sum, match := sha256.Sum256([]byte(value)), 0
	for i := range t.sums {
		match |= subtle.ConstantTimeCompare(sum[:], t.sums[i][:])
	}
	return match == 1
}

// challenge is the WWW-Authenticate header of an answer to a request without a valid token.
const challenge = `Bearer realm="slotmesh admin"`

// authenticate is middleware that admits only requests with a valid bearer token: an admin token from the environment,
// or a stored token of the admin API. It sets the header Cache-Control, so that caches do not store the answers.
//
// After too many wrong tokens from one IP address, authenticate refuses every token from this address, even a valid
// token. Otherwise an attacker who guesses tokens could recognize a valid token, because only its answer would differ.
// Requests from other addresses are not refused.
func (a *Admin) authenticate(c *fiber.Ctx) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	if err := a.Limits.CheckWrongTokens(c.UserContext(), server.ClientIP(c)); err != nil {
		return err
	}
	scheme, value, _ := strings.Cut(c.Get(fiber.HeaderAuthorization), " ")
	p, err := a.authenticateBearer(c.UserContext(), scheme, strings.TrimSpace(value))
	if err == nil {
		if err := a.Limits.PassPrincipal(c.UserContext(), p.Label, server.AnswerHeader(c)); err != nil {
			return err
		}
		authorize.Admit(c, p)
		if err := c.Next(); !fault.Is(err, fault.Unauthorized) {
			return err
		}
		c.Set(fiber.HeaderWWWAuthenticate, challenge)
		return store.ErrRevoked
	}
	if !errors.Is(err, identity.ErrInvalidSecret) {
		return err
	}
	c.Set(fiber.HeaderWWWAuthenticate, challenge)
	if value == "" {
		return fault.New(fault.Unauthorized,
			"The admin token is missing; send it in the header Authorization, after the word Bearer.")
	}
	if err := a.Limits.CountWrongToken(c.UserContext(), server.ClientIP(c), server.AnswerHeader(c)); err != nil {
		return err
	}
	return fault.New(fault.Unauthorized,
		"The admin token is not the right one; send one that was not revoked and has not expired.")
}

// authenticateBearer returns the principal of the token in an Authorization header. Errors:
// [identity.ErrInvalidSecret].
func (a *Admin) authenticateBearer(ctx context.Context, scheme, value string) (identity.Principal, error) {
	if !strings.EqualFold(scheme, "Bearer") {
		return identity.Principal{}, identity.ErrInvalidSecret
	}
	if a.Token.matches(value) {
		return newEnvironmentPrincipal(value), nil
	}
	return a.Rooms.Accounts.AuthenticateToken(ctx, value)
}
