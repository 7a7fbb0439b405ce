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

// mountIdentities adds two routes: one redirects to the identity provider, and the provider redirects back to the
// other. The sign-in page links to the first route. The page cannot use a form instead, because the content security
// policy forbids a form to redirect to another host.
func (p *Pages) mountIdentities(router fiber.Router) {
	router.Get("/sign-in/oidc", p.toProvider)
	router.Get(CallbackPath, p.fromProvider)
}

// The cookie of a browser that was redirected to the identity provider. The cookie proves that this browser began the
// sign-in. Without the cookie, an attacker could send a person a link that signs the person in to the attacker's
// account.
const (
	attemptName         = "__Host-slotmesh-oidc"
	loopbackAttemptName = "slotmesh-oidc"
	attemptGood         = 600 // seconds
)

func setAttempt(c *fiber.Ctx, value string, maxAge int) {
	setHostCookie(c, attemptName, loopbackAttemptName, value, maxAge)
}

func (p *Pages) toProvider(c *fiber.Ctx) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	address, attempt, err := p.accounts.BeginIdentity(c.UserContext())
	if err != nil {
		return p.showAsk(c, fiber.StatusServiceUnavailable, view.Asking{Wrong: "provider_away"})
	}
	setAttempt(c, attempt.String(), attemptGood)
	return c.Redirect(address, fiber.StatusSeeOther)
}

// fromProvider signs in the person whose browser the provider redirects back. It deletes the cookie of the attempt, so
// each attempt can be used only once.
func (p *Pages) fromProvider(c *fiber.Ctx) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	attempt, ok := oidc.ParseAttempt(shownCookie(c, attemptName, loopbackAttemptName))
	setAttempt(c, "", -1)
	if !ok {
		return p.showAsk(c, fiber.StatusForbidden, view.Asking{Wrong: "provider_refused"})
	}
	err := p.attempt(c, byAddress(c), func() error {
		return p.begin(c, func() (string, error) {
			return p.accounts.SignInByIdentity(c.UserContext(), attempt, c.Query("state"), c.Query("code"),
				c.Get(fiber.HeaderUserAgent))
		})
	})
	var asking view.Asking
	switch {
	case err == nil:
		return p.in(c)
	case fault.Is(err, fault.RateLimited):
		wait(c, &asking, err)
		return p.showAsk(c, fiber.StatusTooManyRequests, asking)
	case errors.Is(err, oidc.ErrAway):
		return p.showAsk(c, fiber.StatusServiceUnavailable, view.Asking{Wrong: "provider_away"})
	case errors.Is(err, oidc.ErrUnverified):
		asking.Wrong = "provider_unverified"
	case errors.Is(err, oidc.ErrRefused):
		asking.Wrong = "provider_refused"
	case errors.Is(err, identity.ErrNobody):
		asking.Wrong = "provider_nobody"
	default:
		return err
	}
	return p.showAsk(c, fiber.StatusForbidden, asking)
}
