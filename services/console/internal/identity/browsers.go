package identity

import (
	"context"
	"encoding/hex"

	"github.com/slotmesh/slotmesh/services/console/internal/identity/secret"
)

// BrowserKey returns the key under which the `limits` package counts the attempts to sign in from a browser. The key is
// derived from the secret in the browser's cookie, the argument `clear`, and does not reveal this secret.
func BrowserKey(clear string) string {
	hash := secret.Hash(clear)
	return hex.EncodeToString(hash[:16])
}

// KnowsBrowser reports whether the person with the e-mail address has signed in before in the given browser. The
// argument `clear` is the secret in the browser's cookie.
func (a *Accounts) KnowsBrowser(ctx context.Context, clear, email string) (bool, error) {
	if !secret.IsWellFormed("", clear) {
		return false, nil
	}
	return a.Store.KnowsBrowser(ctx, secret.Hash(clear), normalizeAddress(email), a.Clock.Now())
}

// RememberBrowser stores the browser in which a person has signed in. The argument `clear` is the secret in the
// browser's cookie, or "" if the browser has no cookie. RememberBrowser returns the secret to keep in the cookie, which
// is a new secret if `clear` is not a valid secret.
func (a *Accounts) RememberBrowser(ctx context.Context, clear string, signed *SignedInPerson) (string, error) {
	if !secret.IsWellFormed("", clear) {
		clear, _ = secret.New("")
	}
	return clear, a.Store.RememberBrowser(ctx, secret.Hash(clear), signed.Person.ID, signed.Session.ID, a.Clock.Now())
}
