package pages

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
)

// dropBooking handles a booking that the person dragged to another place in the calendar. It reschedules the booking
// and redirects to the calendar. The new time may violate the minimum notice, the advance limit and the time grid,
// because these three rules bind only customers.
//
// The calendar then shows the new time with an undo button, or the reason for the refusal. If another person has
// changed the booking since the calendar was shown, dropBooking does not reschedule it.
func (p *Pages) dropBooking(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	page, b, err := p.findBooking(c)
	if err != nil {
		return err
	}
	slug, back := page.Business.Slug, form.Get("back")
	if view.FormatSeen(*b) != form.Get("seen") {
		return redirectBack(c, slug, back, "wrong", "changed")
	}
	to := booking.Reschedule{Date: form.Get("date"), Time: form.Get("time"), Override: form.Get("undone") == "yes"}
	if staff := form.Get("staff"); staff != "" && b.StaffID != nil {
		to.StaffID = &staff
	}
	moved, err := p.rooms.Sales.Reschedule(withNotification(c, form), authorize.Principal(c), slug, b.ID, to)
	if fault.Is(err, fault.InvalidParameter) {
		return redirectBack(c, slug, back, "wrong", "taken")
	}
	if sentence := faultTexts[fault.KindOf(err)]; err != nil && sentence != "" {
		return redirectBack(c, slug, back, "wrong", sentence)
	}
	if err != nil {
		return err
	}
	if form.Get("undone") == "yes" {
		return redirectBack(c, slug, back, "done", "undone")
	}
	return redirectBack(c, slug, addUndo(back, b, moved, isSilent(form)), "done", chooseNotice("moved", moved))
}

// addUndo adds the query parameters of an undo button to the URL `back`. The parameters are the time and the member of
// the booking before and after the reschedule, and whether the customer was not notified.
func addUndo(back string, before, after *booking.Booking, silent bool) string {
	path, query, _ := strings.Cut(back, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return back
	}
	values.Set("undo", before.ID.String()+" "+view.FormatSeen(*before))
	values.Set("seen", view.FormatSeen(*after))
	if silent {
		values.Set("silent", "yes")
	}
	return path + "?" + values.Encode()
}

// readUndo reads the query parameters that [addUndo] wrote into the URL. A forged URL does no harm, because the request
// of the undo button checks the state of the booking and the permissions of the person.
func readUndo(c *fiber.Ctx) *view.Undo {
	was := strings.Split(c.Query("undo"), " ")
	if len(was) != len([]string{"id", "date", "time", "staff"}) || len(was[2]) < len("15:04") ||
		!slices.Contains([]string{"moved", "moved_warned"}, c.Query("done")) {
		return nil
	}
	back := readQuery(c)
	back.Del("undo")
	back.Del("seen")
	back.Del("silent")
	return &view.Undo{Booking: was[0], Date: was[1], Time: was[2][:len("15:04")], Staff: was[3],
		SeenState: c.Query("seen"),
		IsSilent:  c.Query("silent") == "yes", Back: "calendar?" + back.Encode()}
}

// describeMove returns the notice about the reschedule that `undo` undoes, with the new time. It names the new member if
// the reschedule has changed the member. The new time and member are in the URL, in the form of [view.FormatSeen].
func describeMove(page *view.Page, undo *view.Undo) string {
	is := strings.Split(undo.SeenState, " ")
	if len(is) != len([]string{"date", "time", "staff"}) {
		return page.Notice
	}
	at, err := time.Parse(time.DateTime, is[0]+" "+is[1])
	if err != nil {
		return page.Notice
	}
	when := page.Words.Clock(at)
	if is[0] != undo.Date {
		when = page.Words.ShortDate(at) + " · " + when
	}
	id, err := uuid.Parse(is[2])
	if member := page.Business.StaffMember(id); err == nil && member != nil && is[2] != undo.Staff {
		return page.Words.Fill("moved_to_with", map[string]string{"When": when, "Member": member.Name})
	}
	return page.Words.With("moved_to", "When", when)
}
