// Package signin is how people come in: the page behind a sign-in link, their sessions, and the middleware that says who a browser's
// request is from. A session is a secret of 256 random bits in a cookie; what it lets its person do is read from the tables at every
// request (accounts.md).
package signin

import (
	"errors"
	"net"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"
	"github.com/valyala/fasthttp"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/message"
	"github.com/slotmesh/slotmesh/libs/message/words"
	"github.com/slotmesh/slotmesh/libs/web"
	"github.com/slotmesh/slotmesh/services/console/internal/gate"
	"github.com/slotmesh/slotmesh/services/console/internal/signin/assets"
	"github.com/slotmesh/slotmesh/services/console/internal/signin/texts"
	"github.com/slotmesh/slotmesh/services/console/internal/signin/view"
	"github.com/slotmesh/slotmesh/services/console/internal/store"
	"github.com/slotmesh/slotmesh/services/console/internal/usecase"
)

// Pages are the pages of signing in.
type Pages struct {
	accounts *usecase.Accounts
	texts    *message.Catalog
	assets   *web.Assets
}

// New returns the pages.
func New(accounts *usecase.Accounts) (*Pages, error) {
	sentences, textErr := texts.Load()
	files, fileErr := web.NewAssets(assets.Files(), "/sign-in/assets")
	if err := errors.Join(textErr, fileErr); err != nil {
		return nil, err
	}
	return &Pages{accounts: accounts, texts: sentences, assets: files}, nil
}

// Mount adds the routes. Those of /sign-in need nobody to be signed in; those of /account are each person's own.
func (p *Pages) Mount(router fiber.Router) {
	p.assets.Mount(router)
	router.Get("/sign-in", p.ask)
	router.Get("/sign-in/link/:secret", p.offer)
	router.Post("/sign-in/link/:secret", p.signIn)
	router.Use("/account", p.Admit)
	router.Get("/account", p.account)
	router.Post("/account/sign-out", p.signOut)
	router.Post("/account/sessions/:id/end", p.end)
}

// The cookie of a session. By the prefix a browser takes it from this very host alone, by https, for every path.
const (
	cookieName   = "__Host-slotmesh-session"
	loopbackName = "slotmesh-session" // browsers take no __Host- cookie by http
)

// onLoopback reports whether the browser is on this machine, where there is no https.
func onLoopback(c *fiber.Ctx) bool {
	host := c.Hostname()
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func setCookie(c *fiber.Ctx, secret string, maxAge int) {
	cookie := &fiber.Cookie{
		Name: cookieName, Value: secret, Path: "/", MaxAge: maxAge, Secure: true, HTTPOnly: true, SameSite: fiber.CookieSameSiteLaxMode,
	}
	if onLoopback(c) {
		cookie.Name, cookie.Secure = loopbackName, false
	}
	if maxAge < 0 {
		cookie.Expires = fasthttp.CookieExpireDelete
	}
	c.Cookie(cookie)
}

func shownSession(c *fiber.Ctx) string {
	if onLoopback(c) {
		return c.Cookies(loopbackName)
	}
	return c.Cookies(cookieName)
}

type signedInKey struct{}

// Admit is middleware for who is signed in: it notes who asks. A page sends others to sign in; their writes are a 401. What another site makes
// a browser send is refused (source_forbidden).
func (p *Pages) Admit(c *fiber.Ctx) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	read := c.Method() == fiber.MethodGet || c.Method() == fiber.MethodHead
	if !read {
		if err := web.SameOrigin(c); err != nil {
			return err
		}
	}
	signed, err := p.accounts.BySession(c.UserContext(), shownSession(c))
	if errors.Is(err, usecase.ErrNobody) && read {
		return c.Redirect("/sign-in", fiber.StatusSeeOther)
	}
	if errors.Is(err, usecase.ErrNobody) {
		return fault.New(fault.Unauthorized, "You are not signed in any more; sign in and do it again.")
	}
	if err != nil {
		return err
	}
	c.Locals(signedInKey{}, signed)
	gate.Admit(c, signed.Principal)
	return c.Next()
}

// SignedIn is who is signed in, behind [Pages.Admit]; nil elsewhere.
func SignedIn(c *fiber.Ctx) *usecase.SignedIn {
	signed, _ := c.Locals(signedInKey{}).(*usecase.SignedIn)
	return signed
}

func (p *Pages) ask(c *fiber.Ctx) error {
	if _, err := p.accounts.BySession(c.UserContext(), shownSession(c)); err == nil {
		return c.Redirect("/", fiber.StatusSeeOther)
	} else if !errors.Is(err, usecase.ErrNobody) {
		return err
	}
	return p.show(c, fiber.StatusOK, view.Ask)
}

// offer shows a button, so that who opens a link only to look at it uses nothing up.
func (p *Pages) offer(c *fiber.Ctx) error {
	person, err := p.accounts.WhoseLink(c.UserContext(), c.Params("secret"))
	if errors.Is(err, usecase.ErrNobody) {
		return p.show(c, fiber.StatusNotFound, view.Gone)
	}
	if err != nil {
		return err
	}
	return p.show(c, fiber.StatusOK, func(page view.Page) view.Content { return view.Offer(page, person.Email) })
}

// signIn always begins a new session; the one that the browser had, whoever's it was, ends.
func (p *Pages) signIn(c *fiber.Ctx) error {
	if _, err := web.Form(c); err != nil {
		return err
	}
	before, err := p.accounts.BySession(c.UserContext(), shownSession(c))
	if err != nil && !errors.Is(err, usecase.ErrNobody) {
		return err
	}
	secret, err := p.accounts.SignInByLink(c.UserContext(), c.Params("secret"), c.Get(fiber.HeaderUserAgent))
	if errors.Is(err, usecase.ErrNobody) {
		return p.show(c, fiber.StatusNotFound, view.Gone)
	}
	if err != nil {
		return err
	}
	if before != nil {
		if err := p.accounts.EndSession(c.UserContext(), before.Person.ID, before.Session.ID); err != nil {
			return err
		}
	}
	setCookie(c, secret, int(store.SessionMost.Seconds()))
	return c.Redirect("/", fiber.StatusSeeOther)
}

func (p *Pages) signOut(c *fiber.Ctx) error {
	signed := SignedIn(c)
	if err := p.accounts.EndSession(c.UserContext(), signed.Person.ID, signed.Session.ID); err != nil {
		return err
	}
	setCookie(c, "", -1)
	return c.Redirect("/sign-in", fiber.StatusSeeOther)
}

func (p *Pages) account(c *fiber.Ctx) error {
	signed := SignedIn(c)
	sessions, err := p.accounts.Sessions(c.UserContext(), signed.Person.ID)
	if err != nil {
		return err
	}
	return p.show(c, fiber.StatusOK, func(page view.Page) view.Content { return view.Account(page, signed, sessions) })
}

func (p *Pages) end(c *fiber.Ctx) error {
	id, err := uuid.Parse(c.Params("id"))
	if err != nil {
		return fault.New(fault.NotFound, "There is nothing at this path.")
	}
	if err := p.accounts.EndSession(c.UserContext(), SignedIn(c).Person.ID, id); err != nil {
		return err
	}
	return c.Redirect("/account", fiber.StatusSeeOther)
}

func (p *Pages) show(c *fiber.Ctx, status int, content func(view.Page) view.Content) error {
	page := view.Page{
		Words: words.In(p.texts, web.Languages(c.Query("lang"), c.Get(fiber.HeaderAcceptLanguage), "")...), Style: p.assets.Path("signin.css"),
	}
	web.Protect(c, web.Policy{})
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Vary(fiber.HeaderAcceptLanguage)
	return web.Render(c, status, view.Whole(page, content(page)))
}
