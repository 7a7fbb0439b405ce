package usecase

import (
	"context"
	"encoding/hex"

	"github.com/slotmesh/slotmesh/services/console/internal/secret"
)

// BrowserKey returns the key of a browser in limits. It is derived from the browser's secret, but does not reveal it.
func BrowserKey(clear string) string {
	hash := secret.Hash(clear)
	return hex.EncodeToString(hash[:16])
}

// KnowsBrowser reports whether the browser that keeps this secret signed in before as the person with this address.
func (a *Accounts) KnowsBrowser(ctx context.Context, clear, email string) (bool, error) {
	if !secret.WellFormed("", clear) {
		return false, nil
	}
	return a.Store.KnowsBrowser(ctx, secret.Hash(clear), address(email), a.Clock.Now())
}

// RememberBrowser records that a person has signed in, in the browser that keeps this secret. It returns the secret
// that the browser keeps from now on: a new one if the browser had none.
func (a *Accounts) RememberBrowser(ctx context.Context, clear string, signed *SignedIn) (string, error) {
	if !secret.WellFormed("", clear) {
		clear, _ = secret.New("")
	}
	return clear, a.Store.RememberBrowser(ctx, secret.Hash(clear), signed.Person.ID, signed.Session.ID, a.Clock.Now())
}
