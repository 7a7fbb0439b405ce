package identity

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/accountmail"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/secret"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
)

// Mailer sends mails through the notifications service. *notifications.Client implements it outside tests.
type Mailer interface {
	SendMail(ctx context.Context, mail notifications.Mail) error
}

const (
	// maxWaitingMails is the maximum number of mails that wait in memory. Further mails are dropped; people can request
	// them again.
	maxWaitingMails   = 200
	mailWorkers       = 4                // maximum number of mails that are sent concurrently
	mailTimeout       = 15 * time.Second // timeout of a mail from the queue in memory
	inviteMailTimeout = 5 * time.Second  // timeout of an invitation's mail, because the inviter waits for its result
)

// AccountKey returns the key under which the `limits` package counts the attempts for an e-mail address, even if no
// person has this address. The key does not reveal the address.
func AccountKey(email string) string {
	sum := sha256.Sum256([]byte(normalizeAddress(email)))
	return hex.EncodeToString(sum[:16])
}

// mailInBackground calls the function `send`, which sends a mail, in the background. So the duration of the response
// does not reveal whether a mail is sent, or whether an account exists.
func (a *Accounts) mailInBackground(ctx context.Context, send func(context.Context) error) {
	select {
	case a.waitingMails <- send:
	default:
		a.Logger.WarnContext(ctx, "a mail about an account was dropped: too many mails wait")
	}
}

// KeepMailing sends the mails that wait in memory, until ctx ends. It does not retry a failed mail, because the person
// can request the mail again.
func (a *Accounts) KeepMailing(ctx context.Context) error {
	var all sync.WaitGroup
	for range mailWorkers {
		all.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case send := <-a.waitingMails:
					a.sendMail(ctx, send, mailTimeout)
				}
			}
		})
	}
	all.Wait()
	return nil
}

// sendMail calls the function `send`, which sends one mail, and reports whether the mail server accepted the mail. The
// timeout is the argument `timeout` or the timeout for calls to other services, whichever is longer.
func (a *Accounts) sendMail(ctx context.Context, send func(context.Context) error, timeout time.Duration) bool {
	bounded, cancel := context.WithTimeout(ctx, max(timeout, a.PeerTimeout))
	defer cancel()
	err := send(bounded)
	if err != nil {
		a.Logger.WarnContext(ctx, "a mail about an account was not sent", slog.Any("error", err))
	}
	return err == nil
}

// mailInvitation sends a person the mail of an invitation, and reports whether the mail server accepted the mail. The
// argument `business` is the name of the business, or "" for an invitation to become an operator. The argument
// `pending` is the id of the invitation that a person with an account must accept, or the nil UUID.
//
// The mail has a link to sign in, unless the person can already sign in. Only the owner of the address receives the
// mail, so a sign-in with the link verifies the address.
func (a *Accounts) mailInvitation(ctx context.Context, by Principal, businessID uuid.UUID, to store.Person,
	pending uuid.UUID, business, language string) bool {
	if a.OwnerURL == "" || a.Limits.CountInvitation(ctx, AccountKey(to.Email)) != nil {
		return false
	}
	return a.sendMail(ctx, func(ctx context.Context) error {
		path, kind := "/sign-in", accountmail.KnownInvitee
		switch {
		case to.IsVerified && pending != uuid.Nil:
			clear, hash := secret.New("")
			if err := a.Store.SetInvitationSecret(ctx, by, businessID, pending, hash); err != nil {
				return err
			}
			path, kind = InvitationPath(clear), accountmail.AcceptingInvitee
		case !to.IsVerified:
			kind = accountmail.NewInvitee
			link := store.Link{PersonID: to.ID, Purpose: store.PurposeSignIn, Verifies: true}
			if a.AllowsPasswords {
				link.Purpose = store.PurposePassword
			}
			clear, _, err := a.makeInvitation(ctx, by, businessID, link, store.InvitationLifetime)
			if err != nil {
				return err
			}
			if path = LinkPath(clear); a.AllowsPasswords {
				path = PasswordPath(clear)
			}
		}
		mail, err := accountmail.WriteInvitation(to.Email, business, a.OwnerURL+path, kind, to.Language, language)
		if err != nil {
			return err
		}
		return a.Mails.SendMail(ctx, mail)
	}, inviteMailTimeout)
}

// VersionsURL returns the URL of the page with the versions of a business's offer. It returns "" if OwnerURL is not
// configured.
func (a *Accounts) VersionsURL(slug string) string {
	if a.OwnerURL == "" {
		return ""
	}
	return a.OwnerURL + "/business/" + slug + "/offer/versions"
}

// The kinds of changes about which people get mails. The mails of each kind have a separate rate limit.
const (
	subjectPassword  = "password"
	subjectPasskeys  = "passkeys"
	subjectPrograms  = "programs"
	SubjectRetention = "retention"
	SubjectPayments  = "payment accounts"
)

// mayNotify reports whether a person may now get a mail about a change. If the person may get it, mayNotify counts the
// mail against the rate limit. The argument `subject` is the kind of change. A person whose address is not verified
// gets no such mails. Otherwise an inviter could enter any address, and so send many mails to a person who does not use
// Slotmesh.
func (a *Accounts) mayNotify(ctx context.Context, to store.Person, subject string) bool {
	if !to.IsVerified {
		return false
	}
	if err := a.Limits.CountAccountNotice(ctx, AccountKey(to.Email), subject); err != nil {
		a.Logger.WarnContext(ctx, "a mail about a change was not sent",
			slog.String("person_id", to.ID.String()), slog.String("subject", subject), slog.Any("error", err))
		return false
	}
	return true
}

// MailOwners sends a mail to the owners of a business in the background. Owners whose address is not verified get no
// mail. The argument `subject` is the kind of change, for the rate limits. The function `write` returns the mail to one
// owner.
func (a *Accounts) MailOwners(ctx context.Context, businessID uuid.UUID, subject string,
	write func(to store.Person) (notifications.Mail, error)) {
	if a.OwnerURL == "" {
		return
	}
	a.mailInBackground(ctx, func(ctx context.Context) error {
		owners, err := a.Store.ListOwners(ctx, businessID)
		if err != nil {
			return err
		}
		var failed error
		for _, owner := range owners {
			if !a.mayNotify(ctx, owner, "business "+businessID.String()+" "+subject) {
				continue
			}
			mail, err := write(owner)
			if err == nil {
				err = a.Mails.SendMail(ctx, mail)
			}
			failed = errors.Join(failed, err)
		}
		return failed
	})
}

// AllowTestMessage returns the verified e-mail address of a principal, and counts a test message to it. For a token,
// the address is that of the person who created the token. Faults: conflict if the principal has no verified
// address; rate_limited.
func (a *Accounts) AllowTestMessage(ctx context.Context, by Principal) (string, error) {
	address, err := a.Store.FindVerifiedAddress(ctx, by.ID)
	if errors.Is(err, store.ErrNotFound) {
		return "", fault.New(fault.Conflict, "A test goes to your own verified address only, and you have none; sign in "+
			"with slotmesh login as a person with a verified address.")
	}
	if err != nil {
		return "", err
	}
	return address, a.Limits.CountTestMessage(ctx, AccountKey(address))
}
