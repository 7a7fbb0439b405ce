package pages

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
	"github.com/slotmesh/slotmesh/services/console/internal/sales"
)

// mountSearch adds the routes of the page with the results of the search field.
func (p *Pages) mountSearch(business *authorize.Router) {
	business.Get("/search", access.SeeBookings, p.showSearch)
	business.Post("/search", access.SeeBookings, p.redirectToSearch)
}

// showSearch finds bookings, customers and pages. If the search text is empty, it shows all pages.
func (p *Pages) showSearch(c *fiber.Ctx) error {
	page, err := p.newPage(c, view.PlaceSearch)
	if err != nil {
		return err
	}
	text, err := server.Query(c).Text("query")
	if err != nil {
		return err
	}
	found := &sales.SearchResults{}
	if page.Query = strings.TrimSpace(text); page.Query != "" {
		found, err = p.rooms.Sales.Search(c.UserContext(), authorize.Principal(c), page.Business, page.Query)
	}
	if err != nil {
		return err
	}
	return p.render(c, fiber.StatusOK, page, view.Search(page, found))
}
