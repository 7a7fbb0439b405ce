package pages

import (
	"cmp"
	"crypto/rand"
	"net/url"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/offer"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
	"github.com/slotmesh/slotmesh/services/console/internal/sales"
)

// mountAffected adds the routes of the page about bookings that the present offer no longer accepts.
func (p *Pages) mountAffected(business *authorize.Router) {
	business.Get("/affected", access.SeeBookings, p.showAffected)
	business.Post("/affected", access.Serve, p.resolveAffected)
}

// affectedPageSize is the number of affected bookings on one page.
const affectedPageSize = 20

// loadAffected reads one page of the affected bookings. The query parameters of the request filter the bookings. The
// parameter `all` presets the action for all bookings of the page.
func (p *Pages) loadAffected(c *fiber.Ctx, page *view.Page) (view.Affected, error) {
	a := view.Affected{Query: readQuery(c), All: c.Query("all"), Key: rand.Text(),
		Refund: string(booking.RefundFull)}
	a.Query.Del("lang")
	a.Query.Del("all")
	filter, err := offer.ReadAffectedFilter(func(name string) []string { return a.Query[name] })
	if err != nil {
		return a, err
	}
	a.Filter = filter
	a.AffectedList, err = p.rooms.Offer.ListAffected(c.UserContext(), authorize.Principal(c), page.Business.Slug,
		filter, request.Page{Limit: affectedPageSize, Cursor: a.Query.Get("cursor")})
	return a, err
}

func (p *Pages) showAffected(c *fiber.Ctx) error {
	page, err := p.newPage(c, view.PlaceBookings)
	if err != nil {
		return err
	}
	a, err := p.loadAffected(c, page)
	if err != nil {
		return err
	}
	return p.render(c, fiber.StatusOK, page, view.ShowAffected(page, a))
}

// resolveAffected moves and cancels the bookings as the person has chosen. If some of the bookings cannot be changed,
// the page shows the reason at each of them; the others are changed.
func (p *Pages) resolveAffected(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	page, err := p.newPage(c, view.PlaceBookings)
	if err != nil {
		return err
	}
	wanted, err := parseResolutions(form)
	if err != nil {
		return err
	}
	refund := booking.RefundPolicy
	if page.May(access.Refund) {
		refund = booking.RefundAmount(cmp.Or(form.Get("refund"), string(booking.RefundFull)))
	}
	if !refund.Word() {
		return fault.New(fault.InvalidParameter, "refund: choose one of those that the form offers.")
	}
	failures, err := p.rooms.Offer.ResolveAffected(withNotification(c, form), authorize.Principal(c),
		page.Business.Slug, wanted, booking.Cancel{Refund: refund}, form.Get("key"))
	if err != nil {
		return err
	}
	if len(wanted) > 0 && len(failures) == 0 {
		query := readQuery(c)
		query.Del("all")
		query.Del("cursor")
		return redirectBack(c, page.Business.Slug, "affected?"+query.Encode(), "done", "affected")
	}
	a, err := p.loadAffected(c, page)
	if err != nil {
		return err
	}
	a.All, a.Chosen, a.Refund, a.Failures = "", form, string(refund), map[uuid.UUID]string{}
	for id, failure := range failures {
		a.Failures[id] = page.Words.Say(cmp.Or(faultTexts[fault.KindOf(failure)], "fault_later"))
	}
	page.ErrorText = page.Words.Say("affected_choose")
	status := fiber.StatusUnprocessableEntity
	if len(failures) > 0 {
		page.ErrorText, status = page.Words.Say("affected_failed"), fiber.StatusConflict
	}
	return p.render(c, status, page, view.ShowAffected(page, a))
}

// parseResolutions reads the chosen actions from a form. An input has the value "" if the booking stays as it is. Fault:
// invalid_parameter for an input that the page does not have.
func parseResolutions(form url.Values) ([]offer.Resolution, error) {
	var wanted []offer.Resolution
	for name := range form {
		text, isAction := strings.CutPrefix(name, view.AffectedInput)
		action := form.Get(name)
		if !isAction || action == "" {
			continue
		}
		id, err := request.ID("booking", text)
		if err != nil {
			return nil, err
		}
		r := offer.Resolution{ID: id, IsCancel: action == view.AffectedCancel}
		if !r.IsCancel && action != view.AffectedMove {
			if r.Start, err = parseFreeStart(action); err != nil {
				return nil, err
			}
		}
		wanted = append(wanted, r)
	}
	slices.SortFunc(wanted, func(a, b offer.Resolution) int { return slices.Compare(a.ID[:], b.ID[:]) })
	return wanted, nil
}

// parseFreeStart reads a start in the form that [view.FormatStart] writes. Fault: invalid_parameter.
func parseFreeStart(text string) (*sales.Start, error) {
	parts := strings.Split(text, " ")
	if len(parts) != len([]string{"date", "time", "staff", "session"}) {
		return nil, request.Invalid("action: choose one of those that the form offers.")
	}
	date, dateProblem := timespan.ParseDate(parts[0])
	at, timeProblem := timespan.ParseTimeOfDay(parts[1])
	staff, staffProblem := parseOptionalID(parts[2])
	session, sessionProblem := parseOptionalID(parts[3])
	if cmp.Or(dateProblem, timeProblem, staffProblem, sessionProblem) != nil {
		return nil, request.Invalid("action: choose one of those that the form offers.")
	}
	return &sales.Start{Date: date, Time: at, StaffID: staff, SessionID: session}, nil
}

// parseOptionalID parses an id. It returns nil for "-".
func parseOptionalID(text string) (*uuid.UUID, error) {
	if text == "-" {
		return nil, nil
	}
	id, err := uuid.Parse(text)
	return &id, err
}
