package identity

import (
	"context"
	"encoding/hex"

	"github.com/slotmesh/slotmesh/services/console/internal/identity/secret"
)

// BrowserKey returns the key by which package limits counts the attempts from a browser. It is derived from the
// browser's secret and does not reveal it.
func BrowserKey(clear string) string {
	hash := secret.Hash(clear)
	return hex.EncodeToString(hash[:16])
}

// KnowsBrowser reports whether the person with this address has signed in before in a browser. clear is the secret in
// the browser's cookie.
func (a *Accounts) KnowsBrowser(ctx context.Context, clear, email string) (bool, error) {
	if !secret.WellFormed("", clear) {
		return false, nil
	}
	return a.Store.KnowsBrowser(ctx, secret.Hash(clear), address(email), a.Clock.Now())
}

// RememberBrowser stores that a person has signed in in a browser. clear is the secret in the browser's cookie, "" for
// none. It returns the secret to keep in the cookie, which is new if there was none.
func (a *Accounts) RememberBrowser(ctx context.Context, clear string, signed *SignedIn) (string, error) {
	if !secret.WellFormed("", clear) {
		clear, _ = secret.New("")
	}
	return clear, a.Store.RememberBrowser(ctx, secret.Hash(clear), signed.Person.ID, signed.Session.ID, a.Clock.Now())
}
