package signin

import (
	"cmp"
	"errors"
	"strconv"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/signin/view"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
)

// mountDevices adds the routes of `slotmesh login` (RFC 8628). The program requests a code, a person confirms the code
// on a page, and the program polls until it gets a token.
func (p *Pages) mountDevices(router fiber.Router) {
	router.Use("/device", p.limitAnonymous)
	router.Post("/device/authorization", p.beginDevice)
	router.Post("/device/token", p.redeemDevice)
	router.Get("/device", p.rememberDevice, p.Admit, p.openDevice)
	router.Post("/device", p.Admit, p.readmit, p.answerDevice)
	router.Post("/account/devices/:id/end", p.endDevice)
}

// deviceGrant is the only OAuth grant type that [Pages.redeemDevice] accepts.
const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

// refuseDevice sends an OAuth error to a program.
func refuseDevice(c *fiber.Ctx, status int, code string) error {
	return c.Status(status).JSON(map[string]string{"error": code})
}

// refuseTooOften sends a program the OAuth error slow_down, because too many requests come from the program's IP
// address. The argument `err` is the fault with the time to wait.
func refuseTooOften(c *fiber.Ctx, err error) error {
	c.Set(fiber.HeaderRetryAfter, strconv.Itoa(fault.Of(err).RetrySeconds()))
	return refuseDevice(c, fiber.StatusTooManyRequests, "slow_down")
}

// beginDevice starts the sign-in of a program. Each request counts against the rate limit for attempts to sign in.
// Without this limit, a client could fill the database with rows for sign-ins.
func (p *Pages) beginDevice(c *fiber.Ctx) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	if form.Get("client_id") == "" {
		return refuseDevice(c, fiber.StatusBadRequest, "invalid_request")
	}
	var secret, code string
	err = p.runAttempt(c, newAddressAttempter(c), func() error {
		secret, code, err = p.accounts.BeginDevice(c.UserContext(),
			cmp.Or(form.Get("device_name"), form.Get("client_id")))
		return err
	})
	if fault.Is(err, fault.RateLimited) {
		return refuseTooOften(c, err)
	}
	if err != nil {
		return err
	}
	at := cmp.Or(p.accounts.OwnerURL, c.BaseURL()) + "/device"
	return c.JSON(map[string]any{
		"device_code": secret, "user_code": identity.FormatUserCode(code), "verification_uri": at,
		"verification_uri_complete": at + "?code=" + identity.FormatUserCode(code),
		"expires_in":                int(identity.DeviceLoginLifetime.Seconds()),
		"interval":                  int(identity.DevicePollInterval.Seconds()),
	})
}

// redeemDevice answers the request with which a program polls for a token. If the secret in the request is unknown, the
// rate limit counts the request as a request with a wrong token.
func (p *Pages) redeemDevice(c *fiber.Ctx) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	if form.Get("grant_type") != deviceGrant {
		return refuseDevice(c, fiber.StatusBadRequest, "unsupported_grant_type")
	}
	if err := p.accounts.Limits.CheckWrongTokens(c.UserContext(), server.ClientIP(c)); err != nil {
		return refuseTooOften(c, err)
	}
	token, err := p.accounts.RedeemDevice(c.UserContext(), form.Get("device_code"))
	switch {
	case err == nil:
		return c.JSON(map[string]any{"access_token": token, "token_type": "Bearer",
			"expires_in": int(identity.DeviceTokenLifetime.Seconds())})
	case errors.Is(err, identity.ErrInvalidSecret):
		if err := p.accounts.Limits.CountWrongToken(c.UserContext(), server.ClientIP(c),
			server.AnswerHeader(c)); err != nil {
			return refuseTooOften(c, err)
		}
		return refuseDevice(c, fiber.StatusBadRequest, "invalid_grant")
	case errors.Is(err, store.ErrPending):
		return refuseDevice(c, fiber.StatusBadRequest, "authorization_pending")
	case errors.Is(err, store.ErrTooSoon):
		return refuseDevice(c, fiber.StatusBadRequest, "slow_down")
	case errors.Is(err, store.ErrDenied):
		return refuseDevice(c, fiber.StatusBadRequest, "access_denied")
	case errors.Is(err, store.ErrExpired):
		return refuseDevice(c, fiber.StatusBadRequest, "expired_token")
	}
	return err
}

// The names of the cookie that stores a user code while a person signs in. The browser gets the cookie when the person
// opens the URL that a program shows. After the sign-in, the browser returns to the page for the code.
const (
	deviceCookie         = "__Host-slotmesh-device"
	loopbackDeviceCookie = "slotmesh-device"
)

// rememberDevice reads the user code from the URL, and stores it in the cookie.
func (p *Pages) rememberDevice(c *fiber.Ctx) error {
	if code := identity.ParseUserCode(c.Query("code")); code != "" {
		setHostCookie(c, deviceCookie, loopbackDeviceCookie, code, int(identity.DeviceLoginLifetime.Seconds()))
	}
	return c.Next()
}

// redirectSignedIn redirects the browser of a person who has just signed in. If the browser has a cookie with a user
// code, the target is the page for this code. Otherwise, if the person has open invitations, the target is the account
// page. In all other cases, the target is the start page.
func (p *Pages) redirectSignedIn(c *fiber.Ctx) error {
	if code := identity.ParseUserCode(readCookie(c, deviceCookie, loopbackDeviceCookie)); code != "" {
		setHostCookie(c, deviceCookie, loopbackDeviceCookie, "", -1)
		return c.Redirect("/device?code="+identity.FormatUserCode(code), fiber.StatusSeeOther)
	}
	invitations, err := p.accounts.ListReceivedInvitations(c.UserContext(), SignedInPerson(c))
	if err != nil || len(invitations) == 0 { // an error of the catalog service must not stop the sign-in
		return c.Redirect("/", fiber.StatusSeeOther)
	}
	return c.Redirect("/account", fiber.StatusSeeOther)
}

// openDevice shows the form for a user code. If the URL already contains the code, openDevice asks whether the program
// may act for the signed-in person.
func (p *Pages) openDevice(c *fiber.Ctx) error {
	setHostCookie(c, deviceCookie, loopbackDeviceCookie, "", -1)
	asking := view.Device{Code: c.Query("code"), Done: c.Query("done")}
	if asking.Code == "" {
		return p.showDevice(c, fiber.StatusOK, asking)
	}
	return p.showDeviceQuestion(c, fiber.StatusOK, asking)
}

// showDeviceQuestion shows the program whose user code is `asking.Code`, and asks whether the program may act for the
// person. The rate limit counts an unknown code as a wrong attempt to sign in.
func (p *Pages) showDeviceQuestion(c *fiber.Ctx, status int, asking view.Device) error {
	err := p.runAttempt(c, newSessionAttempter(c), func() error {
		waiting, err := p.accounts.FindDeviceLogin(c.UserContext(), asking.Code)
		asking.Login = waiting
		return err
	})
	switch {
	case fault.Is(err, fault.RateLimited):
		var slow view.SignInForm
		setRetryAfter(c, &slow, err)
		asking.RetryAfter, status = slow.RetryAfter, fiber.StatusTooManyRequests
	case errors.Is(err, identity.ErrInvalidSecret):
		asking.Login, asking.IsUnknown, status = nil, true, fiber.StatusUnprocessableEntity
	case err != nil:
		return err
	default:
		if asking.Choices, err = p.accounts.ListDeviceChoices(c.UserContext(), SignedInPerson(c)); err != nil {
			return err
		}
	}
	return p.showDevice(c, status, asking)
}

func (p *Pages) showDevice(c *fiber.Ctx, status int, asking view.Device) error {
	return p.render(c, status, func(page view.Page) view.Content { return view.AskDevice(page, asking) })
}

// answerDevice stores the person's answer to a program's sign-in. The answer may grant only a role that the person has.
func (p *Pages) answerDevice(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	signed, asking, done := SignedInPerson(c), view.Device{Code: form.Get("code")}, "refused"
	var chosen *identity.DeviceChoice
	if form.Get("answer") == "allow" {
		choices, err := p.accounts.ListDeviceChoices(c.UserContext(), signed)
		if err != nil {
			return err
		}
		for i := range choices {
			if choices[i].Value() == form.Get("for") {
				chosen, done = &choices[i], "allowed"
			}
		}
		if chosen == nil {
			return p.showDeviceQuestion(c, fiber.StatusUnprocessableEntity, asking)
		}
	}
	err = p.runAttempt(c, newSessionAttempter(c), func() error {
		return p.accounts.AnswerDevice(c.UserContext(), signed, asking.Code, chosen)
	})
	switch {
	case fault.Is(err, fault.RateLimited):
		var slow view.SignInForm
		setRetryAfter(c, &slow, err)
		return p.showDevice(c, fiber.StatusTooManyRequests, view.Device{Code: asking.Code, RetryAfter: slow.RetryAfter})
	case errors.Is(err, identity.ErrInvalidSecret):
		asking.IsUnknown = true
		return p.showDevice(c, fiber.StatusUnprocessableEntity, asking)
	case err != nil:
		return err
	}
	return c.Redirect("/device?done="+done, fiber.StatusSeeOther)
}

// endDevice disconnects a program that acts for the signed-in person.
func (p *Pages) endDevice(c *fiber.Ctx) error {
	if _, err := web.Form(c); err != nil {
		return err
	}
	id, err := uuid.Parse(c.Params("id"))
	if err != nil {
		return fault.New(fault.NotFound, "There is nothing at this path.")
	}
	return p.finishChange(c, "device_ended", "", p.accounts.EndDevice(c.UserContext(), SignedInPerson(c), id))
}
