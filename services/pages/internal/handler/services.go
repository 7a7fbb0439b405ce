package handler

import (
	"strconv"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
	"github.com/slotmesh/slotmesh/services/pages/internal/view"
)

// showServices shows the services that can be booked. The page with the services is the first page of the business, and
// search engines may index this page.
func (p *Pages) showServices(c *fiber.Ctx) error {
	page, err := p.loadPage(c)
	if err != nil {
		return err
	}
	page.IsIndexable = true
	if !page.Business.IsOpen() {
		return p.show(c, fiber.StatusOK, page, view.ClosedPage(page))
	}
	if first := page.FirstTab(); first != "" {
		return c.Redirect(string(page.StepURL(first)), fiber.StatusSeeOther)
	}
	return p.listServices(c, page, "")
}

// listServices shows the services that can be booked. The argument `notice` is a sentence for the visitor at the top of
// the page; if `notice` is "", the page shows no notice.
func (p *Pages) listServices(c *fiber.Ctx, page *view.Page, notice string) error {
	groups, err := p.shop.Menu(c.UserContext(), page.Business, page.Words.Requested)
	if err != nil {
		return err
	}
	page.Notice, page.HasCart = notice, usecase.HasCart(groups)
	if page.HasCart {
		page.Cart = usecase.NewCart(page.Query, groups)
	}
	return p.show(c, fiber.StatusOK, page, p.menus.Services(page, groups))
}

// sendFreeTimes sends the texts about free times for the list of services, as JSON: the text of each element, by the
// id of the element. A script shows them, so that the first page does not wait for the availability service.
func (p *Pages) sendFreeTimes(c *fiber.Ctx) error {
	page, err := p.loadPage(c)
	if err != nil {
		return err
	}
	shown, age := map[string]string{}, usecase.FreeTimesAge
	if page.Business.IsOpen() {
		free, err := p.shop.FreeTimes(c.UserContext(), page.Business)
		if err != nil {
			return err
		}
		shown, age = view.FreeTexts(page, free), free.RemainingAge(page.Business.Now)
	}
	c.Set(fiber.HeaderCacheControl, "private, max-age="+strconv.Itoa(int(age.Seconds())))
	c.Vary(fiber.HeaderAcceptLanguage)
	return c.JSON(shown)
}
