package usecase

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/services/console/internal/secret"
	"github.com/slotmesh/slotmesh/services/console/internal/store"
)

// LinkGood is how long a link signs in (accounts.md).
const LinkGood = 15 * time.Minute

// makeLink makes a link that is good once, for so long, keeps it by keep, and returns its secret and until when it is
// good.
func (a *Accounts) makeLink(link store.Link, good time.Duration, keep func(store.Link, [32]byte) error) (string, time.Time, error) {
	clear, hash := secret.New("")
	link.ExpiresAt = a.Clock.Now().Add(good).UTC().Truncate(time.Second)
	return clear, link.ExpiresAt, keep(link, hash)
}

// makeInvitation is makeLink of a link that is mailed to a person whom a principal invites into a business, with the
// nil UUID among the operators.
func (a *Accounts) makeInvitation(ctx context.Context, by Principal, businessID uuid.UUID, link store.Link, good time.Duration) (string, time.Time, error) {
	return a.makeLink(link, good, func(l store.Link, hash [32]byte) error { return a.Store.AddInvitation(ctx, by, businessID, l, hash) })
}

// WhoseLink returns whose a link of a purpose is, and uses nothing up. Errors: [ErrNobody] for one that was used, has expired or never was.
func (a *Accounts) WhoseLink(ctx context.Context, link string, purpose store.Purpose) (*store.Person, error) {
	if !secret.WellFormed("", link) {
		return nil, ErrNobody
	}
	p, err := a.Store.PersonByLink(ctx, secret.Hash(link), purpose, a.Clock.Now())
	if errors.Is(err, store.ErrNotFound) {
		return nil, ErrNobody
	}
	return &p, err
}

// SignInByLink uses a link up, and returns the secret of a new session. client is what the browser calls itself. Errors: [ErrNobody].
func (a *Accounts) SignInByLink(ctx context.Context, link, client string) (string, error) {
	if !secret.WellFormed("", link) {
		a.refused(ctx, byLink)
		return "", ErrNobody
	}
	clear, hash, session := a.newSession(uuid.Nil, client)
	personID, err := a.Store.SignInByLink(ctx, secret.Hash(link), session, hash)
	if errors.Is(err, store.ErrNotFound) {
		a.refused(ctx, byLink)
		return "", ErrNobody
	}
	if err != nil {
		return "", err
	}
	session.PersonID = personID
	a.signedIn(ctx, byLink, session)
	return clear, nil
}

// clientName bounds what is kept of what a browser calls itself.
func clientName(agent string) string {
	const longest = 200
	return strings.ToValidUTF8(agent[:min(len(agent), longest)], "")
}

// Sessions lists where a person is signed in, newest first.
func (a *Accounts) Sessions(ctx context.Context, personID uuid.UUID) ([]store.Session, error) {
	return a.Store.Sessions(ctx, personID, a.Clock.Now())
}

// EndSession signs a person out in one browser, at once.
func (a *Accounts) EndSession(ctx context.Context, personID, id uuid.UUID) error {
	return a.Store.EndSession(ctx, personID, id)
}

// EndOwnSession signs who is signed in out in one browser, at once.
func (a *Accounts) EndOwnSession(ctx context.Context, signed *SignedIn, id uuid.UUID) error {
	return a.Store.EndOwnSession(ctx, signed.Principal, id)
}

// ChooseLanguage notes in which language a person reads the owner's pages and the mails about their account, as BCP 47.
func (a *Accounts) ChooseLanguage(ctx context.Context, signed *SignedIn, language string) error {
	return a.Store.SetLanguage(ctx, signed.Principal, language)
}

// sweepEvery is how often what has ended is removed. It harms nobody, so it may be rare.
const sweepEvery = time.Hour

// KeepSweeping removes sessions and links that have ended, until ctx ends.
func (a *Accounts) KeepSweeping(ctx context.Context) error {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		if err := a.Store.Sweep(ctx, a.Clock.Now()); err != nil && ctx.Err() == nil {
			a.Logger.WarnContext(ctx, "ended sessions stay for now", slog.Any("error", err))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}
