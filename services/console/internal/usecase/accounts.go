package usecase

import (
	"context"
	"errors"
	"log/slog"

	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/services/console/internal/access"
	"github.com/slotmesh/slotmesh/services/console/internal/secret"
	"github.com/slotmesh/slotmesh/services/console/internal/store"
)

// Accounts know who is behind a secret, and look after people and tokens.
type Accounts struct {
	Store  *store.Store
	Clock  clock.Clock
	Logger *slog.Logger
}

// ErrNobody says that a secret is nobody's, or not any more.
var ErrNobody = errors.New("nobody is signed in by this")

// ByToken returns the bearer of a token of the admin API, as the tables have it now. Errors: [ErrNobody].
func (a *Accounts) ByToken(ctx context.Context, clear string) (Principal, error) {
	if !secret.WellFormed(secret.TokenPrefix, clear) {
		return Principal{}, ErrNobody
	}
	token, err := a.Store.TokenByHash(ctx, secret.Hash(clear), a.Clock.Now())
	if errors.Is(err, store.ErrNotFound) {
		return Principal{}, ErrNobody
	}
	if err != nil {
		return Principal{}, err
	}
	p := Principal{Kind: access.Token, ID: token.ID, Label: "token " + token.ID.String(), Operator: token.Role == access.Operator}
	if !p.Operator {
		p.Members = []access.Member{token.Member}
	}
	return p, nil
}

// SignedIn is somebody in a browser.
type SignedIn struct {
	Principal Principal
	Person    store.Person
	Session   store.Session
}

// BySession returns who is signed in by the secret of a session, as the tables have them now. Errors: [ErrNobody].
func (a *Accounts) BySession(ctx context.Context, clear string) (*SignedIn, error) {
	if !secret.WellFormed("", clear) {
		return nil, ErrNobody
	}
	signed, err := a.Store.SessionByHash(ctx, secret.Hash(clear), a.Clock.Now())
	if errors.Is(err, store.ErrNotFound) {
		return nil, ErrNobody
	}
	if err != nil {
		return nil, err
	}
	return &SignedIn{
		Principal: Principal{
			Kind: access.Person, ID: signed.PersonID, Label: "person " + signed.PersonID.String(),
			Operator: signed.Person.Operator, Members: signed.Members,
		},
		Person: signed.Person, Session: signed.Session,
	}, nil
}
