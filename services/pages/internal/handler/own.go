package handler

import (
	"context"
	"net"
	"net/netip"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"
	"github.com/valyala/fasthttp"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/values/email"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
	"github.com/slotmesh/slotmesh/services/pages/internal/view"
)

// LinkLimit counts a request for a mailed link and reports whether the mail may be sent. Its implementation is
// limits.Gate.CountCustomerLink.
type LinkLimit func(ctx context.Context, client netip.Addr, businessID uuid.UUID, email string,
	answer server.Header) (bool, error)

// mountOwn adds the pages on which customers see all their bookings with one business.
func (p *Pages) mountOwn(router fiber.Router) {
	group := router.Group("/b/:slug/mine", forbidCaching)
	group.Get("", p.showOwn)
	group.Post("", p.requestOwnLink)
	group.Post("/sign-out", p.signOut)
	group.Get("/:token", p.showSignIn)
	group.Post("/:token", p.signIn)
}

// showOwn shows the bookings of the signed-in customer. Without a valid session, it shows the form for the address.
func (p *Pages) showOwn(c *fiber.Ctx) error {
	page, err := p.loadPage(c)
	if err != nil {
		return err
	}
	secret := readOwnSession(c)
	if secret == "" {
		return p.show(c, fiber.StatusOK, page, view.OwnForm(page, "", ""))
	}
	lists, err := p.listOwn(c, page, secret)
	if fault.Is(err, fault.NotFound) { // expired, ended, or of another business
		setOwnSession(c, page, "", -1)
		return p.show(c, fiber.StatusOK, page, view.OwnForm(page, "", ""))
	}
	if err != nil {
		return err
	}
	page.IsPrivate = true
	return p.show(c, fiber.StatusOK, page, view.OwnList(page, lists))
}

// listOwn returns the page of sales that the query selects, or the first pages of upcoming and past sales.
func (p *Pages) listOwn(c *fiber.Ctx, page *view.Page, secret string) ([]*usecase.OwnPage, error) {
	kinds, after := []bool{false, true}, (*booking.SalePosition)(nil)
	switch c.Query("list") {
	case "upcoming":
		kinds, after = []bool{false}, usecase.ParsePosition(c.Query("after"))
	case "past":
		kinds, after = []bool{true}, usecase.ParsePosition(c.Query("after"))
	}
	var lists []*usecase.OwnPage
	for _, isPast := range kinds {
		list, err := p.own.List(c.UserContext(), page.Business, secret, isPast, after)
		if err != nil {
			return nil, err
		}
		lists = append(lists, list)
	}
	return lists, nil
}

// requestOwnLink requests the mail with the one-time link for the address in the form. The page that follows is the
// same for every address, so that it does not show who is a customer.
func (p *Pages) requestOwnLink(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	page, err := p.loadPage(c)
	if err != nil {
		return err
	}
	typed := form.Get("email")
	address, err := p.own.CheckAddress(typed)
	if err != nil {
		key := "email_wrong"
		if strings.TrimSpace(typed) == "" {
			key = "fill_email"
		}
		return p.show(c, fiber.StatusUnprocessableEntity, page, view.OwnForm(page, clip(typed), page.Words.Say(key)))
	}
	mayMail, err := p.countLink(c.UserContext(), server.ClientIP(c), page.Business.Snapshot.ID, address,
		server.AnswerHeader(c))
	if err != nil {
		return err
	}
	if !mayMail {
		return p.show(c, fiber.StatusOK, page, view.OwnNote(page, "own_sent"))
	}
	canSend, err := p.own.RequestLink(c.UserContext(), page.Business, address, page.Words.Requested)
	if err != nil {
		return err
	}
	if !canSend {
		return p.show(c, fiber.StatusConflict, page, view.OwnNote(page, "own_no_mail"))
	}
	return p.show(c, fiber.StatusOK, page, view.OwnNote(page, "own_sent"))
}

// clip shortens what the visitor typed to the length that the field accepts.
func clip(typed string) string {
	if runes := []rune(typed); len(runes) > email.MaxLength {
		return string(runes[:email.MaxLength])
	}
	return typed
}

// showSignIn shows the button that uses the mailed link. Opening the page does not use the link, because programs that
// check mails open links, too. The page is the same for every token.
func (p *Pages) showSignIn(c *fiber.Ctx) error {
	page, err := p.loadPage(c)
	if err != nil {
		return err
	}
	if _, ok := link.HashToken(c.Params("token")); !ok {
		return p.show(c, fiber.StatusNotFound, page, view.OwnForm(page, "", page.Words.Say("own_expired")))
	}
	page.IsPrivate, page.LinkPath = true, c.Path()
	return p.show(c, fiber.StatusOK, page, view.OwnSignIn(page))
}

// signIn uses the mailed link and sets the cookie of the new session.
func (p *Pages) signIn(c *fiber.Ctx) error {
	if _, err := web.Form(c); err != nil {
		return err
	}
	page, err := p.loadPage(c)
	if err != nil {
		return err
	}
	session, err := p.own.SignIn(c.UserContext(), page.Business, c.Params("token"))
	if fault.Is(err, fault.NotFound) {
		return p.show(c, fiber.StatusNotFound, page, view.OwnForm(page, "", page.Words.Say("own_expired")))
	}
	if err != nil {
		return err
	}
	setOwnSession(c, page, session.Secret, int(booking.SessionLifetime.Seconds()))
	return c.Redirect(string(page.StepURL("mine")), fiber.StatusSeeOther)
}

// signOut ends the session and removes its cookie.
func (p *Pages) signOut(c *fiber.Ctx) error {
	if _, err := web.Form(c); err != nil {
		return err
	}
	page, err := p.loadPage(c)
	if err != nil {
		return err
	}
	if err := p.own.SignOut(c.UserContext(), page.Business, readOwnSession(c)); err != nil {
		return err
	}
	setOwnSession(c, page, "", -1)
	return c.Redirect(string(page.StepURL("")), fiber.StatusSeeOther)
}

// The names of the cookie of a customer's session. Because of the prefix __Secure-, browsers accept the cookie only by
// HTTPS. The prefix __Host- would require the path /, but the cookie is for the pages of one business.
const (
	ownCookie         = "__Secure-slotmesh-customer"
	loopbackOwnCookie = "slotmesh-customer" // for HTTP on a loopback address
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

func readOwnSession(c *fiber.Ctx) string {
	if isOnLoopback(c) {
		return c.Cookies(loopbackOwnCookie)
	}
	return c.Cookies(ownCookie)
}

// setOwnSession sets the cookie with the secret of a session. Scripts cannot read the cookie, and the browser sends it
// only to the pages of the business, and not with forms of other sites. If `maxAge` is negative, the cookie is removed.
func setOwnSession(c *fiber.Ctx, page *view.Page, secret string, maxAge int) {
	cookie := &fiber.Cookie{
		Name: ownCookie, Value: secret, Path: "/b/" + page.Business.Snapshot.Slug + "/mine", MaxAge: maxAge,
		Secure: true, HTTPOnly: true, SameSite: fiber.CookieSameSiteLaxMode,
	}
	if isOnLoopback(c) {
		cookie.Name, cookie.Secure = loopbackOwnCookie, false
	}
	if maxAge < 0 {
		cookie.Expires = fasthttp.CookieExpireDelete
	}
	c.Cookie(cookie)
}
