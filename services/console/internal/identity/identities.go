package identity

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/values/email"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/oidc"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
)

// BeginIdentity begins a sign-in by the identity provider. It returns the URL of the provider to which the browser is
// redirected, and the random values of the sign-in (the attempt). The browser keeps the attempt until the provider
// redirects the browser back. Errors: [oidc.ErrUnavailable].
func (a *Accounts) BeginIdentity(ctx context.Context) (string, oidc.Attempt, error) {
	address, attempt, err := a.Provider.Begin(ctx)
	if err != nil {
		a.Logger.WarnContext(ctx, "the identity provider does not answer", "error", err)
	}
	return address, attempt, err
}

// SignInByIdentity signs in a person whose identity the provider confirms, and returns the secret of a new session.
// Errors: [ErrInvalidSecret] for a person who was not invited, unless sign-up is open or the provider's group makes them
// an operator; the errors of [oidc.Provider.Finish].
func (a *Accounts) SignInByIdentity(ctx context.Context, attempt oidc.Attempt,
	state, code, client string) (string, error) {
	claims, err := a.Provider.Finish(ctx, attempt, state, code)
	if err != nil {
		a.recordRefusal(ctx, methodProvider)
		return "", err
	}
	person, err := a.findOrAddVerified(ctx, claims)
	if err != nil {
		a.recordRefusal(ctx, methodProvider)
		return "", err
	}
	session, hash, newSession := a.newSession(person.ID, client)
	if err := a.Store.SignInVerified(ctx, claims.IsOperator, newSession, hash); err != nil {
		return "", err
	}
	if claims.IsOperator != nil && *claims.IsOperator != person.IsOperator {
		a.Logger.InfoContext(ctx, "operator by group", "person_id", person.ID, "operator", *claims.IsOperator)
	}
	a.recordSignIn(ctx, methodProvider, newSession)
	return session, nil
}

// findOrAddVerified returns the stored person with the e-mail address that the provider has confirmed. If no such
// person is stored, it adds one, but only if sign-up is open, or if the provider's group makes the person an operator.
// Errors: [ErrInvalidSecret] for any other unknown person.
func (a *Accounts) findOrAddVerified(ctx context.Context, claims oidc.Identity) (store.Person, error) {
	found, err := a.Store.FindCredentialsByEmail(ctx, normalizeAddress(claims.Email))
	if err == nil || !errors.Is(err, store.ErrNotFound) {
		return found.Person, err
	}
	isOperator := claims.IsOperator != nil && *claims.IsOperator
	if !isOperator && !a.OpensSignUp || !email.Valid(normalizeAddress(claims.Email)) {
		return store.Person{}, ErrInvalidSecret
	}
	name := claims.Name
	if name == "" || len(name) > 200 {
		name = normalizeAddress(claims.Email)
	}
	return a.Store.AddUninvitedPerson(ctx, store.Person{ID: uuid.New(), Email: normalizeAddress(claims.Email),
		Name:      name,
		CreatedAt: a.Clock.Now()})
}
