package signin

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/signin/view"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
)

// mountPasskeys adds the routes for passkeys. A script on the page requests a challenge, and the person's device signs
// the challenge. Then a form on the page sends the signed answer, so that the browser shows the response as a page.
func (p *Pages) mountPasskeys(router fiber.Router) {
	router.Post("/sign-in/passkey/begin", p.beginPasskey)
	router.Post("/sign-in/passkey", p.signInByPasskey)
	router.Post("/account/passkeys/begin", p.beginAdding)
	router.Post("/account/passkeys", p.addPasskey)
	router.Post("/account/passkeys/:id/remove", p.removePasskey)
	router.Post("/account/password/remove", p.removePassword)
}

// The names of the cookie that stores the secret of a challenge. Only the browser that has this cookie can send the
// answer to the challenge.
const (
	challengeCookie         = "__Host-slotmesh-passkey"
	loopbackChallengeCookie = "slotmesh-passkey"
)

func setChallenge(c *fiber.Ctx, value string, maxAge int) {
	setHostCookie(c, challengeCookie, loopbackChallengeCookie, value, maxAge)
}

// takeChallenge returns the secret in the challenge's cookie and deletes the cookie, so that each challenge is used for
// one answer only.
func takeChallenge(c *fiber.Ctx) string {
	clear := readCookie(c, challengeCookie, loopbackChallengeCookie)
	setChallenge(c, "", -1)
	return clear
}

// offersPasskeys reports whether the sign-in page offers passkeys. It returns true only for requests to the public host
// of the owner's pages, because passkeys are bound to this host.
func (p *Pages) offersPasskeys(c *fiber.Ctx) bool {
	return p.accounts.AllowsPasswords && p.accounts.Passkeys != nil && strings.EqualFold(c.Hostname(),
		p.accounts.Passkeys.Host())
}

// sendOptions sends a JSON answer to a request of the page's script. The argument `options` has the WebAuthn options
// for the browser. If `options` is nil, the answer has only a message for the person. The function `sentence` returns
// this message.
func (p *Pages) sendOptions(c *fiber.Ctx, status int, options json.RawMessage, sentence func(view.Page) string) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	if options != nil {
		return c.Status(status).JSON(map[string]any{"publicKey": options})
	}
	return c.Status(status).JSON(map[string]string{"message": sentence(p.newPage(c))})
}

// beginPasskey starts a sign-in with a passkey. The response does not depend on the person, because only the passkey in
// the browser's answer identifies the person.
func (p *Pages) beginPasskey(c *fiber.Ctx) error {
	if _, err := web.Form(c); err != nil {
		return err
	}
	var options json.RawMessage
	err := p.runAttempt(c, newAddressAttempter(c), func() error {
		optionsText, clear, err := p.accounts.BeginPasskeySignIn(c.UserContext())
		if err == nil {
			options = optionsText
			setChallenge(c, clear, int(identity.ChallengeLifetime.Seconds()))
		}
		return err
	})
	if fault.Is(err, fault.RateLimited) {
		var asking view.SignInForm
		setRetryAfter(c, &asking, err)
		return p.sendOptions(c, fiber.StatusTooManyRequests, nil, func(page view.Page) string {
			return view.FormatTooOften(page, asking.RetryAfter)
		})
	}
	if err != nil {
		return err
	}
	return p.sendOptions(c, fiber.StatusOK, options, nil)
}

// signInByPasskey signs a person in with a passkey. It sends the same response for an unknown passkey, for a passkey of
// another person, and for an invalid answer of the device.
func (p *Pages) signInByPasskey(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	asking := view.SignInForm{Email: strings.TrimSpace(form.Get("email")), ErrorText: "passkey_wrong"}
	clear := takeChallenge(c)
	err = p.startSession(c, func() (string, error) {
		return p.accounts.SignInByPasskey(c.UserContext(), clear, asking.Email, form.Get("credential"),
			c.Get(fiber.HeaderUserAgent))
	})
	if errors.Is(err, identity.ErrInvalidSecret) {
		err = cmp.Or(p.accounts.Limits.CountWrongSignIn(c.UserContext(), newAddressAttempter(c),
			server.AnswerHeader(c)), err)
	}
	switch {
	case err == nil:
		return p.redirectSignedIn(c)
	case fault.Is(err, fault.RateLimited):
		asking.ErrorText = ""
		setRetryAfter(c, &asking, err)
		return p.showSignIn(c, fiber.StatusTooManyRequests, asking)
	case errors.Is(err, identity.ErrInvalidSecret):
		return p.showSignIn(c, fiber.StatusUnprocessableEntity, asking)
	}
	return err
}

// findPasskeyErrorText returns the id of the text that explains an error about a person's credentials. It returns ""
// for other errors and for nil.
func findPasskeyErrorText(err error) string {
	switch {
	case errors.Is(err, identity.ErrStale):
		return "passkey_stale"
	case errors.Is(err, identity.ErrPasskeyRefused):
		return "passkey_not_added"
	case errors.Is(err, store.ErrTooManyPasskeys):
		return "passkey_many"
	case errors.Is(err, store.ErrLastCredential):
		return "passkey_last"
	}
	return ""
}

func (p *Pages) beginAdding(c *fiber.Ctx) error {
	if _, err := web.Form(c); err != nil {
		return err
	}
	options, clear, err := p.accounts.BeginPasskey(c.UserContext(), SignedInPerson(c))
	if errorText := findPasskeyErrorText(err); errorText != "" {
		return p.sendOptions(c, fiber.StatusConflict, nil, func(page view.Page) string { return page.Words.Say(errorText) })
	}
	if err != nil {
		return err
	}
	setChallenge(c, clear, int(identity.ChallengeLifetime.Seconds()))
	return p.sendOptions(c, fiber.StatusOK, options, nil)
}

func (p *Pages) addPasskey(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	err = p.accounts.AddPasskey(c.UserContext(), SignedInPerson(c), takeChallenge(c), form.Get("name"),
		form.Get("credential"))
	return p.finishChange(c, "passkey_added", "", err)
}

func (p *Pages) removePasskey(c *fiber.Ctx) error {
	if _, err := web.Form(c); err != nil {
		return err
	}
	id, err := uuid.Parse(c.Params("id"))
	if err != nil {
		return fault.New(fault.NotFound, "There is nothing at this path.")
	}
	session, err := p.accounts.RemovePasskey(c.UserContext(), SignedInPerson(c), id, c.Get(fiber.HeaderUserAgent))
	if errors.Is(err, store.ErrNotFound) {
		err = nil // the passkey was already removed, or does not exist
	}
	return p.finishChange(c, "passkey_removed", session, err)
}

func (p *Pages) removePassword(c *fiber.Ctx) error {
	if _, err := web.Form(c); err != nil {
		return err
	}
	session, err := p.accounts.RemovePassword(c.UserContext(), SignedInPerson(c), c.Get(fiber.HeaderUserAgent))
	return p.finishChange(c, "password_removed", session, err)
}

// finishChange completes a change of a person's credentials. It redirects to the account page, which shows the result;
// the argument `done` is the key of the result in [doneTexts]. If the person can solve the problem in `err`,
// finishChange shows the account page with a text about the error. The argument `session` is the secret of a new
// session, or "" if the change creates no session.
func (p *Pages) finishChange(c *fiber.Ctx, done, session string, err error) error {
	if errorText := findPasskeyErrorText(err); errorText != "" {
		return p.showAccount(c, fiber.StatusConflict, errorText)
	}
	if err != nil {
		return err
	}
	if session != "" {
		setCookie(c, session, int(store.MaxSessionAge.Seconds()))
	}
	return c.Redirect("/account?done="+done, fiber.StatusSeeOther)
}

// doneTexts maps each value of the account page's query parameter `done` to the id of the text about the completed
// change.
var doneTexts = map[string]string{
	"language": "language_done", "password": "password_done", "passkey_added": "passkey_added",
	"passkey_removed": "passkey_removed", "password_removed": "password_removed",
	"invitation_accepted": "invitation_accepted", "invitation_declined": "invitation_declined",
	"device_ended": "device_ended",
}
