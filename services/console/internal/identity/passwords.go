package identity

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/accountmail"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/password"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/secret"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
)

// PasswordLinkLifetime is how long a mailed link to choose a password is valid (accounts.md).
const PasswordLinkLifetime = 30 * time.Minute

// ErrWrongPassword means that the password that a person gave is not their current password.
var ErrWrongPassword = errors.New("is not the password")

// PasswordPath returns the path of the page on which a person chooses a password. The argument `secret` is the secret
// of the mailed link.
func PasswordPath(secret string) string { return "/sign-in/password/" + secret }

// newSession returns a session that begins now, the secret of the session, and the hash of the secret.
func (a *Accounts) newSession(personID uuid.UUID, client string) (string, [32]byte, store.Session) {
	clear, hash := secret.New("")
	return clear, hash, store.Session{ID: uuid.New(), PersonID: personID, Client: shortenClientName(client),
		CreatedAt: a.Clock.Now()}
}

// SignInByPassword signs in the person with an e-mail address, and returns the secret of a new session. The argument
// `clear` is the password as the person typed it. The call takes the same time for known and unknown e-mail addresses.
// Errors: [ErrInvalidSecret] for an unknown address or a wrong password.
func (a *Accounts) SignInByPassword(ctx context.Context, email, clear, client string) (string, error) {
	person, err := a.Store.FindCredentialsByEmail(ctx, normalizeAddress(email))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return "", err
	}
	ok, err := a.Passwords.Matches(ctx, person.PasswordHash, clear)
	if err != nil {
		return "", err
	}
	if !ok {
		a.recordRefusal(ctx, methodPassword)
		return "", ErrInvalidSecret
	}
	session, hash, newSession := a.newSession(person.ID, client)
	err = a.Store.SignInByPassword(ctx, person.PasswordHash, newSession, hash)
	if errors.Is(err, store.ErrNotFound) {
		a.recordRefusal(ctx, methodPassword)
		return "", ErrInvalidSecret
	}
	if err != nil {
		return "", err
	}
	a.recordSignIn(ctx, methodPassword, newSession)
	return session, nil
}

// normalizeAddress returns the normal form of an e-mail address.
func normalizeAddress(input string) string { return strings.ToLower(strings.TrimSpace(input)) }

// MailPasswordLink mails a link to choose a password to the e-mail address `email`, if a person has this address. It
// works in the background, so the duration of the response does not reveal whether the address is known. The mail is in
// the person's own language. If this language is unknown, the mail is in the first language in `languages` that is
// available. The caller must count the mail against the rate limit before the call.
func (a *Accounts) MailPasswordLink(ctx context.Context, email string, languages ...string) {
	email = normalizeAddress(email)
	a.mailInBackground(ctx, func(ctx context.Context) error {
		person, err := a.Store.FindCredentialsByEmail(ctx, email)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return a.sendPasswordLink(ctx, person.Person, accountmail.WritePasswordLink, languages)
	})
}

// sendPasswordLink mails a person a link to choose a password. The function `write` returns the mail.
func (a *Accounts) sendPasswordLink(ctx context.Context, person store.Person,
	write func(to, link string, languages ...string) (notifications.Mail, error), languages []string) error {
	clear, _, err := a.makeLink(store.Link{PersonID: person.ID, Purpose: store.PurposePassword, Verifies: true},
		PasswordLinkLifetime, func(l store.Link, hash [32]byte) error {
			return a.Store.AddLink(ctx, l, hash)
		})
	if err != nil {
		return err
	}
	mail, err := write(person.Email, a.OwnerURL+PasswordPath(clear), append([]string{person.Language}, languages...)...)
	if err != nil {
		return err
	}
	return a.Mails.SendMail(ctx, mail)
}

// SetPasswordByLink sets the password of the person to whom a link was mailed, and deletes all their passkeys. It signs
// the person out in all browsers, and returns the secret of a new session. A person who uses the account without
// permission, or who has found a lost device, then has no access.
//
// Errors: [ErrInvalidSecret]; the errors of [password.Check]. After an error of [password.Check], the link can still be
// used.
func (a *Accounts) SetPasswordByLink(ctx context.Context, link, chosen, client string) (string, error) {
	person, err := a.FindPersonByLink(ctx, link, store.PurposePassword)
	if err != nil {
		return "", err
	}
	if err := password.Check(chosen, person.Email, person.Name); err != nil {
		return "", err
	}
	stored, err := a.Passwords.Hash(ctx, chosen)
	if err != nil {
		return "", err
	}
	session, hash, newSession := a.newSession(person.ID, client)
	_, err = a.Store.SetPasswordByLink(ctx, secret.Hash(link), stored, newSession, hash)
	if errors.Is(err, store.ErrNotFound) {
		return "", ErrInvalidSecret
	}
	if err != nil {
		return "", err
	}
	a.recordSignIn(ctx, methodPasswordLink, newSession)
	return session, nil
}

// ChangePassword sets a new password of the signed-in person, and signs the person out in all browsers. It returns the
// secret of a new session. Errors: [ErrWrongPassword] if the argument `current` is not the person's password;
// [ErrStale] if the person has only passkeys and signed in more than [MaxSignInAge] ago; the errors of
// [password.Check].
func (a *Accounts) ChangePassword(ctx context.Context, signed *SignedInPerson,
	current, chosen, client string) (string, error) {
	person, err := a.Store.FindCredentials(ctx, signed.Person.ID)
	if err != nil {
		return "", err
	}
	if person.PasswordHash != "" {
		ok, err := a.Passwords.Matches(ctx, person.PasswordHash, current)
		if err != nil {
			return "", err
		}
		if !ok {
			return "", ErrWrongPassword
		}
	} else if err := a.checkFresh(signed); err != nil {
		return "", err
	}
	if err := password.Check(chosen, person.Email, person.Name); err != nil {
		return "", err
	}
	stored, err := a.Passwords.Hash(ctx, chosen)
	if err != nil {
		return "", err
	}
	session, hash, newSession := a.newSession(person.ID, client)
	err = a.Store.ChangePassword(ctx, signed.Principal, person.PasswordHash, stored, newSession, hash)
	if errors.Is(err, store.ErrNotFound) {
		return "", ErrWrongPassword
	}
	if err != nil {
		return "", err
	}
	a.Logger.InfoContext(ctx, "password changed", "person_id", person.ID, "session_id", newSession.ID)
	a.mailChange(ctx, person.Person, subjectPassword, accountmail.WritePasswordChanged)
	return session, nil
}
