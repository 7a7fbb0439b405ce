package web

import (
	"crypto/rand"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// Policy holds the permissions that a browser grants to a page. The page may always load files from its own host.
type Policy struct {
	// Ancestors are the origins that may show the page in a frame. If Ancestors is empty, no page may show it.
	Ancestors []string
	// Nonce permits the inline style of the page, which sets the colours
	// of the business. If it is "", inline styles are forbidden.
	Nonce string
	// FormTargets are additional origins to which the answer to a submitted form may redirect, such as the origin of a
	// payment provider.
	FormTargets []string
}

// Nonce returns a random value for [Policy.Nonce]. Each answer needs a new value.
func Nonce() string { return rand.Text() }

// Protect sets the security headers of a page. The page may load scripts, styles and fonts, and
// open connections, only from its own host. Images may also come from other hosts over https.
// Only p.Ancestors may show the page in a frame. The browser sends no referrer to other sites.
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

// Form reads a form that a page of the same host has sent. It refuses a request that another site triggered in a
// browser. Form detects this by the header Sec-Fetch-Site, or by the header Origin in older browsers. Faults:
// source_forbidden; unsupported_media_type; invalid_parameter; the faults of [server.Body].
//
// Form accepts a request that has neither header. Such a request does not come from a browser, so it carries no cookies
// of a user.
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
