package pages

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
)

// mountPause adds the routes of the page that pauses online bookings.
func (p *Pages) mountPause(business *authorize.Router) {
	business.Get("/pause", access.ChangeOffer, p.askPause)
	business.Post("/pause", access.ChangeOffer, p.pause)
	business.Post("/pause/end", access.ChangeOffer, p.endPause)
}

// loadPausePage returns the page that pauses online bookings, with the present pause. If another system manages the
// offer, the page shows the name of that system.
func (p *Pages) loadPausePage(c *fiber.Ctx) (*view.Page, view.PauseForm, error) {
	page, err := p.newPage(c, view.PlaceToday)
	if err != nil {
		return nil, view.PauseForm{}, err
	}
	offer, err := p.rooms.Offer.ReadOffer(c.UserContext(), page.Business.Slug, 0)
	if err != nil {
		return nil, view.PauseForm{}, err
	}
	form := view.PauseForm{First: page.Business.Today(p.rooms.Clock.Now()) + 1,
		ManagedBy: string(offer.Manifest.ManagedBy)}
	if until := page.Business.Bookings.PausedUntil; page.Business.IsPaused(p.rooms.Clock.Now()) {
		form.Until = until.String()
	}
	return page, form, nil
}

func (p *Pages) askPause(c *fiber.Ctx) error {
	page, form, err := p.loadPausePage(c)
	if err != nil {
		return err
	}
	return p.render(c, fiber.StatusOK, page, view.Pause(page, form))
}

func (p *Pages) pause(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	page, pauseForm, err := p.loadPausePage(c)
	if err != nil {
		return err
	}
	pauseForm.Until = form.Get("until")
	until, err := timespan.ParseDate(pauseForm.Until)
	if err != nil || until < pauseForm.First {
		pauseForm.ErrorText = page.Words.Say("pause_date_wrong")
		return p.render(c, fiber.StatusUnprocessableEntity, page, view.Pause(page, pauseForm))
	}
	return p.setPause(c, page, pauseForm, &until, "paused")
}

func (p *Pages) endPause(c *fiber.Ctx) error {
	page, form, err := p.loadPausePage(c)
	if err != nil {
		return err
	}
	return p.setPause(c, page, form, nil, "resumed")
}

// setPause pauses online bookings until the date `until`, or ends the pause if `until` is nil. Then it redirects to the
// page Today, which shows the message text with the id `done`.
func (p *Pages) setPause(c *fiber.Ctx, page *view.Page, form view.PauseForm, until *timespan.Date, done string) error {
	err := p.rooms.Offer.Pause(c.UserContext(), authorize.Principal(c), page.Business, until)
	if sentence := faultTexts[fault.KindOf(err)]; err != nil && sentence != "" {
		page.ErrorText = page.Words.Say(sentence)
		return p.render(c, fault.KindOf(err).Status, page, view.Pause(page, form))
	}
	if err != nil {
		return err
	}
	return redirectBack(c, page.Business.Slug, "today", "done", done)
}
