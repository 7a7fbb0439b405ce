package pages

import (
	"cmp"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
)

// mountWhyNot adds the route of the page that explains why a time cannot be booked.
func (p *Pages) mountWhyNot(business *authorize.Router) {
	business.Get("/why-not", access.Serve, p.showStartForm)
}

// showStartForm shows a form for the start of a booking. If the URL has a start, the page also explains why this start
// cannot be booked.
func (p *Pages) showStartForm(c *fiber.Ctx) error {
	page, err := p.newPage(c, view.PlaceCalendar)
	if err != nil {
		return err
	}
	w := view.StartForm{
		Service: c.Query("service"), Date: cmp.Or(c.Query("date"), page.Business.Today(page.Now).String()),
		Time: c.Query("time"), Staff: c.Query("staff"),
	}
	if w.Service == "" || w.Time == "" {
		return p.render(c, fiber.StatusOK, page, view.AskStart(page, w))
	}
	start, err := parseStart(w)
	if err == nil {
		w.Answer, err = p.rooms.Sales.ExplainStart(c.UserContext(), authorize.Principal(c), page.Business, start)
	}
	if err == nil {
		w.About = page.Business.Service(start.ServiceIDs[0])
		return p.render(c, fiber.StatusOK, page, view.AskStart(page, w))
	}
	status, ok := prepareRefusedForm(page, err, &w.FieldErrors)
	if !ok {
		return err
	}
	return p.render(c, status, page, view.AskStart(page, w))
}

// parseStart parses the inputs for the start of a booking: the service, the date, the time and the member. Fault:
// invalid_parameter; its message begins with the name of the parameter in the API of the booking service.
func parseStart(w view.StartForm) (availability.Question, error) {
	var q availability.Question
	service, _, varied := strings.Cut(w.Service, ":")
	id, err := request.ID("service_ids", service)
	if err != nil {
		return q, err
	}
	q.ServiceIDs = []uuid.UUID{id}
	if varied {
		if q.Variants, err = catalog.ParseVariants([]string{w.Service}); err != nil {
			return q, err
		}
	}
	if q.Date, err = request.Date("date", w.Date); err != nil {
		return q, err
	}
	if q.Time, err = request.Time("time", w.Time); err != nil || w.Staff == "" {
		return q, err
	}
	staff, err := request.ID("staff_id", w.Staff)
	q.StaffID = &staff
	return q, err
}
