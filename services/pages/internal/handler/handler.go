// Package handler is the pages over HTTP: each handler parses, calls one use case and renders one view. What goes wrong is shown as a
// page, too.
package handler

import (
	"errors"
	"net/url"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/locale"
	"github.com/slotmesh/slotmesh/libs/message"
	"github.com/slotmesh/slotmesh/libs/message/words"
	"github.com/slotmesh/slotmesh/libs/server"
	"github.com/slotmesh/slotmesh/libs/web"
	"github.com/slotmesh/slotmesh/services/pages/internal/assets"
	"github.com/slotmesh/slotmesh/services/pages/internal/texts"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
	"github.com/slotmesh/slotmesh/services/pages/internal/view"
)

// Pages are all pages.
type Pages struct {
	shop   *usecase.Shop
	links  *usecase.Links
	base   string // public, without a slash at its end
	texts  *message.Catalog
	assets *web.Assets
	menus  *view.Menus
	forms  forms
	pay    []string // origins of the pages on which customers pay
}

// Config are the settings of the pages.
type Config struct {
	Base        string        // public address, without a slash at its end
	Secrets     []string      // the service's own, of which the tokens of forms are made
	FormAtLeast time.Duration // how long filling in a form takes
	PayOrigins  []string      // of the pages on which customers pay
}

// New returns the pages.
func New(shop *usecase.Shop, links *usecase.Links, cfg Config) (*Pages, error) {
	sentences, textErr := texts.Load()
	files, fileErr := web.NewAssets(assets.Files, "/assets")
	if err := errors.Join(textErr, fileErr); err != nil {
		return nil, err
	}
	return &Pages{
		shop: shop, links: links, base: cfg.Base, texts: sentences, assets: files, menus: view.NewMenus(), forms: newForms(cfg.Secrets, cfg.FormAtLeast, shop.Clock), pay: cfg.PayOrigins,
	}, nil
}

// Mount adds the routes.
func (p *Pages) Mount(router fiber.Router) {
	p.assets.Mount(router)
	p.mountCanonical(router)
	router.Get("/b/:slug", p.what)
	p.mountEvents(router)
	p.mountRentals(router)
	p.mountManage(router)
	router.Get("/b/:slug/who", p.who)
	router.Get("/b/:slug/when", p.when)
	router.Get("/b/:slug/details", p.details)
	router.Post("/b/:slug/details", p.book)
	router.Get("/embed.js", p.assets.Elsewhere("embed.js"))
}

// page is what every page of a business begins with: the business, and the words of the reader's language. Faults: business_not_found;
// service_unavailable.
func (p *Pages) page(c *fiber.Ctx) (*view.Page, error) {
	slug, err := server.Slug(c)
	if err != nil {
		return nil, err
	}
	business, err := p.shop.Business(c.UserContext(), slug)
	if err != nil {
		return nil, err
	}
	page := p.plain(c, business.Offer.DefaultLanguage)
	of(page, business)
	return page, nil
}

// open is page for what can only be done while the business takes bookings. Where it takes none it has answered already, and the page is nil.
func (p *Pages) open(c *fiber.Ctx) (*view.Page, error) {
	page, err := p.page(c)
	if err == nil && !page.Business.Open() {
		return nil, p.show(c, fiber.StatusOK, page, view.Closed(page))
	}
	return page, err
}

// of makes a page one of a business's, in its colour.
func of(page *view.Page, business *usecase.Business) {
	page.Business = business
	page.Words.Within(locale.RegionOf(business.Offer.Timezone))
	if business.Offer.Page.Accent != "" {
		page.Nonce = web.Nonce()
	}
}

// chosen is a page of a step after the first: what was chosen is held against the offer. Where that cannot be booked any more it has
// answered already, and page is nil.
func (p *Pages) chosen(c *fiber.Ctx) (*view.Page, *usecase.Appointment, error) {
	page, err := p.open(c)
	if err != nil || page == nil {
		return nil, nil, err
	}
	query, err := url.ParseQuery(string(c.Request().URI().QueryString()))
	if err != nil {
		return nil, nil, fault.New(fault.InvalidParameter, "The address is not well-formed.")
	}
	selection, err := usecase.ReadSelection(query)
	if err != nil {
		return nil, nil, err
	}
	appointment, err := page.Business.Appointment(selection)
	if fault.Is(err, fault.ServiceNotFound) || fault.Is(err, fault.InvalidParameter) {
		return nil, nil, p.offered(c, page, page.Words.Say("not_offered"))
	}
	return page, appointment, err
}

// plain is a page of no business.
func (p *Pages) plain(c *fiber.Ctx, own string) *view.Page {
	chosen := c.Query("lang")
	return &view.Page{
		Path: c.Path(), Query: query(c),
		Words:  words.In(p.texts, web.Languages(chosen, c.Get(fiber.HeaderAcceptLanguage), own)...),
		Chosen: chosen, Base: p.base, Style: p.assets.Path("pages.css"), Script: p.assets.Path("pages.js"),
	}
}

// show renders a page with its headers; its texts follow the reader's language.
func (p *Pages) show(c *fiber.Ctx, status int, page *view.Page, content view.Content) error {
	policy := web.Policy{Nonce: page.Nonce, Ancestors: page.Embedders()}
	if page.Business != nil && len(page.Business.Offer.Payments.Providers) > 0 {
		policy.FormTargets = p.pay
	}
	web.Protect(c, policy)
	c.Set(fiber.HeaderCacheControl, "private, no-cache")
	c.Vary(fiber.HeaderAcceptLanguage)
	if err := web.Render(c, status, view.Whole(page, content)); err != nil {
		return err
	}
	return page.Words.Fault()
}

// ShowFault is a [server.ShowFault]: a page that says what the reader can do. It tells nothing of the inside.
func (p *Pages) ShowFault(c *fiber.Ctx, f *fault.Error) error {
	page := p.plain(c, "")
	return p.show(c, f.Kind.Status, page, view.Fault(page, f.Kind.Status))
}
