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

// makeLink makes a link that signs a person in once, and returns its secret.
func (a *Accounts) makeLink(ctx context.Context, personID uuid.UUID, verifies bool) (string, time.Time, error) {
	clear, hash := secret.New("")
	expires := a.Clock.Now().Add(LinkGood).UTC().Truncate(time.Second)
	return clear, expires, a.Store.AddLink(ctx, store.Link{PersonID: personID, Verifies: verifies, ExpiresAt: expires}, hash)
}

// WhoseLink returns whom a link would sign in, and uses nothing up. Errors: [ErrNobody] for one that was used, has expired or never was.
func (a *Accounts) WhoseLink(ctx context.Context, link string) (*store.Person, error) {
	if !secret.WellFormed("", link) {
		return nil, ErrNobody
	}
	p, err := a.Store.PersonByLink(ctx, secret.Hash(link), a.Clock.Now())
	if errors.Is(err, store.ErrNotFound) {
		return nil, ErrNobody
	}
	return &p, err
}

// SignInByLink uses a link up, and returns the secret of a new session. client is what the browser calls itself. Errors: [ErrNobody].
func (a *Accounts) SignInByLink(ctx context.Context, link, client string) (string, error) {
	if !secret.WellFormed("", link) {
		return "", ErrNobody
	}
	clear, hash := secret.New("")
	session := store.Session{ID: uuid.New(), Client: clientName(client), CreatedAt: a.Clock.Now()}
	personID, err := a.Store.SignInByLink(ctx, secret.Hash(link), session, hash)
	if errors.Is(err, store.ErrNotFound) {
		return "", ErrNobody
	}
	if err != nil {
		return "", err
	}
	a.Logger.InfoContext(ctx, "signed in", "person_id", personID, "session_id", session.ID, "by", "link")
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
