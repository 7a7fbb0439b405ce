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
	router.Post("/sign-in", p.byPassword)
	if p.accounts.OwnerURL != "" {
		router.Get("/sign-in/forgotten", p.forgotten)
		router.Post("/sign-in/forgotten", p.mailLink)
	}
	router.Get("/sign-in/password/:secret", p.offerPassword)
	router.Post("/sign-in/password/:secret", p.choosePassword)
	router.Get("/account/password", p.askPassword)
	router.Post("/account/password", p.changePassword)
	if p.accounts.Passkeys != nil {
		p.mountPasskeys(router)
	}
}

// byPassword signs a person in by a password. For an unknown address and for a wrong password, it sends the same answer
// after the same time.
func (p *Pages) byPassword(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	asking := view.Asking{Email: strings.TrimSpace(form.Get("email"))}
	by, err := p.attempter(c, asking.Email)
	if err != nil {
		return err
	}
	err = p.attempt(c, by, func() error {
		return p.begin(c, func() (string, error) {
			return p.accounts.SignInByPassword(c.UserContext(), asking.Email, form.Get("password"),
				c.Get(fiber.HeaderUserAgent))
		})
	})
	switch {
	case err == nil:
		return p.in(c)
	case fault.Is(err, fault.RateLimited):
		wait(c, &asking, err)
		return p.showAsk(c, fiber.StatusTooManyRequests, asking)
	case errors.Is(err, identity.ErrNobody):
		asking.Wrong = "wrong_password"
		return p.showAsk(c, fiber.StatusUnprocessableEntity, asking)
	}
	return err
}

// attempter returns the rate limit for an attempt to sign in. If the account has signed in before in the browser, the
// limit is that of the account in this browser. So attempts of strangers cannot use up this limit.
func (p *Pages) attempter(c *fiber.Ctx, email string) (limits.Attempter, error) {
	account, browser := identity.AccountKey(email), shownBrowser(c)
	known, err := p.accounts.KnowsBrowser(c.UserContext(), browser, email)
	if err != nil || !known {
		return limits.UnknownBrowser(server.ClientIP(c), account), err
	}
	return limits.KnownBrowser(account, identity.BrowserKey(browser)), nil
}

// byAddress returns the rate limit of the client address, for an attempt that names no account.
func byAddress(c *fiber.Ctx) limits.Attempter { return limits.Address(server.ClientIP(c)) }

// bySession returns the rate limit of the person's session, for an attempt of a signed-in person.
func bySession(c *fiber.Ctx) limits.Attempter { return limits.Session(SignedIn(c).Session.ID.String()) }

// attempt calls the function `try` if the person's rate limit, the argument `by`, allows an attempt to sign in. If
// `try` returns the error for a wrong password, link or code, the rate limit counts a wrong attempt. Fault:
// rate_limited.
func (p *Pages) attempt(c *fiber.Ctx, by limits.Attempter, try func() error) error {
	answer := server.AnswerHeader(c)
	if err := p.accounts.Limits.CountSignIn(c.UserContext(), by, answer); err != nil {
		return err
	}
	err := try()
	if errors.Is(err, identity.ErrNobody) || errors.Is(err, identity.ErrWrongPassword) {
		if err := p.accounts.Limits.CountWrongSignIn(c.UserContext(), by, answer); err != nil {
			return err
		}
	}
	return err
}

// wait reads from the fault `err` how long the person must wait. It sets this time in the answer's header Retry-After
// and on the page.
func wait(c *fiber.Ctx, asking *view.Asking, err error) {
	after := fault.Of(err)
	asking.Wait = after.RetryAfter
	c.Set(fiber.HeaderRetryAfter, strconv.Itoa(after.RetrySeconds()))
}

func (p *Pages) forgotten(c *fiber.Ctx) error {
	return p.show(c, fiber.StatusOK, func(page view.Page) view.Content {
		return view.Forgotten(page, view.Asking{}, c.Query("sent") == "yes")
	})
}

// mailLink mails a link to choose a password. For a known and for an unknown address, it sends the same answer after
// the same time.
func (p *Pages) mailLink(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	asking := view.Asking{Email: strings.TrimSpace(form.Get("email"))}
	by, err := p.attempter(c, asking.Email)
	if err != nil {
		return err
	}
	if err = p.accounts.Limits.CountMailedLink(c.UserContext(), by, server.AnswerHeader(c)); err == nil {
		p.accounts.AskForPassword(c.UserContext(), asking.Email,
			web.Languages(c.Query("lang"), c.Get(fiber.HeaderAcceptLanguage), "")...)
	}
	if fault.Is(err, fault.RateLimited) {
		wait(c, &asking, err)
		return p.show(c, fiber.StatusTooManyRequests, func(page view.Page) view.Content {
			return view.Forgotten(page, asking, false)
		})
	}
	if err != nil {
		return err
	}
	return c.Redirect("/sign-in/forgotten?sent=yes", fiber.StatusSeeOther)
}

// offerPassword shows a form for a password. It does not use up the link, so a program that only opens the link changes
// nothing.
func (p *Pages) offerPassword(c *fiber.Ctx) error {
	return p.showChoice(c, fiber.StatusOK, view.Choosing{})
}

// showChoice shows the form to choose a password, if the mailed link in the path is still valid.
func (p *Pages) showChoice(c *fiber.Ctx, status int, choosing view.Choosing) error {
	person, err := p.accounts.WhoseLink(c.UserContext(), c.Params("secret"), store.ForPassword)
	if errors.Is(err, identity.ErrNobody) {
		return p.show(c, fiber.StatusNotFound, view.GonePassword)
	}
	if err != nil {
		return err
	}
	choosing.Email = person.Email
	choosing.Passkeys = person.Passkey
	return p.show(c, status, func(page view.Page) view.Content { return view.Choose(page, choosing) })
}

func (p *Pages) choosePassword(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	err = p.begin(c, func() (string, error) {
		return p.accounts.SetPasswordByLink(c.UserContext(), c.Params("secret"), form.Get("new"),
			c.Get(fiber.HeaderUserAgent))
	})
	if wrong := wrongChoice(err); wrong != "" {
		return p.showChoice(c, fiber.StatusUnprocessableEntity, view.Choosing{WrongNew: wrong})
	}
	if errors.Is(err, identity.ErrNobody) {
		return p.show(c, fiber.StatusNotFound, view.GonePassword)
	}
	if err != nil {
		return err
	}
	return p.in(c)
}

// wrongChoice returns the id of the text that explains why a person may not choose a password. It returns "" for other
// errors and for nil.
func wrongChoice(err error) string {
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
	return p.showChange(c, fiber.StatusOK, view.Choosing{})
}

func (p *Pages) showChange(c *fiber.Ctx, status int, choosing view.Choosing) error {
	person := SignedIn(c).Person
	choosing.Email, choosing.Current, choosing.Account = person.Email, person.Password, true
	return p.show(c, status, func(page view.Page) view.Content { return view.Choose(page, choosing) })
}

func (p *Pages) changePassword(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	signed := SignedIn(c)
	err = p.attempt(c, bySession(c), func() error {
		secret, err := p.accounts.ChangePassword(c.UserContext(), signed, form.Get("current"), form.Get("new"),
			c.Get(fiber.HeaderUserAgent))
		if err == nil {
			setCookie(c, secret, int(store.SessionMost.Seconds()))
		}
		return err
	})
	if wrong := wrongChoice(err); wrong != "" {
		return p.showChange(c, fiber.StatusUnprocessableEntity, view.Choosing{WrongNew: wrong})
	}
	switch {
	case errors.Is(err, identity.ErrStale):
		return p.showAccount(c, fiber.StatusConflict, wrongPasskey(err))
	case errors.Is(err, identity.ErrWrongPassword):
		return p.showChange(c, fiber.StatusUnprocessableEntity, view.Choosing{WrongCurrent: "current_wrong"})
	case fault.Is(err, fault.RateLimited):
		var asking view.Asking
		wait(c, &asking, err)
		return p.showChange(c, fiber.StatusTooManyRequests, view.Choosing{Wait: asking.Wait})
	case err != nil:
		return err
	}
	return c.Redirect("/account?done=password", fiber.StatusSeeOther)
}
