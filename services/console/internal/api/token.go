package api

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/server"
	"github.com/slotmesh/slotmesh/services/console/internal/access"
	"github.com/slotmesh/slotmesh/services/console/internal/gate"
	"github.com/slotmesh/slotmesh/services/console/internal/store"
	"github.com/slotmesh/slotmesh/services/console/internal/usecase"
)

// Token is the admin token, or several tokens while one replaces another. Each is stored as its SHA-256.
type Token struct{ sums [][sha256.Size]byte }

// NewToken returns the Token for the given tokens, which are separated by commas.
func NewToken(clear string) Token {
	var t Token
	for one := range strings.SplitSeq(clear, ",") {
		t.sums = append(t.sums, sha256.Sum256([]byte(one)))
	}
	return t
}

// principal returns the principal of a request.
func principal(c *fiber.Ctx) usecase.Principal { return gate.Principal(c) }

// bearer returns the principal of the environment's token. Logs name it by the first eight hex digits of its SHA-256.
func bearer(shown string) usecase.Principal {
	sum := sha256.Sum256([]byte(shown))
	return usecase.Principal{Kind: access.Environment, Label: hex.EncodeToString(sum[:4]), Operator: true}
}

// matches reports whether a token is valid. It compares hashes, so that its time reveals neither a token nor its
// length. It compares all of them, so that its time does not reveal which token matched.
func (t Token) matches(shown string) bool {
	sum, match := sha256.Sum256([]byte(shown)), 0
	for i := range t.sums {
		match |= subtle.ConstantTimeCompare(sum[:], t.sums[i][:])
	}
	return match == 1
}

// challenge is the WWW-Authenticate header of an answer to a request without a valid token.
const challenge = `Bearer realm="slotmesh admin"`

// authenticate admits only requests with a bearer token: the environment's token, or one of the admin API. Answers must
// not be cached. An address that has shown too many wrong tokens is refused whatever token it shows. Otherwise the
// answers would reveal which token is right. Other addresses are not affected.
func (a *Admin) authenticate(c *fiber.Ctx) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	if err := a.Limits.TokensRefused(c.UserContext(), server.ClientIP(c)); err != nil {
		return err
	}
	scheme, shown, _ := strings.Cut(c.Get(fiber.HeaderAuthorization), " ")
	p, err := a.bearerOf(c.UserContext(), scheme, strings.TrimSpace(shown))
	if err == nil {
		if err := a.Limits.PassPrincipal(c.UserContext(), p.Label, server.AnswerHeader(c)); err != nil {
			return err
		}
		gate.Admit(c, p)
		if err := c.Next(); !fault.Is(err, fault.Unauthorized) {
			return err
		}
		c.Set(fiber.HeaderWWWAuthenticate, challenge)
		return store.ErrRevoked
	}
	if !errors.Is(err, usecase.ErrNobody) {
		return err
	}
	c.Set(fiber.HeaderWWWAuthenticate, challenge)
	if shown == "" {
		return fault.New(fault.Unauthorized, "The admin token is missing; send it in the header Authorization, after the word Bearer.")
	}
	if err := a.Limits.WrongToken(c.UserContext(), server.ClientIP(c), server.AnswerHeader(c)); err != nil {
		return err
	}
	return fault.New(fault.Unauthorized, "The admin token is not the right one; send one that was not revoked and has not expired.")
}

// bearerOf returns the principal of a token. Errors: [usecase.ErrNobody].
func (a *Admin) bearerOf(ctx context.Context, scheme, shown string) (usecase.Principal, error) {
	if !strings.EqualFold(scheme, "Bearer") {
		return usecase.Principal{}, usecase.ErrNobody
	}
	if a.Token.matches(shown) {
		return bearer(shown), nil
	}
	return a.Accounts.ByToken(ctx, shown)
}
