package web

import (
	"crypto/rand"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// Policy holds what a page may do in the browser in addition to loading from its own host.
type Policy struct {
	// Ancestors are the origins that may embed the page in a frame; empty: none.
	Ancestors []string
	// Nonce permits the page's inline style, which sets the business's colour; "": no inline style.
	Nonce string
	// FormTargets are the origins to which a form's response may redirect, such as a payment provider's.
	FormTargets []string
}

// Nonce returns a new value for [Policy.Nonce]. Each page needs its own.
func Nonce() string { return rand.Text() }

// Protect sets the security headers of a page. Scripts, styles, fonts and
// connections are permitted only from the page's own host, and images only over
// https. Only p.Ancestors may show the page in a frame. Other sites get no referrer.
func Protect(c *fiber.Ctx, p Policy) {
	style := "style-src 'self'"
	if p.Nonce != "" {
		style += " 'nonce-" + p.Nonce + "'"
	}
	ancestors := "frame-ancestors 'none'"
	if len(p.Ancestors) > 0 {
		ancestors = "frame-ancestors 'self' " + strings.Join(p.Ancestors, " ")
	}
	forms := strings.Join(append([]string{"form-action 'self'"}, p.FormTargets...), " ")
	c.Set(fiber.HeaderContentSecurityPolicy, strings.Join([]string{
		"default-src 'self'", style, "img-src 'self' https: data:", "object-src 'none'", "base-uri 'none'", forms,
		ancestors,
	}, "; "))
	c.Set(fiber.HeaderReferrerPolicy, "same-origin")
	c.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=()")
	c.Set("Cross-Origin-Opener-Policy", "same-origin-allow-popups")
}

// Form reads a form that a page of this host has sent. It refuses a request
// that another site caused, by Sec-Fetch-Site, or by Origin in older browsers.
// Faults: source_forbidden; unsupported_media_type; those of [server.Body].
//
// It accepts a request without both headers, because such a
// request is not from a browser and carries no user's cookies.
func Form(c *fiber.Ctx) (url.Values, error) {
	if err := SameOrigin(c); err != nil {
		return nil, err
	}
	if kind, _, _ := strings.Cut(c.Get(fiber.HeaderContentType), ";"); !strings.EqualFold(strings.TrimSpace(kind),
		fiber.MIMEApplicationForm) {
		return nil, fault.New(fault.UnsupportedMediaType, "Content-Type: send the form as "+
			"application/x-www-form-urlencoded.")
	}
	body, err := server.Body(c)
	if err != nil {
		return nil, err
	}
	values, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, fault.New(fault.InvalidParameter, "The form is not well-formed.")
	}
	return values, nil
}

// SameOrigin refuses a request that another site triggered in
// a browser, by the rules of [Form]. Fault: source_forbidden.
func SameOrigin(c *fiber.Ctx) error {
	return checkSameSite(c.Get("Sec-Fetch-Site"), c.Get(fiber.HeaderOrigin), c.Hostname())
}

func checkSameSite(site, origin, host string) error {
	if site == "same-origin" || site == "none" {
		return nil
	}
	from, err := url.Parse(origin)
	if site == "" && (origin == "" || err == nil && strings.EqualFold(from.Host, host)) {
		return nil
	}
	return fault.New(fault.SourceForbidden,
		"This form was not sent from this site; open the page itself and send it again.")
}
