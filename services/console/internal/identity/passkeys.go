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
	// ChallengeGood is how long a challenge is valid. The browser must send the answer of the passkey within this time.
	ChallengeGood = 5 * time.Minute
	// FreshFor is how long after a sign-in a person can change their credentials. Later they must sign in again first.
	FreshFor = 15 * time.Minute
	// longestPasskeyName is the maximum number of characters of a passkey's name.
	longestPasskeyName = 100
)

var (
	// ErrStale means that the person must sign in again before they can change their credentials.
	ErrStale = errors.New("has signed in too long ago")
	// ErrPasskeyRefused means that the browser's answer contains no valid new passkey.
	ErrPasskeyRefused = errors.New("the passkey was not made")
)

// BeginPasskeySignIn begins a sign-in by a passkey. It returns the WebAuthn options for the browser, and a secret that
// the browser keeps in a cookie until it sends the answer. The options do not depend on the person who signs in.
func (a *Accounts) BeginPasskeySignIn(ctx context.Context) (json.RawMessage, string, error) {
	told, challenge, err := a.Passkeys.Begin()
	if err != nil {
		return nil, "", err
	}
	clear, hash := secret.New("")
	return told, clear, a.Store.AddChallenge(ctx, hash, challenge, a.Clock.Now().Add(ChallengeGood))
}

// take deletes the challenge that belongs to the secret in a browser's cookie, and returns the challenge. Errors:
// [ErrNobody].
func (a *Accounts) take(ctx context.Context, clear string, personID uuid.UUID) ([]byte, error) {
	if !secret.WellFormed("", clear) {
		return nil, ErrNobody
	}
	challenge, err := a.Store.TakeChallenge(ctx, secret.Hash(clear), personID, a.Clock.Now())
	if errors.Is(err, store.ErrNotFound) {
		return nil, ErrNobody
	}
	return challenge, err
}

// SignInByPasskey signs in the person whose passkey signed the answer, and returns the secret of a new session. The
// argument `clear` is the secret from [Accounts.BeginPasskeySignIn]. If `email` is not empty, the passkey must belong
// to the person with this address. Errors: [ErrNobody].
func (a *Accounts) SignInByPasskey(ctx context.Context, clear, email, answer, client string) (string, error) {
	session, err := a.signInByPasskey(ctx, clear, address(email), answer, client)
	if errors.Is(err, ErrNobody) || errors.Is(err, store.ErrNotFound) || errors.Is(err, passkey.ErrRefused) {
		a.refused(ctx, byPasskey)
		return "", ErrNobody
	}
	return session, err
}

func (a *Accounts) signInByPasskey(ctx context.Context, clear, email, answer, client string) (string, error) {
	challenge, err := a.take(ctx, clear, uuid.Nil)
	if err != nil {
		return "", err
	}
	var who store.Credentials
	used, err := a.Passkeys.Finish(challenge, answer, func(id, holder []byte) (passkey.Holder, error) {
		found, err := a.Store.PasskeyByKey(ctx, id)
		if err != nil {
			return passkey.Holder{}, err
		}
		if who, err = a.Store.ByID(ctx, found.PersonID); err != nil {
			return passkey.Holder{}, err
		}
		if email != "" && email != who.Email {
			return passkey.Holder{}, ErrNobody
		}
		return holderOf(who.Person, found), nil
	})
	if err != nil {
		return "", err
	}
	session, hash, begun := a.newSession(who.ID, client)
	if err := a.Store.SignInByPasskey(ctx, used, begun, hash); err != nil {
		return "", err
	}
	a.signedIn(ctx, byPasskey, begun)
	return session, nil
}

// holderOf converts a person and their passkeys to the type of package passkey.
func holderOf(p store.Person, keys ...store.Passkey) passkey.Holder {
	h := passkey.Holder{ID: p.ID[:], Name: cmp.Or(p.Name, p.Email), Email: p.Email}
	for _, k := range keys {
		h.Keys = append(h.Keys, k.Key)
	}
	return h
}

// PasskeysOf lists the passkeys of the signed-in person, in the order in which they were added.
func (a *Accounts) PasskeysOf(ctx context.Context, signed *SignedIn) ([]store.Passkey, error) {
	return a.Store.Passkeys(ctx, signed.Person.ID)
}

// fresh returns [ErrStale] if the person signed in more than [FreshFor] ago, and has a way to sign in again. So another
// person at an unattended browser cannot add their own credentials.
func (a *Accounts) fresh(signed *SignedIn) error {
	again := signed.Person.Password || signed.Person.Passkey
	if again && a.Clock.Now().Sub(signed.Session.CreatedAt) > FreshFor {
		return ErrStale
	}
	return nil
}

// freshKeys returns the passkeys of a person who has signed in within [FreshFor]. Errors: [ErrStale].
func (a *Accounts) freshKeys(ctx context.Context, signed *SignedIn) ([]store.Passkey, error) {
	if err := a.fresh(signed); err != nil {
		return nil, err
	}
	return a.PasskeysOf(ctx, signed)
}

// BeginPasskey begins to add a passkey of the signed-in person. It returns the WebAuthn options for the browser, and a
// secret that the browser keeps in a cookie until it sends the answer. Errors: [ErrStale], [store.ErrTooManyPasskeys].
func (a *Accounts) BeginPasskey(ctx context.Context, signed *SignedIn) (json.RawMessage, string, error) {
	keys, err := a.freshKeys(ctx, signed)
	if err != nil {
		return nil, "", err
	}
	if len(keys) >= store.MostPasskeys {
		return nil, "", store.ErrTooManyPasskeys
	}
	told, challenge, err := a.Passkeys.BeginAdding(holderOf(signed.Person, keys...))
	if err != nil {
		return nil, "", err
	}
	clear, hash := secret.New("")
	return told, clear, a.Store.AddOwnChallenge(ctx, signed.Principal, hash, challenge,
		a.Clock.Now().Add(ChallengeGood))
}

// AddPasskey stores the passkey that the person's device has created, and sends the person a mail about the passkey.
// The passkey's name, the argument `name`, must have 1 to 100 characters. The argument `clear` is the secret that
// [Accounts.BeginPasskey] returned. Errors: [ErrPasskeyRefused], [ErrStale], [store.ErrTooManyPasskeys]. Fault:
// invalid_parameter for the name.
func (a *Accounts) AddPasskey(ctx context.Context, signed *SignedIn, clear, name, answer string) error {
	name, err := request.Line("name", name, longestPasskeyName)
	if err != nil {
		return err
	}
	keys, err := a.freshKeys(ctx, signed)
	if err != nil {
		return err
	}
	challenge, err := a.take(ctx, clear, signed.Person.ID)
	if errors.Is(err, ErrNobody) {
		return ErrPasskeyRefused
	}
	if err != nil {
		return err
	}
	made, err := a.Passkeys.FinishAdding(holderOf(signed.Person, keys...), challenge, answer)
	if errors.Is(err, passkey.ErrRefused) {
		return ErrPasskeyRefused
	}
	if err != nil {
		return err
	}
	added := store.Passkey{Key: made, ID: uuid.New(), PersonID: signed.Person.ID, Name: name, CreatedAt: a.Clock.Now()}
	err = a.Store.AddPasskey(ctx, signed.Principal, added)
	if errors.Is(err, store.ErrKnownPasskey) {
		return ErrPasskeyRefused
	}
	if err != nil {
		return err
	}
	a.Logger.InfoContext(ctx, "passkey added", "person_id", signed.Person.ID, "passkey_id", added.ID)
	a.tell(ctx, signed.Person, aboutPasskeys, accountmail.PasskeyAdded)
	return nil
}

// RemovePasskey deletes a passkey, signs the person out in all browsers, and mails the person about the change. It
// returns the secret of a new session for the browser of this request. Errors: [ErrStale], [store.ErrNotFound],
// [store.ErrLastWay].
func (a *Accounts) RemovePasskey(ctx context.Context, signed *SignedIn, id uuid.UUID, client string) (string, error) {
	if err := a.fresh(signed); err != nil {
		return "", err
	}
	session, hash, begun := a.newSession(signed.Person.ID, client)
	if err := a.Store.RemovePasskey(ctx, signed.Principal, id, a.Provider != nil, begun, hash); err != nil {
		return "", err
	}
	a.Logger.InfoContext(ctx, "passkey removed", "person_id", signed.Person.ID, "passkey_id", id, "session_id",
		begun.ID)
	a.tell(ctx, signed.Person, aboutPasskeys, accountmail.PasskeyRemoved)
	return session, nil
}

// RemovePassword deletes the password of a person who has passkeys, signs the person out in all browsers, and mails the
// person about the change. It returns the secret of a new session for the browser of this request. Errors: [ErrStale],
// [store.ErrLastWay].
func (a *Accounts) RemovePassword(ctx context.Context, signed *SignedIn, client string) (string, error) {
	if err := a.fresh(signed); err != nil {
		return "", err
	}
	session, hash, begun := a.newSession(signed.Person.ID, client)
	if err := a.Store.RemovePassword(ctx, signed.Principal, begun, hash); err != nil {
		return "", err
	}
	a.Logger.InfoContext(ctx, "password removed", "person_id", signed.Person.ID, "session_id", begun.ID)
	a.tell(ctx, signed.Person, aboutPassword, accountmail.PasswordRemoved)
	return session, nil
}

// tell sends a person a mail about a change of their account, if OwnerURL is configured. The argument `subject` is the
// kind of change, for the rate limits.
func (a *Accounts) tell(ctx context.Context, who store.Person, subject string,
	write func(to, link string, languages ...string) (notifications.Mail, error)) {
	if a.OwnerURL == "" {
		return
	}
	a.later(ctx, func(ctx context.Context) error {
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
