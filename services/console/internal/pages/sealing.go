package pages

import (
	"net/url"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/sealed"
)

type boxKey struct{}

// unseal is middleware for all pages of a business. It decrypts customers' data in the query of the URL (package
// sealed), so that the handlers read plain text.
func (p *Pages) unseal(c *fiber.Ctx) error {
	slug, _, _ := strings.Cut(strings.TrimPrefix(c.Path(), "/business/"), "/")
	box := p.box.ForBusiness(strings.Clone(slug))
	c.Locals(boxKey{}, box)
	values, err := url.ParseQuery(string(c.Request().URI().QueryString()))
	if err == nil && box.OpenQuery(values) {
		c.Request().URI().SetQueryString(values.Encode())
	}
	return c.Next()
}

// sealQuery encrypts customers' data in the query of the URL to which a handler redirects.
func sealQuery(c *fiber.Ctx, values url.Values) {
	if box, ok := c.Locals(boxKey{}).(*sealed.Box); ok {
		box.SealQuery(values)
	}
}

// redirectToSearch handles the search form, which browsers send by POST. It redirects to the page with the results. If
// the search text contains an e-mail address, redirectToSearch encrypts the search text in the URL of this page.
func (p *Pages) redirectToSearch(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	values := url.Values{}
	for name, inputs := range form {
		values[name] = slices.Clone(inputs)
	}
	sealQuery(c, values)
	to := c.Path()
	if len(values) > 0 {
		to += "?" + values.Encode()
	}
	return c.Redirect(to, fiber.StatusSeeOther)
}
