package pages

import (
	"crypto/rand"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
)

// Addresses has the public base URLs that the pages show to owners. No URL ends with a slash.
type Addresses struct {
	Pages  string // base URL of the booking pages, such as https://book.example.com
	Public string // base URL of the API and of MCP
}

// integrationNotices has the valid values of the parameter `done` of the integration pages. For each value there is a
// message text with the result of an action.
var integrationNotices = []string{
	"key_revoked", "feed_removed", "webhook_tested", "webhook_paused", "webhook_resumed", "webhook_changed",
	"webhook_removed", "delivery_again",
}

// mountIntegrations adds the routes of the pages that connect a business with other programs (Settings › Integrations).
func (p *Pages) mountIntegrations(business *authorize.Router) {
	business.Get("/settings", access.SignedIn, p.showSettings)
	business.Get("/settings/keys", access.Integrate, p.listKeys)
	business.Post("/settings/keys", access.Integrate, p.createKey)
	business.Post("/settings/keys/:id/revoke", access.Integrate, p.newEndHandler("/settings/keys", "key_revoked",
		p.revokeKey))
	business.Get("/settings/feeds", access.Integrate, p.listFeeds)
	business.Post("/settings/feeds", access.Integrate, p.createFeed)
	business.Post("/settings/feeds/:id/remove", access.Integrate,
		p.newEndHandler("/settings/feeds", "feed_removed", p.removeFeed))
	business.Get("/settings/embed", access.Integrate, p.showEmbed)
	business.Get("/settings/agents", access.Integrate, p.showAgents)
	p.mountWebhooks(business)
}

func (p *Pages) showSettings(c *fiber.Ctx) error {
	page, err := p.newPage(c, view.PlaceSettings)
	if err != nil {
		return err
	}
	return p.render(c, fiber.StatusOK, page, view.Settings(page))
}

// redirectToPage redirects to a page of the business. This page shows the result of an action, because the URL gets a
// query parameter. The argument `parameter` is the name of this query parameter, "done" or "wrong". The argument
// `value` is its value, the id of a message text.
func redirectToPage(c *fiber.Ctx, slug, path, parameter, value string) error {
	return c.Redirect(view.Path(slug)+path+"?"+url.Values{parameter: {value}}.Encode(), fiber.StatusSeeOther)
}

// newEndHandler returns the handler of a form that has only a button. The handler calls `do` for the object whose id is
// in the path. Then it redirects to the page with the path `to`, which shows the message text with the id `done`, or
// the reason for the refusal.
func (p *Pages) newEndHandler(to, done string, do func(*fiber.Ctx, string, uuid.UUID) error) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if _, err := web.Form(c); err != nil {
			return err
		}
		page, id, err := p.newPageWithID(c, view.PlaceSettings)
		if err != nil {
			return err
		}
		err = do(c, page.Business.Slug, id)
		if sentence := faultTexts[fault.KindOf(err)]; err != nil && sentence != "" {
			return redirectToPage(c, page.Business.Slug, to, "wrong", sentence)
		}
		if err != nil {
			return err
		}
		return redirectToPage(c, page.Business.Slug, to, "done", done)
	}
}

// listKeys lists API keys and shows the form for a new one.
func (p *Pages) listKeys(c *fiber.Ctx) error {
	page, err := p.newPage(c, view.PlaceSettings)
	if err != nil {
		return err
	}
	return p.showKeys(c, fiber.StatusOK, page,
		view.Keys{Form: view.KeyForm{Scope: booking.ScopeAll, Days: "365", Key: rand.Text()}})
}

func (p *Pages) showKeys(c *fiber.Ctx, status int, page *view.Page, k view.Keys) error {
	cursor := c.Query("cursor")
	list, err := p.rooms.Bookings.Keys(c.UserContext(), page.Business.ID,
		request.Page{Limit: bookingsPageSize, Cursor: cursor})
	if err != nil {
		return err
	}
	k.List, k.Next, k.IsPaged = list.Keys, list.NextCursor, cursor != ""
	return p.render(c, status, page, view.APIKeys(page, k))
}

// createKey creates an API key. The form has an Idempotency-Key, so that sending the form twice creates only one key.
// Only the response to this request shows the secret text of the key.
func (p *Pages) createKey(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	page, err := p.newPage(c, view.PlaceSettings)
	if err != nil {
		return err
	}
	keyForm := view.KeyForm{Name: strings.TrimSpace(form.Get("name")), Scope: form.Get("scope"), Days: form.Get("days"),
		Key: form.Get("key")}
	newKey := booking.NewKey{Name: keyForm.Name, Scope: keyForm.Scope}
	if keyForm.Days != "" {
		days, err := strconv.Atoi(keyForm.Days)
		if err != nil || !slices.Contains(view.KeyDays, days) {
			return fault.New(fault.InvalidParameter, "days: choose one of those that the form offers.")
		}
		expires := p.rooms.Clock.Now().Add(time.Duration(days) * 24 * time.Hour)
		newKey.ExpiresAt = &expires
	}
	ctx := idempotency.With(c.UserContext(), idempotency.Request{Key: keyForm.Key})
	key, err := p.rooms.Integrations.CreateKey(ctx, authorize.Principal(c), page.Business.Slug, newKey)
	if err == nil {
		return p.showKeys(c, fiber.StatusCreated, page,
			view.Keys{Created: key, Form: view.KeyForm{Scope: booking.ScopeAll, Days: "365", Key: rand.Text()}})
	}
	status, ok := prepareRefusedForm(page, err, &keyForm.FieldErrors)
	if !ok {
		return err
	}
	if fault.Is(err, fault.Conflict) {
		page.ErrorText = page.Words.Say(chooseConflictText(err, "key_made_already"))
	}
	if !fault.Is(err, fault.OutcomeUnknown) && !fault.Is(err, fault.IdempotencyInProgress) {
		keyForm.Key = rand.Text()
	}
	return p.showKeys(c, status, page, view.Keys{Form: keyForm})
}

// chooseConflictText returns the id of the message text for a fault with code conflict. The result is `existingText` if
// an earlier request with the same Idempotency-Key has already created the object. Otherwise the business has too many
// objects, and the result is the id of the message text about this limit.
func chooseConflictText(err error, existingText string) string {
	if strings.HasPrefix(fault.Of(err).Sentence, "Idempotency-Key") {
		return existingText
	}
	return "too_many_made"
}

func (p *Pages) revokeKey(c *fiber.Ctx, slug string, id uuid.UUID) error {
	return p.rooms.Integrations.RevokeKey(c.UserContext(), authorize.Principal(c), slug, id)
}

// listFeeds lists calendar feeds and shows the form for a new one.
func (p *Pages) listFeeds(c *fiber.Ctx) error {
	page, err := p.newPage(c, view.PlaceSettings)
	if err != nil {
		return err
	}
	return p.showFeeds(c, fiber.StatusOK, page, view.Feeds{Shows: booking.ShowsTimes, Key: rand.Text()})
}

func (p *Pages) showFeeds(c *fiber.Ctx, status int, page *view.Page, f view.Feeds) error {
	cursor := c.Query("cursor")
	list, err := p.rooms.Bookings.Calendars(c.UserContext(), page.Business.ID,
		request.Page{Limit: bookingsPageSize, Cursor: cursor})
	if err != nil {
		return err
	}
	f.List, f.Next, f.IsPaged = list.Calendars, list.NextCursor, cursor != ""
	return p.render(c, status, page, view.CalendarFeeds(page, f))
}

// createFeed creates a calendar feed. Only the response to this request shows the secret URL of the feed.
func (p *Pages) createFeed(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	page, err := p.newPage(c, view.PlaceSettings)
	if err != nil {
		return err
	}
	feeds := view.Feeds{Staff: form.Get("staff"), Shows: form.Get("shows"), Key: form.Get("key")}
	newCalendar := booking.NewCalendar{Slug: page.Business.Slug, Shows: feeds.Shows}
	if feeds.Staff != "" {
		id, err := request.ID("staff_id", feeds.Staff)
		if err != nil {
			return err
		}
		newCalendar.StaffID = &id
	}
	ctx := idempotency.With(c.UserContext(), idempotency.Request{Key: feeds.Key})
	calendar, err := p.rooms.Integrations.CreateCalendar(ctx, authorize.Principal(c), newCalendar)
	if err == nil {
		return p.showFeeds(c, fiber.StatusCreated, page, view.Feeds{Created: calendar, Shows: booking.ShowsTimes,
			Key: rand.Text()})
	}
	status, ok := prepareRefusedForm(page, err, &feeds.FieldErrors)
	if !ok {
		return err
	}
	if fault.Is(err, fault.Conflict) {
		page.ErrorText = page.Words.Say(chooseConflictText(err, "changed"))
	}
	feeds.Key = rand.Text()
	return p.showFeeds(c, status, page, feeds)
}

func (p *Pages) removeFeed(c *fiber.Ctx, slug string, id uuid.UUID) error {
	return p.rooms.Integrations.RevokeCalendar(c.UserContext(), authorize.Principal(c), slug, id)
}

// showEmbed shows the HTML that embeds the booking page in another site. The query parameters of the request are the
// options of this HTML.
func (p *Pages) showEmbed(c *fiber.Ctx) error {
	page, err := p.newPage(c, view.PlaceSettings)
	if err != nil {
		return err
	}
	e := view.Embedding{Base: p.addresses.Pages, Mode: c.Query("mode"), Label: strings.TrimSpace(c.Query("label")),
		Color: c.Query("color")}
	if !slices.Contains(view.EmbedModes, e.Mode) {
		e.Mode = view.EmbedModes[0]
	}
	if e.Label == "" || len(e.Label) > view.MaxEmbedLabel {
		e.Label = page.Words.Say("embed_book_now")
	}
	if !view.IsColor(e.Color) {
		e.Color = page.Business.Page.Accent
	}
	page.Nonce = web.Nonce()
	return p.render(c, fiber.StatusOK, page, view.Embed(page, e))
}

// showAgents explains how AI agents connect to the business over MCP.
func (p *Pages) showAgents(c *fiber.Ctx) error {
	page, err := p.newPage(c, view.PlaceSettings)
	if err != nil {
		return err
	}
	return p.render(c, fiber.StatusOK, page, view.Agents(page, p.addresses.Public+"/mcp"))
}
