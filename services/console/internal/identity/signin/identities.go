package signin

import (
	"errors"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/oidc"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/signin/view"
)

// CallbackPath is the path to which the identity provider redirects browsers after the sign-in.
const CallbackPath = "/sign-in/oidc/callback"

// mountIdentities adds two routes. The first route redirects the browser to the identity provider, and the provider
// redirects the browser back to the second route. The sign-in page has a link to the first route. A form would not
// work, because the content security policy forbids forms to redirect to another host.
func (p *Pages) mountIdentities(router fiber.Router) {
	router.Get("/sign-in/oidc", p.redirectToProvider)
	router.Get(CallbackPath, p.handleCallback)
}

// The names and the lifetime of the cookie of a browser that was redirected to the identity provider. The cookie proves
// that the same browser began the sign-in. Without this proof, an attacker could send a person a link that signs the
// person in to the attacker's account.
const (
	attemptCookie         = "__Host-slotmesh-oidc"
	loopbackAttemptCookie = "slotmesh-oidc"
	attemptSeconds        = 600 // lifetime of the cookie
)

func setAttempt(c *fiber.Ctx, value string, maxAge int) {
	setHostCookie(c, attemptCookie, loopbackAttemptCookie, value, maxAge)
}

func (p *Pages) redirectToProvider(c *fiber.Ctx) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	address, attempt, err := p.accounts.BeginIdentity(c.UserContext())
	if err != nil {
		return p.showSignIn(c, fiber.StatusServiceUnavailable, view.SignInForm{ErrorText: "provider_away"})
	}
	setAttempt(c, attempt.String(), attemptSeconds)
	return c.Redirect(address, fiber.StatusSeeOther)
}

// handleCallback signs in the person whose browser the provider redirects back. It deletes the cookie with the
// attempt's random values, so that each attempt can be used only once.
func (p *Pages) handleCallback(c *fiber.Ctx) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	attempt, ok := oidc.ParseAttempt(readCookie(c, attemptCookie, loopbackAttemptCookie))
	setAttempt(c, "", -1)
	if !ok {
		return p.showSignIn(c, fiber.StatusForbidden, view.SignInForm{ErrorText: "provider_refused"})
	}
	err := p.runAttempt(c, newAddressAttempter(c), func() error {
		return p.startSession(c, func() (string, error) {
			return p.accounts.SignInByIdentity(c.UserContext(), attempt, c.Query("state"), c.Query("code"),
				c.Get(fiber.HeaderUserAgent))
		})
	})
	var asking view.SignInForm
	switch {
	case err == nil:
		return p.redirectSignedIn(c)
	case fault.Is(err, fault.RateLimited):
		setRetryAfter(c, &asking, err)
		return p.showSignIn(c, fiber.StatusTooManyRequests, asking)
	case errors.Is(err, oidc.ErrUnavailable):
		return p.showSignIn(c, fiber.StatusServiceUnavailable, view.SignInForm{ErrorText: "provider_away"})
	case errors.Is(err, oidc.ErrUnverified):
		asking.ErrorText = "provider_unverified"
	case errors.Is(err, oidc.ErrRefused):
		asking.ErrorText = "provider_refused"
	case errors.Is(err, identity.ErrInvalidSecret):
		asking.ErrorText = "provider_nobody"
	default:
		return err
	}
	return p.showSignIn(c, fiber.StatusForbidden, asking)
}
