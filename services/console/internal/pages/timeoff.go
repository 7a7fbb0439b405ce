package pages

import (
	"cmp"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/offer"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
)

// showTimeOff shows the time off of a member. The query parameters `date`, `from` and `to` preset the form. A member of the staff sees their own time off. A person who may edit the
// offer chooses a member by the query parameter `staff_id`. If this parameter is missing or invalid, and the business
// has several members, the page asks for the member.
func (p *Pages) showTimeOff(c *fiber.Ctx) error {
	page, err := p.newPage(c, view.PlaceCalendar)
	if err != nil {
		return err
	}
	_, unnamed := uuid.Parse(c.Query("staff_id"))
	if unnamed != nil && len(page.Business.Staff) > 1 && authorize.Principal(c).PermissionIn(page.Business.ID,
		access.EditOffer) != access.Own {
		return p.render(c, fiber.StatusOK, page, view.ChooseTimeOff(page))
	}
	off, err := p.loadTimeOff(c, page, c.Query("staff_id"))
	if err != nil {
		return err
	}
	if off == nil {
		return p.render(c, fiber.StatusOK, page, view.NoTimeOff(page))
	}
	day := cmp.Or(c.Query("date"), page.Business.Today(page.Now).String())
	return p.render(c, fiber.StatusOK, page, view.TimeOff(page, view.TimeOffForm{TimeOff: off, From: day, To: day,
		FromTime: c.Query("from"), ToTime: c.Query("to")}))
}

// loadTimeOff reads the time off of one member. If the principal may see only their own time off, loadTimeOff reads the
// principal's time off. Otherwise the argument `requested` is the id of the member. If `requested` is not a valid id
// and the business has only one member, loadTimeOff reads the time off of that member.
//
// loadTimeOff returns nil if the business has no member with the id `requested`. It also returns nil if `requested` is
// not a valid id and the business does not have exactly one member.
func (p *Pages) loadTimeOff(c *fiber.Ctx, page *view.Page, requested string) (*offer.TimeOff, error) {
	by := authorize.Principal(c)
	self, _ := by.MembershipIn(page.Business.ID)
	id := self.StaffID
	if by.PermissionIn(page.Business.ID, access.EditOffer) != access.Own {
		var err error
		if id, err = uuid.Parse(requested); err != nil {
			if len(page.Business.Staff) != 1 {
				return nil, nil
			}
			id = page.Business.Staff[0].ID
		}
	}
	off, err := p.rooms.Offer.ReadTimeOff(by, page.Business, id)
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	return off, err
}

// setTimeOff adds or removes time off of a member. If bookings overlap the added time off, the page shows these
// bookings and asks for confirmation.
func (p *Pages) setTimeOff(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	page, err := p.newPage(c, view.PlaceCalendar)
	if err != nil {
		return err
	}
	off, err := p.loadTimeOff(c, page, form.Get("staff_id"))
	if err != nil {
		return err
	}
	if off == nil {
		return p.render(c, fiber.StatusConflict, page, view.NoTimeOff(page))
	}
	by, id, adds := authorize.Principal(c), off.Member.ID, form.Get("what") != "work"
	timeOffForm := view.TimeOffForm{
		TimeOff: off, From: form.Get("from"), To: form.Get("to"), FromTime: form.Get("from_time"),
		ToTime: form.Get("to_time"),
	}
	away, problem := parseAbsence(timeOffForm)
	if problem == nil && adds {
		problem = away.Check(page.Business.Today(page.Now))
	}
	if problem != nil {
		page.ErrorText, timeOffForm.ErrorText = page.Words.Say("check"), page.Words.Say("time_off_wrong")
		return p.render(c, fiber.StatusUnprocessableEntity, page, view.TimeOff(page, timeOffForm))
	}
	if adds && form.Get("agreed") != "yes" {
		if timeOffForm.Overlapping, err = p.rooms.Offer.ListOverlappingBookings(c.UserContext(), by, page.Business, id,
			away); err != nil {
			return err
		}
		if len(timeOffForm.Overlapping) > 0 {
			return p.render(c, fiber.StatusConflict, page, view.TimeOff(page, timeOffForm))
		}
	}
	err = p.rooms.Offer.SetTimeOff(c.UserContext(), by, page.Business, id, away, adds)
	back := "time-off?staff_id=" + id.String()
	if sentence := faultTexts[fault.KindOf(err)]; err != nil &&
		(sentence != "" || fault.Is(err, fault.PreconditionFailed)) {
		return redirectBack(c, page.Business.Slug, back, "wrong", cmp.Or(sentence, "changed"))
	}
	if err != nil {
		return err
	}
	if adds && form.Get("agreed") == "yes" && page.May(access.Serve) {
		back = strings.TrimPrefix(view.AffectedURL(away.From.Date.String(), away.To.Date.String(), id.String()), "/")
	}
	return redirectBack(c, page.Business.Slug, back, "done", map[bool]string{true: "off", false: "work"}[adds])
}

// parseAbsence parses the dates and times of an absence that a person has typed. Without times, the absence covers
// whole days. If only one time is given, the absence begins at the start of the first day or ends at the end of the
// last day.
func parseAbsence(timeOffForm view.TimeOffForm) (offer.Absence, error) {
	from, fromProblem := timespan.ParseDate(timeOffForm.From)
	to, toProblem := timespan.ParseDate(timeOffForm.To)
	away := offer.Absence{
		From: timespan.LocalDateTime{Date: from}, To: timespan.LocalDateTime{Date: to},
		WholeDays: timeOffForm.FromTime == "" && timeOffForm.ToTime == "",
	}
	if problem := cmp.Or(fromProblem, toProblem); problem != nil || away.WholeDays {
		return away, problem
	}
	away.From.Time, fromProblem = timespan.ParseTimeOfDay(cmp.Or(timeOffForm.FromTime, "00:00"))
	away.To.Time, toProblem = timespan.ParseTimeOfDay(cmp.Or(timeOffForm.ToTime, "24:00"))
	return away, cmp.Or(fromProblem, toProblem)
}
