package identity

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/periodic"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/secret"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
)

// LinkLifetime is how long a link to sign in is valid (accounts.md).
const LinkLifetime = 15 * time.Minute

// makeLink makes a link that can be used once and expires after the duration `lifetime`. The function `save` stores the
// link with the hash of the link's secret. makeLink returns the secret and the time of expiry.
func (a *Accounts) makeLink(link store.Link, lifetime time.Duration,
	save func(store.Link, [32]byte) error) (string, time.Time, error) {
	clear, hash := secret.New("")
	link.ExpiresAt = a.Clock.Now().Add(lifetime).UTC().Truncate(time.Second)
	return clear, link.ExpiresAt, save(link, hash)
}

// makeInvitation makes a link, as [Accounts.makeLink] does. The link is mailed to an invited person. The argument `by`
// is the inviter. The argument `businessID` is the nil UUID if the person is invited to become an operator.
func (a *Accounts) makeInvitation(ctx context.Context, by Principal, businessID uuid.UUID, link store.Link,
	lifetime time.Duration) (string, time.Time, error) {
	return a.makeLink(link, lifetime, func(l store.Link, hash [32]byte) error {
		return a.Store.AddInvitation(ctx, by, businessID, l, hash)
	})
}

// FindPersonByLink returns the person of a link with the given purpose. The link stays valid. Errors:
// [ErrInvalidSecret] for an unknown, used or expired link.
func (a *Accounts) FindPersonByLink(ctx context.Context, link string, purpose store.Purpose) (*store.Person, error) {
	if !secret.IsWellFormed("", link) {
		return nil, ErrInvalidSecret
	}
	p, err := a.Store.FindPersonByLink(ctx, secret.Hash(link), purpose, a.Clock.Now())
	if errors.Is(err, store.ErrNotFound) {
		return nil, ErrInvalidSecret
	}
	return &p, err
}

// SignInByLink signs in the person of a link, and returns the secret of a new session. The link cannot be used again.
// The argument `client` is the browser's User-Agent. Errors: [ErrInvalidSecret].
func (a *Accounts) SignInByLink(ctx context.Context, link, client string) (string, error) {
	if !secret.IsWellFormed("", link) {
		a.recordRefusal(ctx, methodLink)
		return "", ErrInvalidSecret
	}
	clear, hash, session := a.newSession(uuid.Nil, client)
	personID, err := a.Store.SignInByLink(ctx, secret.Hash(link), session, hash)
	if errors.Is(err, store.ErrNotFound) {
		a.recordRefusal(ctx, methodLink)
		return "", ErrInvalidSecret
	}
	if err != nil {
		return "", err
	}
	session.PersonID = personID
	a.recordSignIn(ctx, methodLink, session)
	return clear, nil
}

// shortenClientName shortens a browser's User-Agent to the length that the database stores.
func shortenClientName(agent string) string {
	const longest = 200
	return strings.ToValidUTF8(agent[:min(len(agent), longest)], "")
}

// ListSessions lists the valid sessions of a person, newest first.
func (a *Accounts) ListSessions(ctx context.Context, personID uuid.UUID) ([]store.Session, error) {
	return a.Store.ListSessions(ctx, personID, a.Clock.Now())
}

// EndSession signs a person out in one browser. The session ends at once.
func (a *Accounts) EndSession(ctx context.Context, personID, id uuid.UUID) error {
	return a.Store.EndSession(ctx, personID, id)
}

// EndOwnSession signs the signed-in person out in one browser. The session ends at once.
func (a *Accounts) EndOwnSession(ctx context.Context, signed *SignedInPerson, id uuid.UUID) error {
	return a.Store.EndOwnSession(ctx, signed.Principal, id)
}

// ChooseLanguage stores the language of the owner's pages and of mails for the signed-in person. The argument
// `language` is a BCP 47 tag.
func (a *Accounts) ChooseLanguage(ctx context.Context, signed *SignedInPerson, language string) error {
	return a.Store.SetLanguage(ctx, signed.Principal, language)
}

// sweepInterval is the interval between two deletions of expired rows. It can be long, because an expired row has no
// effect.
const sweepInterval = time.Hour

// KeepSweeping calls [store.Store.Sweep] at intervals until ctx ends. The calls delete expired rows, such as sessions
// and links.
func (a *Accounts) KeepSweeping(ctx context.Context) error {
	return periodic.Job{Every: sweepInterval,
		FailureMessage: "expired sessions and links could not be deleted; the next run retries",
		Do:             func(ctx context.Context) error { return a.Store.Sweep(ctx, a.Clock.Now()) }}.Run(ctx, a.Logger)
}
