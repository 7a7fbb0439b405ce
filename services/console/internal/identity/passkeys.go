package identity

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/accountmail"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/passkey"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/secret"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
)

const (
	// ChallengeLifetime is how long a challenge is valid. The browser must send the signed answer within this time.
	ChallengeLifetime = 5 * time.Minute
	// MaxSignInAge is the time after a sign-in in which a person can change their credentials. Later, the person must
	// first sign in again.
	MaxSignInAge = 15 * time.Minute
	// maxPasskeyName is the maximum number of characters of a passkey's name.
	maxPasskeyName = 100
)

var (
	// ErrStale means that the person must sign in again before they can change their credentials.
	ErrStale = errors.New("has signed in too long ago")
	// ErrPasskeyRefused means that the browser's answer contains no valid new passkey.
	ErrPasskeyRefused = errors.New("the passkey was not made")
)

// BeginPasskeySignIn begins a sign-in with a passkey. It returns the WebAuthn options for the browser, and a secret
// that the browser keeps in a cookie until it sends the answer. The options do not depend on the person who signs in.
func (a *Accounts) BeginPasskeySignIn(ctx context.Context) (json.RawMessage, string, error) {
	options, challenge, err := a.Passkeys.Begin()
	if err != nil {
		return nil, "", err
	}
	clear, hash := secret.New("")
	return options, clear, a.Store.AddChallenge(ctx, hash, challenge, a.Clock.Now().Add(ChallengeLifetime))
}

// takeChallenge returns the challenge that belongs to the secret `clear` in a browser's cookie, and deletes the
// challenge. Errors: [ErrInvalidSecret].
func (a *Accounts) takeChallenge(ctx context.Context, clear string, personID uuid.UUID) ([]byte, error) {
	if !secret.IsWellFormed("", clear) {
		return nil, ErrInvalidSecret
	}
	challenge, err := a.Store.TakeChallenge(ctx, secret.Hash(clear), personID, a.Clock.Now())
	if errors.Is(err, store.ErrNotFound) {
		return nil, ErrInvalidSecret
	}
	return challenge, err
}

// SignInByPasskey signs in the person whose passkey signed the answer, and returns the secret of a new session. The
// argument `clear` is the secret from [Accounts.BeginPasskeySignIn]. If `email` is not empty, the passkey must belong
// to the person with this address. Errors: [ErrInvalidSecret].
func (a *Accounts) SignInByPasskey(ctx context.Context, clear, email, answer, client string) (string, error) {
	session, err := a.verifyPasskey(ctx, clear, normalizeAddress(email), answer, client)
	if errors.Is(err, ErrInvalidSecret) || errors.Is(err, store.ErrNotFound) || errors.Is(err, passkey.ErrRefused) {
		a.recordRefusal(ctx, methodPasskey)
		return "", ErrInvalidSecret
	}
	return session, err
}

func (a *Accounts) verifyPasskey(ctx context.Context, clear, email, answer, client string) (string, error) {
	challenge, err := a.takeChallenge(ctx, clear, uuid.Nil)
	if err != nil {
		return "", err
	}
	var person store.Credentials
	used, err := a.Passkeys.Finish(challenge, answer, func(id, holder []byte) (passkey.Holder, error) {
		found, err := a.Store.FindPasskeyByKey(ctx, id)
		if err != nil {
			return passkey.Holder{}, err
		}
		if person, err = a.Store.FindCredentials(ctx, found.PersonID); err != nil {
			return passkey.Holder{}, err
		}
		if email != "" && email != person.Email {
			return passkey.Holder{}, ErrInvalidSecret
		}
		return newHolder(person.Person, found), nil
	})
	if err != nil {
		return "", err
	}
	session, hash, newSession := a.newSession(person.ID, client)
	if err := a.Store.SignInByPasskey(ctx, used, newSession, hash); err != nil {
		return "", err
	}
	a.recordSignIn(ctx, methodPasskey, newSession)
	return session, nil
}

// newHolder converts a person and their passkeys to the type of package passkey.
func newHolder(p store.Person, keys ...store.Passkey) passkey.Holder {
	h := passkey.Holder{ID: p.ID[:], Name: cmp.Or(p.Name, p.Email), Email: p.Email}
	for _, k := range keys {
		h.Keys = append(h.Keys, k.Key)
	}
	return h
}

// ListPasskeys lists the passkeys of the signed-in person, in the order in which they were added.
func (a *Accounts) ListPasskeys(ctx context.Context, signed *SignedInPerson) ([]store.Passkey, error) {
	return a.Store.ListPasskeys(ctx, signed.Person.ID)
}

// checkFresh returns [ErrStale] if the person signed in more than [MaxSignInAge] ago, and has a password or passkey
// with which to sign in again. So a stranger at an unattended browser cannot add their own credentials.
func (a *Accounts) checkFresh(signed *SignedInPerson) error {
	isRepeated := signed.Person.HasPassword || signed.Person.HasPasskey
	if isRepeated && a.Clock.Now().Sub(signed.Session.CreatedAt) > MaxSignInAge {
		return ErrStale
	}
	return nil
}

// listKeysIfFresh returns the passkeys of a person who has signed in within [MaxSignInAge]. Errors: [ErrStale].
func (a *Accounts) listKeysIfFresh(ctx context.Context, signed *SignedInPerson) ([]store.Passkey, error) {
	if err := a.checkFresh(signed); err != nil {
		return nil, err
	}
	return a.ListPasskeys(ctx, signed)
}

// BeginPasskey begins to add a passkey of the signed-in person. It returns the WebAuthn options for the browser, and a
// secret that the browser keeps in a cookie until it sends the answer. Errors: [ErrStale], [store.ErrTooManyPasskeys].
func (a *Accounts) BeginPasskey(ctx context.Context, signed *SignedInPerson) (json.RawMessage, string, error) {
	keys, err := a.listKeysIfFresh(ctx, signed)
	if err != nil {
		return nil, "", err
	}
	if len(keys) >= store.MaxPasskeys {
		return nil, "", store.ErrTooManyPasskeys
	}
	options, challenge, err := a.Passkeys.BeginAdding(newHolder(signed.Person, keys...))
	if err != nil {
		return nil, "", err
	}
	clear, hash := secret.New("")
	return options, clear, a.Store.AddOwnChallenge(ctx, signed.Principal, hash, challenge,
		a.Clock.Now().Add(ChallengeLifetime))
}

// AddPasskey stores the passkey that the person's device has created, and sends the person a mail about the passkey.
// The passkey's name, the argument `name`, must have 1 to 100 characters. The argument `clear` is the secret that
// [Accounts.BeginPasskey] returned. Errors: [ErrPasskeyRefused], [ErrStale], [store.ErrTooManyPasskeys]. Fault:
// invalid_parameter for the name.
func (a *Accounts) AddPasskey(ctx context.Context, signed *SignedInPerson, clear, name, answer string) error {
	name, err := request.Line("name", name, maxPasskeyName)
	if err != nil {
		return err
	}
	keys, err := a.listKeysIfFresh(ctx, signed)
	if err != nil {
		return err
	}
	challenge, err := a.takeChallenge(ctx, clear, signed.Person.ID)
	if errors.Is(err, ErrInvalidSecret) {
		return ErrPasskeyRefused
	}
	if err != nil {
		return err
	}
	key, err := a.Passkeys.FinishAdding(newHolder(signed.Person, keys...), challenge, answer)
	if errors.Is(err, passkey.ErrRefused) {
		return ErrPasskeyRefused
	}
	if err != nil {
		return err
	}
	added := store.Passkey{Key: key, ID: uuid.New(), PersonID: signed.Person.ID, Name: name, CreatedAt: a.Clock.Now()}
	err = a.Store.AddPasskey(ctx, signed.Principal, added)
	if errors.Is(err, store.ErrKnownPasskey) {
		return ErrPasskeyRefused
	}
	if err != nil {
		return err
	}
	a.Logger.InfoContext(ctx, "passkey added", "person_id", signed.Person.ID, "passkey_id", added.ID)
	a.mailChange(ctx, signed.Person, subjectPasskeys, accountmail.WritePasskeyAdded)
	return nil
}

// RemovePasskey deletes a passkey, signs the person out in all browsers, and mails the person about the change. It
// returns the secret of a new session for the browser of this request. Errors: [ErrStale], [store.ErrNotFound],
// [store.ErrLastCredential].
func (a *Accounts) RemovePasskey(ctx context.Context, signed *SignedInPerson, id uuid.UUID,
	client string) (string, error) {
	if err := a.checkFresh(signed); err != nil {
		return "", err
	}
	session, hash, newSession := a.newSession(signed.Person.ID, client)
	if err := a.Store.RemovePasskey(ctx, signed.Principal, id, a.Provider != nil, newSession, hash); err != nil {
		return "", err
	}
	a.Logger.InfoContext(ctx, "passkey removed", "person_id", signed.Person.ID, "passkey_id", id, "session_id",
		newSession.ID)
	a.mailChange(ctx, signed.Person, subjectPasskeys, accountmail.WritePasskeyRemoved)
	return session, nil
}

// RemovePassword deletes the password of a person who has passkeys, signs the person out in all browsers, and mails the
// person about the change. It returns the secret of a new session for the browser of this request. Errors: [ErrStale],
// [store.ErrLastCredential].
func (a *Accounts) RemovePassword(ctx context.Context, signed *SignedInPerson, client string) (string, error) {
	if err := a.checkFresh(signed); err != nil {
		return "", err
	}
	session, hash, newSession := a.newSession(signed.Person.ID, client)
	if err := a.Store.RemovePassword(ctx, signed.Principal, newSession, hash); err != nil {
		return "", err
	}
	a.Logger.InfoContext(ctx, "password removed", "person_id", signed.Person.ID, "session_id", newSession.ID)
	a.mailChange(ctx, signed.Person, subjectPassword, accountmail.WritePasswordRemoved)
	return session, nil
}

// mailChange sends a person a mail about a change of their account, if OwnerURL is configured. The argument `subject`
// is the kind of change, for the rate limits.
func (a *Accounts) mailChange(ctx context.Context, who store.Person, subject string,
	write func(to, link string, languages ...string) (notifications.Mail, error)) {
	if a.OwnerURL == "" {
		return
	}
	a.mailInBackground(ctx, func(ctx context.Context) error {
		if !a.mayNotify(ctx, who, subject) {
			return nil
		}
		mail, err := write(who.Email, a.OwnerURL+"/sign-in/forgotten", who.Language)
		if err != nil {
			return err
		}
		return a.Mails.SendMail(ctx, mail)
	})
}
