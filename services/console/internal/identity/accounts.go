// Package identity signs people in, checks the tokens of the admin API, and manages people, their roles, their
// invitations and their tokens.
//
// The `access` package has the table of permissions, and `authorize` checks each route. The `store` package has the
// database tables. The `signin` package has the pages to sign in, and `accountmail` has the mails about accounts. The
// packages `oidc`, `passkey` and `password` implement the ways to sign in. Package identity imports none of the
// packages `offer`, `sales`, `reports` and `integrations`.
package identity

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/limits"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/oidc"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/passkey"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/password"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/secret"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
)

// AccountsConfig has the dependencies and settings of [NewAccounts].
type AccountsConfig struct {
	Store     *store.Store
	Passwords *password.Hasher
	Mails     Mailer
	Limits    *limits.Gate
	// OwnerURL is the public base URL of the owner's pages, with which the links in mails begin. If OwnerURL is "",
	// console sends no mails about accounts and changes.
	OwnerURL string
	// AllowsPasswords is true if people can sign in with a password or with a passkey.
	AllowsPasswords bool
	// OpensSignUp is true if every person with a verified address may create an account and businesses, without an
	// invitation.
	OpensSignUp bool
	Passkeys    *passkey.Site  // nil: no sign-in with passkeys
	Provider    *oidc.Provider // nil: no identity provider
	Businesses  BusinessLister
	PeerTimeout time.Duration // timeout of a call to another service
	Clock       clock.Clock
	Telemetry   *telemetry.Telemetry
}

// Principal is the caller of a use case. The route has already checked that the principal may do the action. The use
// case limits the data that the principal can see and change.
type Principal = access.Principal

// Accounts signs people in, checks tokens, and manages people, their roles and their tokens.
type Accounts struct {
	AccountsConfig
	Logger *slog.Logger

	waitingMails chan func(context.Context) error // functions that each send one mail
	signIns      metric.Int64Counter
}

// NewAccounts returns an Accounts with the settings `cfg`. It registers the metric slotmesh.sign_ins, which counts
// sign-ins by method and outcome.
func NewAccounts(cfg AccountsConfig) *Accounts {
	return &Accounts{
		AccountsConfig: cfg, Logger: cfg.Telemetry.Logger, waitingMails: make(chan func(context.Context) error,
			maxWaitingMails),
		signIns: cfg.Telemetry.Counter("slotmesh.sign_ins",
			"Attempts to sign in on the owner's side, by method and outcome (signed-in, refused)."),
	}
}

// ErrInvalidSecret means that the secret of a link, a session or a token is unknown or has expired, so that it
// identifies no person.
var ErrInvalidSecret = errors.New("nobody is signed in by this")

// AuthenticateToken returns the principal that a token of the admin API identifies, with their current rights. The
// argument `clear` is the token. Errors: [ErrInvalidSecret].
func (a *Accounts) AuthenticateToken(ctx context.Context, clear string) (Principal, error) {
	if !secret.IsWellFormed(secret.TokenPrefix, clear) {
		return Principal{}, ErrInvalidSecret
	}
	token, err := a.Store.FindTokenByHash(ctx, secret.Hash(clear), a.Clock.Now())
	if errors.Is(err, store.ErrNotFound) {
		return Principal{}, ErrInvalidSecret
	}
	if err != nil {
		return Principal{}, err
	}
	p := Principal{Kind: access.Token, ID: token.ID, Label: "token " + token.ID.String(),
		IsOperator: token.Role == access.Operator}
	if !p.IsOperator {
		p.Members = []access.Member{token.Member}
	}
	return p, nil
}

// Renew returns a principal with their current rights. Fault: unauthorized.
func (a *Accounts) Renew(ctx context.Context, by Principal) (Principal, error) {
	return a.Store.RefreshPrincipal(ctx, by)
}

const (
	maxWriteDuration = 10 * time.Second // maximum duration of a write whose request has no deadline
	endWriteTimeout  = 2 * time.Second
)

// BeginWrite returns a principal with their current rights, and records that the principal has a write in progress in
// another service. Until the write ends, a revocation of these rights waits. After the write, the caller must call the
// returned function with the error of the write. Fault: unauthorized.
//
// If the outcome of the write is unknown, the other service may still execute the write. In this case, the record stays
// for twice the time that remained until the request's deadline when the write began.
func (a *Accounts) BeginWrite(ctx context.Context, by Principal) (Principal, func(error), error) {
	duration := maxWriteDuration
	if deadline, ok := ctx.Deadline(); ok {
		duration = time.Until(deadline)
	}
	now, id, err := a.Store.BeginWrite(ctx, by, 2*duration)
	if err != nil {
		return by, nil, err
	}
	return now, func(failed error) {
		if ctx.Err() != nil || fault.Is(failed, fault.OutcomeUnknown) {
			return
		}
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWriteTimeout)
		defer cancel()
		if err := a.Store.EndWrite(within, id); err != nil {
			a.Logger.WarnContext(ctx, "the record of an unfinished write could not be deleted; it expires later",
				slog.Any("error", err))
		}
	}, nil
}

// SignedInPerson is a person with the session in which they are signed in.
type SignedInPerson struct {
	Principal Principal
	Person    store.Person
	Session   store.Session
}

// AuthenticateSession returns the person of a session, with their current rights. The argument `clear` is the secret of
// the session. Errors: [ErrInvalidSecret].
func (a *Accounts) AuthenticateSession(ctx context.Context, clear string) (*SignedInPerson, error) {
	if !secret.IsWellFormed("", clear) {
		return nil, ErrInvalidSecret
	}
	signed, err := a.Store.FindSessionByHash(ctx, secret.Hash(clear), a.Clock.Now())
	if errors.Is(err, store.ErrNotFound) {
		return nil, ErrInvalidSecret
	}
	if err != nil {
		return nil, err
	}
	return &SignedInPerson{
		Principal: Principal{
			Kind: access.Person, ID: signed.PersonID, Session: signed.ID, Label: "person " + signed.PersonID.String(),
			IsOperator: signed.Person.IsOperator, Members: signed.Members,
			CanSignUp: a.OpensSignUp && signed.Person.IsVerified,
		},
		Person: signed.Person, Session: signed.Session,
	}, nil
}
