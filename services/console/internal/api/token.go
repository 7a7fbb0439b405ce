package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/fault"
)

// Token is the admin token, kept as its SHA-256.
type Token struct{ sum [sha256.Size]byte }

// NewToken takes the token in clear.
func NewToken(clear string) Token { return Token{sum: sha256.Sum256([]byte(clear))} }

// Fingerprint names the token in logs without giving it away: the first eight hex digits of its SHA-256.
func (t Token) Fingerprint() string { return hex.EncodeToString(t.sum[:4]) }

// matches compares sums, so that the time it takes says nothing of the token or its length.
func (t Token) matches(shown string) bool {
	sum := sha256.Sum256([]byte(shown))
	return subtle.ConstantTimeCompare(sum[:], t.sum[:]) == 1
}

// authenticate lets only the bearer of the admin token on. What it is shown is nobody else's to keep.
func (a *Admin) authenticate(c *fiber.Ctx) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	scheme, shown, _ := strings.Cut(c.Get(fiber.HeaderAuthorization), " ")
	if strings.EqualFold(scheme, "Bearer") && a.Token.matches(strings.TrimSpace(shown)) {
		return c.Next()
	}
	c.Set(fiber.HeaderWWWAuthenticate, `Bearer realm="slotmesh admin"`)
	if shown == "" {
		return fault.New(fault.Unauthorized, "The admin token is missing; send it in the header Authorization, after the word Bearer.")
	}
	return fault.New(fault.Unauthorized, "The admin token is not the right one; send the one that the service was started with.")
}
