// Package signin signs people in to the owner's pages. It has the pages for signing in and for a person's own account,
// and the middleware that identifies the person of a browser's request. A session is a secret of 256 random bits in a
// cookie. Every request reads from the database the current rights of the person to whom the session belongs
// (accounts.md).
package signin

import (
	"cmp"
	"errors"
	"net"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"
	"github.com/valyala/fasthttp"

	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/message"
	"github.com/slotmesh/slotmesh/libs/values/message/words"
	"github.com/slotmesh/slotmesh/services/console/internal/identity"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/signin/assets"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/signin/texts"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/signin/view"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
)

// Pages serves the pages for signing in and the account page.
type Pages struct {
	accounts *identity.Accounts
	texts    *message.Catalog
	assets   *web.Assets
}

// New returns the pages for signing in. The argument `accounts` signs people in.
func New(accounts *identity.Accounts) (*Pages, error) {
	sentences, textErr := texts.Load()
	files, fileErr := web.NewAssets(assets.Files, "/sign-in/assets")
	if err := errors.Join(textErr, fileErr); err != nil {
		return nil, err
	}
	return &Pages{accounts: accounts, texts: sentences, assets: files}, nil
}

// Mount adds the routes. The routes below /sign-in need no session. The routes below /account need a session, and show
// the signed-in person their own account.
func (p *Pages) Mount(router fiber.Router) {
	p.assets.Mount(router)
	router.Use("/sign-in", p.limitAnonymous)
	router.Get("/sign-in", p.askSignIn)
	router.Get("/sign-in/link/:secret", p.offerSignIn)
	router.Post("/sign-in/link/:secret", p.signIn)
	router.Use("/account", p.Admit, p.readmit)
	if p.accounts.AllowsPasswords {
		p.mountPasswords(router)
	}
	if p.accounts.Provider != nil {
		p.mountIdentities(router)
	}
	p.mountDevices(router)
	p.mountInvitations(router)
	router.Get("/account", p.getAccount)
	router.Post("/account/language", p.chooseLanguage)
	router.Post("/account/sign-out", p.signOut)
	router.Post("/account/sessions/:id/end", p.endSession)
}

// maxFormBytes is the maximum size of a form's body. The HTTP server's own limit is larger, because the server also
// accepts manifests.
const maxFormBytes = 64 << 10

// limitAnonymous is middleware for the routes that need no session. Before any other work, it limits the number of
// requests from each client's IP address, and the size of the body. It also forbids other sites to show the pages in a
// frame. Fault: rate_limited.
func (p *Pages) limitAnonymous(c *fiber.Ctx) error {
	web.Protect(c, web.Policy{})
	server.LimitBody(c, maxFormBytes)
	if err := p.accounts.Limits.Pass(c.UserContext(), server.ClientIP(c), c.Method(), c.Path(),
		server.AnswerHeader(c)); err != nil {
		return err
	}
	return c.Next()
}

// The names of the cookie of a session. Because of the prefix __Host-, browsers accept the cookie only by HTTPS, for
// this host alone, and for all paths.
const (
	sessionCookie         = "__Host-slotmesh-session"
	loopbackSessionCookie = "slotmesh-session" // for HTTP, because browsers accept a __Host- cookie only by HTTPS
)

// isOnLoopback reports whether the request was sent to a loopback address, which has no HTTPS.
func isOnLoopback(c *fiber.Ctx) bool {
	host := c.Hostname()
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func setCookie(c *fiber.Ctx, secret string, maxAge int) {
	setHostCookie(c, sessionCookie, loopbackSessionCookie, secret, maxAge)
}

func readSession(c *fiber.Ctx) string { return readCookie(c, sessionCookie, loopbackSessionCookie) }

// setHostCookie sets a cookie that the browser sends only to this host. For requests to a loopback address, the name of
// the cookie is `loopbackName` instead of `name`.
func setHostCookie(c *fiber.Ctx, name, loopbackName, value string, maxAge int) {
	cookie := &fiber.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: maxAge, Secure: true, HTTPOnly: true,
		SameSite: fiber.CookieSameSiteLaxMode,
	}
	if isOnLoopback(c) {
		cookie.Name, cookie.Secure = loopbackName, false
	}
	if maxAge < 0 {
		cookie.Expires = fasthttp.CookieExpireDelete
	}
	c.Cookie(cookie)
}

func readCookie(c *fiber.Ctx, name, loopbackName string) string {
	if isOnLoopback(c) {
		return c.Cookies(loopbackName)
	}
	return c.Cookies(name)
}

type signedInKey struct{}

// Admit is middleware for signed-in people: it sets the principal of the request to the person of the session. If there
// is no valid session, it redirects a read to the sign-in page and refuses a write with 401. It refuses a write that
// another site makes the browser send (source_forbidden). It forbids other sites to show the pages in a frame.
func (p *Pages) Admit(c *fiber.Ctx) error {
	web.Protect(c, web.Policy{})
	c.Set(fiber.HeaderCacheControl, "no-store")
	read := c.Method() == fiber.MethodGet || c.Method() == fiber.MethodHead
	if !read {
		if err := web.SameOrigin(c); err != nil {
			return err
		}
	}
	signed, err := p.accounts.AuthenticateSession(c.UserContext(), readSession(c))
	if errors.Is(err, identity.ErrInvalidSecret) && read {
		return c.Redirect("/sign-in", fiber.StatusSeeOther)
	}
	if errors.Is(err, identity.ErrInvalidSecret) {
		return fault.New(fault.Unauthorized, "You are not signed in any more; sign in and do it again.")
	}
	if err != nil {
		return err
	}
	c.Locals(signedInKey{}, signed)
	authorize.Admit(c, signed.Principal)
	return c.Next()
}

// readmit is middleware that runs after [Pages.Admit]. It reads the body of a write, and then looks up the session
// again. Otherwise a client that sends the body slowly could use a session that ends before the body arrives. The
// database transaction of the write also checks the session.
func (p *Pages) readmit(c *fiber.Ctx) error {
	if c.Method() == fiber.MethodGet || c.Method() == fiber.MethodHead {
		return c.Next()
	}
	server.LimitBody(c, maxFormBytes)
	if _, err := server.Body(c); err != nil {
		return err
	}
	return p.Admit(c)
}

// SignedInPerson returns the signed-in person whom [Pages.Admit] has stored in the request. If [Pages.Admit] has not
// run, SignedInPerson returns nil.
func SignedInPerson(c *fiber.Ctx) *identity.SignedInPerson {
	signed, _ := c.Locals(signedInKey{}).(*identity.SignedInPerson)
	return signed
}

func (p *Pages) askSignIn(c *fiber.Ctx) error {
	if _, err := p.accounts.AuthenticateSession(c.UserContext(), readSession(c)); err == nil {
		return c.Redirect("/", fiber.StatusSeeOther)
	} else if !errors.Is(err, identity.ErrInvalidSecret) {
		return err
	}
	return p.showSignIn(c, fiber.StatusOK, view.SignInForm{})
}

// showSignIn shows the sign-in page with the configured ways to sign in.
func (p *Pages) showSignIn(c *fiber.Ctx, status int, asking view.SignInForm) error {
	asking.OffersPassword = p.accounts.AllowsPasswords
	if p.accounts.Provider != nil {
		asking.Provider = p.accounts.Provider.Name()
	}
	asking.OffersPasskeys = p.offersPasskeys(c)
	asking.OffersSignUp = p.accounts.OpensSignUp
	asking.OffersPasswordLink = asking.OffersPassword && p.accounts.OwnerURL != ""
	return p.render(c, status, func(page view.Page) view.Content { return view.SignIn(page, asking) })
}

// offerSignIn shows a button to sign in with the link in the path. The link stays valid until the person presses the
// button. So a program that only opens the link does not sign in.
func (p *Pages) offerSignIn(c *fiber.Ctx) error {
	person, err := p.accounts.FindPersonByLink(c.UserContext(), c.Params("secret"), store.PurposeSignIn)
	if errors.Is(err, identity.ErrInvalidSecret) {
		return p.render(c, fiber.StatusNotFound, view.ExpiredLink)
	}
	if err != nil {
		return err
	}
	return p.render(c, fiber.StatusOK, func(page view.Page) view.Content {
		return view.OfferSignIn(page, person.Email)
	})
}

func (p *Pages) signIn(c *fiber.Ctx) error {
	if _, err := web.Form(c); err != nil {
		return err
	}
	err := p.startSession(c, func() (string, error) {
		return p.accounts.SignInByLink(c.UserContext(), c.Params("secret"), c.Get(fiber.HeaderUserAgent))
	})
	if errors.Is(err, identity.ErrInvalidSecret) {
		return p.render(c, fiber.StatusNotFound, view.ExpiredLink)
	}
	if err != nil {
		return err
	}
	return p.redirectSignedIn(c)
}

// startSession calls the function `signIn`, which signs a person in and returns the secret of the new session. Then
// startSession sets the session's cookie. It also ends the browser's earlier session, even if the earlier session
// belonged to another person.
func (p *Pages) startSession(c *fiber.Ctx, signIn func() (string, error)) error {
	before, err := p.accounts.AuthenticateSession(c.UserContext(), readSession(c))
	if err != nil && !errors.Is(err, identity.ErrInvalidSecret) {
		return err
	}
	secret, err := signIn()
	if err != nil {
		return err
	}
	if before != nil {
		if err := p.accounts.EndSession(c.UserContext(), before.Person.ID, before.Session.ID); err != nil {
			return err
		}
	}
	signed, err := p.accounts.AuthenticateSession(c.UserContext(), secret)
	if err != nil {
		return err
	}
	browser, err := p.accounts.RememberBrowser(c.UserContext(), readBrowser(c), signed)
	if err != nil {
		return err
	}
	c.Locals(signedInKey{}, signed)
	setCookie(c, secret, int(store.MaxSessionAge.Seconds()))
	setHostCookie(c, browserCookie, loopbackBrowserCookie, browser, int(store.BrowserLifetime.Seconds()))
	return nil
}

// The names of the cookie of a browser in which a person has signed in before. The cookie gives no rights. Because of
// the cookie, console counts wrong passwords from this browser separately from wrong passwords that strangers send.
// Otherwise strangers could use up the limit, so that the person could not sign in.
const (
	browserCookie         = "__Host-slotmesh-browser"
	loopbackBrowserCookie = "slotmesh-browser"
)

func readBrowser(c *fiber.Ctx) string { return readCookie(c, browserCookie, loopbackBrowserCookie) }

func (p *Pages) signOut(c *fiber.Ctx) error {
	signed := SignedInPerson(c)
	if err := p.accounts.EndSession(c.UserContext(), signed.Person.ID, signed.Session.ID); err != nil {
		return err
	}
	setCookie(c, "", -1)
	return c.Redirect("/sign-in", fiber.StatusSeeOther)
}

func (p *Pages) getAccount(c *fiber.Ctx) error { return p.showAccount(c, fiber.StatusOK, "") }

// showAccount shows a person their credentials and sessions. The argument `wrong` is the id of the text about a failed
// action, or "" if no action failed.
func (p *Pages) showAccount(c *fiber.Ctx, status int, wrong string) error {
	signed := SignedInPerson(c)
	sessions, err := p.accounts.ListSessions(c.UserContext(), signed.Person.ID)
	if err != nil {
		return err
	}
	keys, err := p.accounts.ListPasskeys(c.UserContext(), signed)
	if err != nil {
		return err
	}
	invitations, err := p.accounts.ListReceivedInvitations(c.UserContext(), signed)
	if err != nil {
		return err
	}
	devices, names, err := p.accounts.ListDevices(c.UserContext(), signed)
	if err != nil {
		return err
	}
	return p.render(c, status, func(page view.Page) view.Content {
		return view.Account(page, view.AccountPage{
			Signed: signed, Sessions: sessions, Languages: p.texts.Languages(), Passkeys: keys,
			Invitations: invitations, OffersPasswords: p.accounts.AllowsPasswords, CanAddPasskeys: p.offersPasskeys(c),
			Devices: devices, BusinessNames: names, Done: doneTexts[c.Query("done")], ErrorText: wrong,
		})
	})
}

func (p *Pages) endSession(c *fiber.Ctx) error {
	id, err := uuid.Parse(c.Params("id"))
	if err != nil {
		return fault.New(fault.NotFound, "There is nothing at this path.")
	}
	if err := p.accounts.EndOwnSession(c.UserContext(), SignedInPerson(c), id); err != nil {
		return err
	}
	return c.Redirect("/account", fiber.StatusSeeOther)
}

// newPage returns the data that every page needs. The language of the page is the language that the person has chosen.
// If the person has chosen no language, the page has the language of the browser.
func (p *Pages) newPage(c *fiber.Ctx) view.Page {
	chosen := c.Query("lang")
	if signed := SignedInPerson(c); signed != nil {
		chosen = cmp.Or(chosen, signed.Person.Language)
	}
	return view.Page{
		Words:  words.In(p.texts, web.Languages(chosen, c.Get(fiber.HeaderAcceptLanguage), "")...),
		Style:  p.assets.Path("signin.css"),
		Script: p.assets.Path("signin.js"),
	}
}

func (p *Pages) render(c *fiber.Ctx, status int, content func(view.Page) view.Content) error {
	page := p.newPage(c)
	web.Protect(c, web.Policy{})
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Vary(fiber.HeaderAcceptLanguage)
	return web.Render(c, status, view.Document(page, content(page)))
}
