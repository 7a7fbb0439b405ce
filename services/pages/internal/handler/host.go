package handler

import (
	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/services/pages/internal/view"
)

// docsPath is the path of the page for developers, which the catalog service serves at the same host.
const docsPath = "/api/public/docs"

// showHost shows the page of the host. The page links to the demo business only if this business exists and takes
// bookings, and to the owners' pages only if their URL is known.
func (p *Pages) showHost(c *fiber.Ctx) error {
	page := p.newPage(c, "")
	page.IsIndexable = true
	links := view.Host{SignIn: templ.SafeURL(p.ownerURL), DocsPath: docsPath}
	if p.demoSlug != "" {
		if demo, err := p.shop.Business(c.UserContext(), p.demoSlug); err == nil && demo.IsOpen() {
			links.Demo = templ.SafeURL("/b/" + p.demoSlug)
		}
	}
	return p.show(c, fiber.StatusOK, page, view.HostPage(page, links))
}
