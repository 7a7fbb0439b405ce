// Package handler serves the pages over HTTP. Each handler parses the request, calls one use case and renders one view.
// If a request fails, the response is also a page.
package handler

import (
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/locale"
	"github.com/slotmesh/slotmesh/libs/values/message"
	"github.com/slotmesh/slotmesh/libs/values/message/words"
	"github.com/slotmesh/slotmesh/services/pages/internal/assets"
	"github.com/slotmesh/slotmesh/services/pages/internal/texts"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
	"github.com/slotmesh/slotmesh/services/pages/internal/view"
)

// Pages contains the handlers of all pages.
type Pages struct {
	shop       *usecase.Shop
	links      *usecase.Links
	own        *usecase.OwnSales
	decisions  Decisions
	countLink  LinkLimit
	base       string // public base URL, without a trailing slash
	texts      *message.Catalog
	assets     *web.Assets
	menus      *view.Menus
	tokens     formTokens
	payOrigins []string // origins of the payment pages
	ownerURL   string   // base URL of the owners' pages; "" if unknown
	demoSlug   string   // slug of the demo business; "" if there is none
}

// Config holds the settings of the pages.
type Config struct {
	Base        string        // public base URL, without a trailing slash
	Secrets     []string      // secrets of the service, from which the keys of form tokens are derived
	MinFillTime time.Duration // the minimum time that a person needs to fill in a form
	PayOrigins  []string      // origins of the payment pages
	OwnerURL    string        // base URL of the owners' pages; "" if unknown
	DemoSlug    string        // slug of a business that serves as an example; "" if there is none
	Own         *usecase.OwnSales
	Decisions   Decisions
	CountLink   LinkLimit // limit of the mailed links to customers' own bookings
}

// New returns the handlers of the pages. It returns an error if the texts or the assets of the program are invalid.
func New(shop *usecase.Shop, links *usecase.Links, cfg Config) (*Pages, error) {
	sentences, textErr := texts.Load()
	files, fileErr := web.NewAssets(assets.Files, "/assets")
	if err := errors.Join(textErr, fileErr); err != nil {
		return nil, err
	}
	return &Pages{
		shop: shop, links: links, own: cfg.Own, decisions: cfg.Decisions, countLink: cfg.CountLink, base: cfg.Base, texts: sentences,
		assets: files, menus: view.NewMenus(),
		tokens: newFormTokens(cfg.Secrets, cfg.MinFillTime, shop.Clock), payOrigins: cfg.PayOrigins,
		ownerURL: cfg.OwnerURL, demoSlug: cfg.DemoSlug,
	}, nil
}

// Mount adds the routes of all pages to `router`.
func (p *Pages) Mount(router fiber.Router) {
	p.assets.Mount(router)
	p.mountCanonical(router)
	router.Get("/", p.showHost)
	router.Get("/b/:slug", p.showServices)
	router.Get("/b/:slug/free", p.sendFreeTimes)
	router.Get("/b/:slug/legal/:part", p.showLegal)
	p.mountEvents(router)
	p.mountRentals(router)
	p.mountLinks(router)
	p.mountOwn(router)
	p.mountDecisions(router)
	router.Get("/b/:slug/when", p.showTimes)
	router.Get("/b/:slug/details", p.showDetails)
	router.Post("/b/:slug/details", p.bookAppointment)
	router.Get("/embed.js", p.assets.ServeCrossOrigin("embed.js"))
}

// loadPage returns the data that all pages of a business have in common: the business, and
// the texts in the reader's language. Faults: business_not_found; service_unavailable.
func (p *Pages) loadPage(c *fiber.Ctx) (*view.Page, error) {
	slug, err := server.Slug(c)
	if err != nil {
		return nil, err
	}
	business, err := p.shop.Business(c.UserContext(), slug)
	if err != nil {
		return nil, err
	}
	page := p.newPage(c, business.Snapshot.DefaultLanguage)
	setBusiness(page, business)
	return page, nil
}

// loadOpenPage returns the same as [Pages.loadPage] if the business takes bookings. Otherwise it sends a page that
// explains why the business takes no bookings, and returns nil.
func (p *Pages) loadOpenPage(c *fiber.Ctx) (*view.Page, error) {
	page, err := p.loadPage(c)
	if err == nil && !page.Business.IsOpen() {
		return nil, p.show(c, fiber.StatusOK, page, view.ClosedPage(page))
	}
	return page, err
}

// setBusiness sets the business of `page` and the fields that depend on the business: the regional form of the
// language, and the nonce for a style with the colours of the business.
func setBusiness(page *view.Page, business *usecase.Business) {
	page.Business = business
	page.Words.SetRegion(locale.RegionOf(business.Snapshot.Timezone))
	if page.HasColours() {
		page.Nonce = web.Nonce()
	}
}

// loadAppointment returns the page of a step after the choice of services, and the appointment that the query of the
// URL selects. If the appointment can no longer be booked, or the business takes no bookings, loadAppointment sends the
// response itself and returns a nil page.
func (p *Pages) loadAppointment(c *fiber.Ctx) (*view.Page, *usecase.Appointment, error) {
	page, err := p.loadOpenPage(c)
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
		return nil, nil, p.listServices(c, page, page.Words.Say("not_offered"))
	}
	return page, appointment, err
}

// newPage returns a page that belongs to no business. If the texts exist in none of the languages that the reader asks
// for, the page has the language `defaultLanguage`. This argument may be "".
func (p *Pages) newPage(c *fiber.Ctx, defaultLanguage string) *view.Page {
	language := c.Query("lang")
	return &view.Page{
		Path: c.Path(), Query: parseQuery(c),
		Words:    words.In(p.texts, web.Languages(language, c.Get(fiber.HeaderAcceptLanguage), defaultLanguage)...),
		Language: language, Base: p.base, Style: p.assets.Path("pages.css"), Script: p.assets.Path("pages.js"),
	}
}

// show renders a page in the reader's language and sends it, with the headers for security and caching.
func (p *Pages) show(c *fiber.Ctx, status int, page *view.Page, content view.Content) error {
	policy := web.Policy{Nonce: page.Nonce, Ancestors: page.Embedders()}
	if page.Business != nil && len(page.Business.Snapshot.Payments.Providers) > 0 {
		policy.FormTargets = p.payOrigins
	}
	web.Protect(c, policy)
	c.Set(fiber.HeaderCacheControl, "private, no-cache")
	c.Vary(fiber.HeaderAcceptLanguage)
	if err := web.Render(c, status, view.Document(page, content)); err != nil {
		return err
	}
	return page.Words.Fault()
}

// ShowFault implements [server.ShowFault]. It sends a page that explains the fault, and what the reader can do. If the
// path names a business, the page shows the name of the business. The page contains no internal details.
func (p *Pages) ShowFault(c *fiber.Ctx, f *fault.Error) error {
	page := p.newPage(c, "")
	if slug := businessOf(c.Path()); slug != "" {
		if business, err := p.shop.Business(c.UserContext(), slug); err == nil {
			page = p.newPage(c, business.Snapshot.DefaultLanguage)
			setBusiness(page, business)
		}
	}
	return p.show(c, f.Kind.Status, page, view.FaultPage(page, f.Kind.Status))
}

// businessOf returns the slug in the path of a business's page, or "" if the path contains no valid slug.
func businessOf(path string) string {
	below, ok := strings.CutPrefix(path, "/b/")
	slug, _, _ := strings.Cut(below, "/")
	if !ok || !request.IsSlug(slug) {
		return ""
	}
	return slug
}

// showLegal shows a legal text that the business wrote itself.
func (p *Pages) showLegal(c *fiber.Ctx) error {
	page, err := p.loadPage(c)
	if err != nil {
		return err
	}
	content, ok := view.LegalPage(page, c.Params("part"))
	if !ok {
		return fault.New(fault.NotFound, "The business has no such text.")
	}
	return p.show(c, fiber.StatusOK, page, content)
}
