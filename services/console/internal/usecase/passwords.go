package usecase

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/services/console/internal/accountmail"
	"github.com/slotmesh/slotmesh/services/console/internal/password"
	"github.com/slotmesh/slotmesh/services/console/internal/secret"
	"github.com/slotmesh/slotmesh/services/console/internal/store"
)

// PasswordLinkGood is how long a mailed link lets somebody choose a password (accounts.md).
const PasswordLinkGood = 30 * time.Minute

// ErrWrongPassword says that the password that a person has now is another one.
var ErrWrongPassword = errors.New("is not the password")

// PasswordPath is where a link of this secret is opened, by which somebody chooses a password.
func PasswordPath(secret string) string { return "/sign-in/password/" + secret }

// newSession is a session that begins now, with its secret and the hash of that.
func (a *Accounts) newSession(personID uuid.UUID, client string) (string, [32]byte, store.Session) {
	clear, hash := secret.New("")
	return clear, hash, store.Session{ID: uuid.New(), PersonID: personID, Client: clientName(client), CreatedAt: a.Clock.Now()}
}

// SignInByPassword signs in who has an address and a password, and returns the secret of a new session. An address that nobody has costs as much as
// one that somebody has. Errors: [ErrNobody].
func (a *Accounts) SignInByPassword(ctx context.Context, email, clear, client string) (string, error) {
	who, err := a.Store.ByEmail(ctx, address(email))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return "", err
	}
	ok, err := a.Passwords.Matches(ctx, who.PasswordHash, clear)
	if err != nil {
		return "", err
	}
	if !ok {
		a.refused(ctx, byPassword)
		return "", ErrNobody
	}
	session, hash, begun := a.newSession(who.ID, client)
	err = a.Store.SignInByPassword(ctx, who.PasswordHash, begun, hash)
	if errors.Is(err, store.ErrNotFound) {
		a.refused(ctx, byPassword)
		return "", ErrNobody
	}
	if err != nil {
		return "", err
	}
	a.signedIn(ctx, byPassword, begun)
	return session, nil
}

// address writes an e-mail address as people have it.
func address(typed string) string { return strings.ToLower(strings.TrimSpace(typed)) }

// AskForPassword mails a link to choose a password to an address, if somebody has it: nobody can tell by the answer, which comes before that is looked
// up. languages are those that the mail may be written in, after the person's own. The caller has counted the mail.
func (a *Accounts) AskForPassword(ctx context.Context, email string, languages ...string) {
	email = address(email)
	a.later(ctx, func(ctx context.Context) error {
		who, err := a.Store.ByEmail(ctx, email)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		clear, _, err := a.makeLink(store.Link{PersonID: who.ID, Purpose: store.ForPassword, Verifies: true}, PasswordLinkGood, func(l store.Link, hash [32]byte) error {
			return a.Store.AddLink(ctx, l, hash)
		})
		if err != nil {
			return err
		}
		mail, err := accountmail.Password(who.Email, a.OwnerURL+PasswordPath(clear), append([]string{who.Language}, languages...)...)
		if err != nil {
			return err
		}
		return a.Mails.SendMail(ctx, mail)
	})
}

// SetPasswordByLink uses a mailed link up: it gives its person the password, takes their passkeys away, signs them out everywhere and returns the secret
// of a new session: who has lost a device, or knows that somebody else signs in as them, begins anew.
// Errors: [ErrNobody]; those of [password.Check], which use nothing up.
func (a *Accounts) SetPasswordByLink(ctx context.Context, link, chosen, client string) (string, error) {
	who, err := a.WhoseLink(ctx, link, store.ForPassword)
	if err != nil {
		return "", err
	}
	if err := password.Check(chosen, who.Email, who.Name); err != nil {
		return "", err
	}
	kept, err := a.Passwords.Hash(ctx, chosen)
	if err != nil {
		return "", err
	}
	session, hash, begun := a.newSession(who.ID, client)
	_, err = a.Store.SetPasswordByLink(ctx, secret.Hash(link), kept, begun, hash)
	if errors.Is(err, store.ErrNotFound) {
		return "", ErrNobody
	}
	if err != nil {
		return "", err
	}
	a.signedIn(ctx, byPasswordLink, begun)
	return session, nil
}

// ChangePassword gives who is signed in another password, or their first one, signs them out everywhere and returns the secret of a new session.
// Errors: [ErrWrongPassword] where current is not the one that they have; [ErrStale] where they have passkeys alone; those of [password.Check].
func (a *Accounts) ChangePassword(ctx context.Context, signed *SignedIn, current, chosen, client string) (string, error) {
	who, err := a.Store.ByID(ctx, signed.Person.ID)
	if err != nil {
		return "", err
	}
	if who.PasswordHash != "" {
		ok, err := a.Passwords.Matches(ctx, who.PasswordHash, current)
		if err != nil {
			return "", err
		}
		if !ok {
			return "", ErrWrongPassword
		}
	} else if err := a.fresh(signed); err != nil {
		return "", err
	}
	if err := password.Check(chosen, who.Email, who.Name); err != nil {
		return "", err
	}
	kept, err := a.Passwords.Hash(ctx, chosen)
	if err != nil {
		return "", err
	}
	session, hash, begun := a.newSession(who.ID, client)
	err = a.Store.ChangePassword(ctx, signed.Principal, who.PasswordHash, kept, begun, hash)
	if errors.Is(err, store.ErrNotFound) {
		return "", ErrWrongPassword
	}
	if err != nil {
		return "", err
	}
	a.Logger.InfoContext(ctx, "password changed", "person_id", who.ID, "session_id", begun.ID)
	a.tell(ctx, who.Person, aboutPassword, accountmail.PasswordChanged)
	return session, nil
}
