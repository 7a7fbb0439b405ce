package signin

import (
	"errors"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/limits"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/password"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/signin/view"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
)

// mountPasswords adds the routes for passwords. The mailed link contains the public URL of the owner's pages. So
// mountPasswords adds the routes for a forgotten password only if this URL is configured.
func (p *Pages) mountPasswords(router fiber.Router) {
	router.Post("/sign-in", p.signInByPassword)
	if p.accounts.OwnerURL != "" {
		router.Get("/sign-in/forgotten", p.showForgottenPassword)
		router.Post("/sign-in/forgotten", p.mailLink)
		if p.accounts.OpensSignUp {
			router.Get("/sign-in/new", p.showSignUp)
			router.Post("/sign-in/new", p.mailSignUpLink)
		}
	}
	router.Get("/sign-in/password/:secret", p.offerPassword)
	router.Post("/sign-in/password/:secret", p.choosePassword)
	router.Get("/account/password", p.askPassword)
	router.Post("/account/password", p.changePassword)
	if p.accounts.Passkeys != nil {
		p.mountPasskeys(router)
	}
}

// signInByPassword signs a person in with a password. For an unknown e-mail address and for a wrong password, it sends
// the same response after the same time.
func (p *Pages) signInByPassword(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	asking := view.SignInForm{Email: strings.TrimSpace(form.Get("email"))}
	by, err := p.findAttempter(c, asking.Email)
	if err != nil {
		return err
	}
	err = p.runAttempt(c, by, func() error {
		return p.startSession(c, func() (string, error) {
			return p.accounts.SignInByPassword(c.UserContext(), asking.Email, form.Get("password"),
				c.Get(fiber.HeaderUserAgent))
		})
	})
	switch {
	case err == nil:
		return p.redirectSignedIn(c)
	case fault.Is(err, fault.RateLimited):
		setRetryAfter(c, &asking, err)
		return p.showSignIn(c, fiber.StatusTooManyRequests, asking)
	case errors.Is(err, identity.ErrInvalidSecret):
		asking.ErrorText = "wrong_password"
		return p.showSignIn(c, fiber.StatusUnprocessableEntity, asking)
	}
	return err
}

// findAttempter returns the party for which the rate limit counts an attempt to sign in. If the person has signed in
// before in this browser, this party is the account in this browser. Otherwise it is the account at the client's IP
// address. So strangers in other browsers cannot use up the limit of the person's browser.
func (p *Pages) findAttempter(c *fiber.Ctx, email string) (limits.Attempter, error) {
	account, browser := identity.AccountKey(email), readBrowser(c)
	isKnown, err := p.accounts.KnowsBrowser(c.UserContext(), browser, email)
	if err != nil || !isKnown {
		return limits.UnknownBrowser(server.ClientIP(c), account), err
	}
	return limits.KnownBrowser(account, identity.BrowserKey(browser)), nil
}

// newAddressAttempter returns the party for which the rate limit counts an attempt that names no account: the client's
// IP address.
func newAddressAttempter(c *fiber.Ctx) limits.Attempter { return limits.Address(server.ClientIP(c)) }

// newSessionAttempter returns the party for which the rate limit counts an attempt of a signed-in person: the person's
// session.
func newSessionAttempter(c *fiber.Ctx) limits.Attempter {
	return limits.Session(SignedInPerson(c).Session.ID.String())
}

// runAttempt calls the function `try` if the rate limit allows the party `by` an attempt to sign in. If `try` returns
// the error for a wrong password, link or code, the rate limit counts a wrong attempt. Fault: rate_limited.
func (p *Pages) runAttempt(c *fiber.Ctx, by limits.Attempter, try func() error) error {
	answer := server.AnswerHeader(c)
	if err := p.accounts.Limits.CountSignIn(c.UserContext(), by, answer); err != nil {
		return err
	}
	err := try()
	if errors.Is(err, identity.ErrInvalidSecret) || errors.Is(err, identity.ErrWrongPassword) {
		if err := p.accounts.Limits.CountWrongSignIn(c.UserContext(), by, answer); err != nil {
			return err
		}
	}
	return err
}

// setRetryAfter reads from the fault `err` how long the person must wait. It sets this time in the response header
// Retry-After and in the data of the page.
func setRetryAfter(c *fiber.Ctx, asking *view.SignInForm, err error) {
	after := fault.Of(err)
	asking.RetryAfter = after.RetryAfter
	c.Set(fiber.HeaderRetryAfter, strconv.Itoa(after.RetrySeconds()))
}

func (p *Pages) showForgottenPassword(c *fiber.Ctx) error {
	return p.render(c, fiber.StatusOK, func(page view.Page) view.Content {
		return view.ForgottenPassword(page, view.SignInForm{}, c.Query("sent") == "yes")
	})
}

// mailLink mails a link to choose a password. For a known and for an unknown e-mail address, it sends the same response
// after the same time.
func (p *Pages) mailLink(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	asking := view.SignInForm{Email: strings.TrimSpace(form.Get("email"))}
	by, err := p.findAttempter(c, asking.Email)
	if err != nil {
		return err
	}
	if err = p.accounts.Limits.CountMailedLink(c.UserContext(), by, server.AnswerHeader(c)); err == nil {
		p.accounts.MailPasswordLink(c.UserContext(), asking.Email,
			web.Languages(c.Query("lang"), c.Get(fiber.HeaderAcceptLanguage), "")...)
	}
	if fault.Is(err, fault.RateLimited) {
		setRetryAfter(c, &asking, err)
		return p.render(c, fiber.StatusTooManyRequests, func(page view.Page) view.Content {
			return view.ForgottenPassword(page, asking, false)
		})
	}
	if err != nil {
		return err
	}
	return c.Redirect("/sign-in/forgotten?sent=yes", fiber.StatusSeeOther)
}

func (p *Pages) showSignUp(c *fiber.Ctx) error {
	return p.render(c, fiber.StatusOK, func(page view.Page) view.Content {
		return view.SignUp(page, view.SignInForm{}, c.Query("sent") == "yes")
	})
}

// mailSignUpLink mails a link to create an account. For a known and for an unknown e-mail address, it sends the same
// response after the same time.
func (p *Pages) mailSignUpLink(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	asking := view.SignInForm{Email: strings.TrimSpace(form.Get("email"))}
	err = p.accounts.Limits.CountSignUp(c.UserContext(), server.ClientIP(c), identity.AccountKey(asking.Email),
		server.AnswerHeader(c))
	if fault.Is(err, fault.RateLimited) {
		setRetryAfter(c, &asking, err)
		return p.render(c, fiber.StatusTooManyRequests, func(page view.Page) view.Content {
			return view.SignUp(page, asking, false)
		})
	}
	if err != nil {
		return err
	}
	p.accounts.MailSignUpLink(c.UserContext(), asking.Email,
		web.Languages(c.Query("lang"), c.Get(fiber.HeaderAcceptLanguage), "")...)
	return c.Redirect("/sign-in/new?sent=yes", fiber.StatusSeeOther)
}

// offerPassword shows a form to choose a password. The mailed link stays valid, so a program that only opens the link
// changes nothing.
func (p *Pages) offerPassword(c *fiber.Ctx) error {
	return p.showChoice(c, fiber.StatusOK, view.PasswordForm{})
}

// showChoice shows the form to choose a password, if the mailed link in the path is still valid.
func (p *Pages) showChoice(c *fiber.Ctx, status int, choosing view.PasswordForm) error {
	person, err := p.accounts.FindPersonByLink(c.UserContext(), c.Params("secret"), store.PurposePassword)
	if errors.Is(err, identity.ErrInvalidSecret) {
		return p.render(c, fiber.StatusNotFound, view.ExpiredPasswordLink)
	}
	if err != nil {
		return err
	}
	choosing.Email = person.Email
	choosing.EndsPasskeys = person.HasPasskey
	return p.render(c, status, func(page view.Page) view.Content { return view.ChoosePassword(page, choosing) })
}

func (p *Pages) choosePassword(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	err = p.startSession(c, func() (string, error) {
		return p.accounts.SetPasswordByLink(c.UserContext(), c.Params("secret"), form.Get("new"),
			c.Get(fiber.HeaderUserAgent))
	})
	if errorText := findPasswordErrorText(err); errorText != "" {
		return p.showChoice(c, fiber.StatusUnprocessableEntity, view.PasswordForm{NewError: errorText})
	}
	if errors.Is(err, identity.ErrInvalidSecret) {
		return p.render(c, fiber.StatusNotFound, view.ExpiredPasswordLink)
	}
	if err != nil {
		return err
	}
	return p.redirectSignedIn(c)
}

// findPasswordErrorText returns the id of the text that explains why a person may not choose a password. It returns ""
// for other errors and for nil.
func findPasswordErrorText(err error) string {
	switch {
	case errors.Is(err, password.ErrShort):
		return "password_short"
	case errors.Is(err, password.ErrLong):
		return "password_long"
	case errors.Is(err, password.ErrCommon):
		return "password_common"
	}
	return ""
}

func (p *Pages) askPassword(c *fiber.Ctx) error {
	return p.showChange(c, fiber.StatusOK, view.PasswordForm{})
}

func (p *Pages) showChange(c *fiber.Ctx, status int, choosing view.PasswordForm) error {
	person := SignedInPerson(c).Person
	choosing.Email, choosing.AsksCurrent, choosing.IsSignedIn = person.Email, person.HasPassword, true
	return p.render(c, status, func(page view.Page) view.Content { return view.ChoosePassword(page, choosing) })
}

func (p *Pages) changePassword(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	signed := SignedInPerson(c)
	err = p.runAttempt(c, newSessionAttempter(c), func() error {
		secret, err := p.accounts.ChangePassword(c.UserContext(), signed, form.Get("current"), form.Get("new"),
			c.Get(fiber.HeaderUserAgent))
		if err == nil {
			setCookie(c, secret, int(store.MaxSessionAge.Seconds()))
		}
		return err
	})
	if errorText := findPasswordErrorText(err); errorText != "" {
		return p.showChange(c, fiber.StatusUnprocessableEntity, view.PasswordForm{NewError: errorText})
	}
	switch {
	case errors.Is(err, identity.ErrStale):
		return p.showAccount(c, fiber.StatusConflict, findPasskeyErrorText(err))
	case errors.Is(err, identity.ErrWrongPassword):
		return p.showChange(c, fiber.StatusUnprocessableEntity, view.PasswordForm{CurrentError: "current_wrong"})
	case fault.Is(err, fault.RateLimited):
		var asking view.SignInForm
		setRetryAfter(c, &asking, err)
		return p.showChange(c, fiber.StatusTooManyRequests, view.PasswordForm{RetryAfter: asking.RetryAfter})
	case err != nil:
		return err
	}
	return c.Redirect("/account?done=password", fiber.StatusSeeOther)
}
