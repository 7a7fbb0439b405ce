package pages

import (
	"cmp"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/libs/web"
	"github.com/slotmesh/slotmesh/services/console/internal/access"
	"github.com/slotmesh/slotmesh/services/console/internal/gate"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
	"github.com/slotmesh/slotmesh/services/console/internal/usecase"
)

// timeOff shows the days off of the signed-in member. A reader who edits the offer chooses a member by staff_id; without
// it, the page asks for one if there are several.
func (p *Pages) timeOff(c *fiber.Ctx) error {
	page, err := p.page(c, view.PlaceCalendar)
	if err != nil {
		return err
	}
	_, unnamed := uuid.Parse(c.Query("staff_id"))
	if unnamed != nil && len(page.Business.Staff) > 1 && gate.Principal(c).Reach(page.Business.ID, access.EditOffer) != access.Own {
		return p.show(c, fiber.StatusOK, page, view.ChooseTimeOff(page))
	}
	off, err := p.offOf(c, page, c.Query("staff_id"))
	if err != nil {
		return err
	}
	if off == nil {
		return p.show(c, fiber.StatusOK, page, view.NoTimeOff(page))
	}
	today := page.Business.Today(page.Now).String()
	return p.show(c, fiber.StatusOK, page, view.TimeOff(page, view.Off{TimeOff: off, From: today, To: today}))
}

// offOf reads the days off that a page is about. It returns nil if asked names no member and there are several or none.
func (p *Pages) offOf(c *fiber.Ctx, page *view.Page, asked string) (*usecase.TimeOff, error) {
	by := gate.Principal(c)
	self, _ := by.In(page.Business.ID)
	id := self.StaffID
	if by.Reach(page.Business.ID, access.EditOffer) != access.Own {
		var err error
		if id, err = uuid.Parse(asked); err != nil {
			if len(page.Business.Staff) != 1 {
				return nil, nil
			}
			id = page.Business.Staff[0].ID
		}
	}
	off, err := p.owner.TimeOff(by, page.Business, id)
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	return off, err
}

// setTimeOff takes days off, or works on them again. Where bookings lie on them, it shows them first.
func (p *Pages) setTimeOff(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	page, err := p.page(c, view.PlaceCalendar)
	if err != nil {
		return err
	}
	off, err := p.offOf(c, page, form.Get("staff_id"))
	if err != nil {
		return err
	}
	if off == nil {
		return p.show(c, fiber.StatusConflict, page, view.NoTimeOff(page))
	}
	by, slug, id := gate.Principal(c), page.Business.Slug, off.Member.ID
	typed, what := view.Off{TimeOff: off, From: form.Get("from"), To: form.Get("to")}, cmp.Or(form.Get("what"), "off")
	from, wrong := timespan.ParseDate(typed.From)
	to, wrong2 := timespan.ParseDate(typed.To)
	if cmp.Or(wrong, wrong2) != nil || to < from || from < page.Business.Today(page.Now) || to-from >= usecase.MostTimeOff {
		page.Wrong, typed.Wrong = page.Words.Say("check"), page.Words.Say("days_wrong")
		return p.show(c, fiber.StatusUnprocessableEntity, page, view.TimeOff(page, typed))
	}
	if what == "off" && form.Get("agreed") != "yes" {
		if typed.InTheWay, err = p.owner.InTheWay(c.UserContext(), by, slug, id, from, to); err != nil {
			return err
		}
		if len(typed.InTheWay) > 0 {
			return p.show(c, fiber.StatusConflict, page, view.TimeOff(page, typed))
		}
	}
	err = p.owner.SetTimeOff(c.UserContext(), by, page.Business, id, from, to, what == "off")
	back := "time-off?staff_id=" + id.String()
	if sentence := sentences[fault.KindOf(err)]; err != nil && (sentence != "" || fault.Is(err, fault.PreconditionFailed)) {
		return backTo(c, slug, back, "wrong", cmp.Or(sentence, "changed"))
	}
	if err != nil {
		return err
	}
	return backTo(c, slug, back, "done", map[bool]string{true: "off", false: "work"}[what == "off"])
}
